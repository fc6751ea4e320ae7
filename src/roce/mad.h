/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What makes a UD packet a MAD for QP1: shared by its sender (mad.c) and receiver (lane_rx.c).
 */
#ifndef ROCE_MAD_H
#define ROCE_MAD_H

#define ROCE_QP1      1
#define ROCE_QP1_QKEY 0x80010000u /* IBTA 3.5.3: the well-known Q_Key of QP1 */

#endif
