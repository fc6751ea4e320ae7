/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Error text: formatting only.
 */
#include "nvme/err.h"

#include <stdarg.h>
#include <stdio.h>

int nv_err(struct nv_err *err, int rc, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return rc;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return rc;
}
