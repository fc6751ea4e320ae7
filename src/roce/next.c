/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the system's libibverbs and librdmacm behind our own entry points: first the next
 * definition in lookup order, then, for programs that link neither, the library itself.
 */
#include "roce/next.h"

#include <dlfcn.h>
#include <string.h>

#define ROCE_LIBIBVERBS "libibverbs.so.1"
#define ROCE_LIBRDMACM	"librdmacm.so.1"

/*
 * libibverbs carries two versions of some functions. A lookup without a version may give the older
 * one, whose structures have another layout.
 */
#define ROCE_IBVERBS_ABI "IBVERBS_1.1"

static void *find_in(void *handle, const char *name)
{
	void *sym = dlvsym(handle, name, ROCE_IBVERBS_ABI);

	return sym ? sym : dlsym(handle, name);
}

static void *find(const char *name)
{
	void *sym = find_in(RTLD_NEXT, name);
	void *lib;

	if (sym)
		return sym;
	lib = dlopen(strncmp(name, "rdma_", 5) == 0 ? ROCE_LIBRDMACM : ROCE_LIBIBVERBS,
		     RTLD_NOW | RTLD_LOCAL);
	return lib ? find_in(lib, name) : NULL;
}

/* Stands for "looked for and not there" in a slot. */
static char missing;

void *roce_next_symbol(_Atomic(void *) *slot, const char *name)
{
	void *sym = atomic_load_explicit(slot, memory_order_acquire);

	if (!sym) {
		sym = find(name);
		/* Two threads may both look; they find the same. */
		atomic_store_explicit(slot, sym ? sym : &missing, memory_order_release);
	}
	return sym == &missing ? NULL : sym;
}
