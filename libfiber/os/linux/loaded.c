/* SPDX-License-Identifier: MIT */
/*
 * loaded.c - code that others may enter at any time must stay where it is
 *
 * A program may dlopen() a library that has us inside, or us, and dlclose() it again. But the system keeps
 * addresses of ours for longer than any runtime: the handler for memory faults, what fork(2) calls, and the
 * offload threads, which rest for a while before they end. So before the first such thing the object that we are
 * part of is marked as one that is never unloaded. dlclose() then does all it does but unmap it, and a later dlopen()
 * finds it as it was.
 *
 * The loader is asked only where there is one: in a static program these names are not defined, and asking by
 * weak reference does not pull them in.
 */
#include "os/os.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "base/atomic.h"

#pragma weak dladdr
#pragma weak dladdr1
#pragma weak dlopen

void fib_os_stay_loaded(void)
{
	static _Atomic int asked;
	struct link_map *object = NULL;
	Dl_info info;

	if (!dladdr1 || !dlopen || fib_swap(&asked, 1))
		return;
	if (!dladdr1(&asked, &info, (void **)&object, RTLD_DL_LINKMAP))
		return;
	/* The program itself has no name here, and is never unloaded. */
	if (object && object->l_name[0])
		dlopen(object->l_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

void fib_os_place_name(uint64_t address, char *text, size_t size)
{
	const char *file;
	Dl_info info;

	if (!dladdr || !dladdr((void *)(uintptr_t)address, &info) || !info.dli_fname) {
		snprintf(text, size, "0x%llx", (unsigned long long)address);
		return;
	}
	file = strrchr(info.dli_fname, '/');
	snprintf(text, size, "0x%llx (%.79s+0x%llx)", (unsigned long long)address,
		 file ? file + 1 : info.dli_fname,
		 (unsigned long long)(address - (uint64_t)(uintptr_t)info.dli_fbase));
}
