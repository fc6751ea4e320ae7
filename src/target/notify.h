/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells the service manager how far the target is: sd_notify(3)'s protocol, one datagram to the
 * socket that NOTIFY_SOCKET names. Without that variable nothing happens.
 */
#ifndef TGT_NOTIFY_H
#define TGT_NOTIFY_H

/**
 * tgt_notify() - @state: "READY=1", "STOPPING=1", "STATUS=text", or several as lines.
 *
 * Return: 0, or a negative errno that nobody has to care about.
 */
int tgt_notify(const char *state);

#endif
