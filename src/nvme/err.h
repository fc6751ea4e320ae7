/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One line of error text beside a -errno, for the person who typed the path or plugged in the
 * drive.
 */
#ifndef NV_ERR_H
#define NV_ERR_H

#define NV_ERR_MAX 256

struct nv_err {
	char text[NV_ERR_MAX]; /* one line, no newline at its end */
};

/*
 * Set the text and return @rc, so that a failing function ends with
 * "return nv_err(err, -EINVAL, ...)". @err may be NULL.
 */
int nv_err(struct nv_err *err, int rc, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
