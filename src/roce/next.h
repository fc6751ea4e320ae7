/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an entry point needs: the export mark, and the system's own definition of a function that
 * libsoftroce exports too, for objects that are not ours. It is resolved at first use, so a machine
 * without rdma-core works as long as nobody needs it.
 */
#ifndef ROCE_NEXT_H
#define ROCE_NEXT_H

#include <errno.h>
#include <stdatomic.h>

#define ROCE_EXPORT __attribute__((visibility("default")))

/* The next definition of name after ours, or NULL. *slot caches it. */
void *roce_next_symbol(_Atomic(void *) *slot, const char *name);

/*
 * ROCE_NEXT(ibv_open_device) is a pointer to the next ibv_open_device, NULL when there is none.
 * Names that <infiniband/verbs.h> has as macros too must be #undef'ed by the file.
 */
#define ROCE_NEXT(fn)                                           \
	({                                                      \
		static _Atomic(void *) slot_;                   \
		(__typeof__(&fn))roce_next_symbol(&slot_, #fn); \
	})

/* Returns from the calling function with the system's answer; missing: when there is no system. */
#define ROCE_FORWARD(fn, missing, ...)                 \
	do {                                           \
		__typeof__(&fn) next_ = ROCE_NEXT(fn); \
                                                       \
		if (next_)                             \
			return next_(__VA_ARGS__);     \
		errno = ENOSYS;                        \
		return missing;                        \
	} while (0)

#endif
