/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one line that tells an operator why a configuration or a start failed. A function that can
 * fail for a reason worth printing takes a struct tgt_err and fills it; who called decides where
 * the line goes. Errors of peers do not pass here: they are NVMe or CM statuses.
 */
#ifndef TGT_ERR_H
#define TGT_ERR_H

struct tgt_err {
	char text[256];
};

/**
 * tgt_err_set() - store the line (cut to the buffer) and hand back @code.
 * @err:  where to, may be NULL
 * @code: a negative errno, returned as it is so that callers can write `return tgt_err_set(...)`
 */
int tgt_err_set(struct tgt_err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
