/* SPDX-License-Identifier: Apache-2.0 */
/* Where the control socket is; see path.h. */
#include "target/rpc/path.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

bool tgt_rpc_default_path(char *path, size_t bytes)
{
	const char *dir = getenv("XDG_RUNTIME_DIR");
	int n;

	if (!geteuid())
		n = snprintf(path, bytes, "%s", TGT_RPC_SYSTEM_PATH);
	else if (dir && dir[0] == '/')
		n = snprintf(path, bytes, "%s/softsta-tgt.sock", dir);
	else
		return false;
	return n > 0 && (size_t)n < bytes;
}
