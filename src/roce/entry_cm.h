/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entry_cm.h - how the rdma_* entry points hand a call on. For entry_cm*.c only.
 */
#ifndef ROCE_ENTRY_CM_H
#define ROCE_ENTRY_CM_H

#include <errno.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#include "roce/next.h"

/*
 * The answer of librdmacm's function of this name, for those that return int: -1 with ENOSYS where
 * there is no librdmacm. An expression, since some have work left to do afterwards.
 */
#define CM_FORWARD(fn, ...) (ROCE_NEXT(fn) ? ROCE_NEXT(fn)(__VA_ARGS__) : (errno = ENOSYS, -1))

#endif /* ROCE_ENTRY_CM_H */
