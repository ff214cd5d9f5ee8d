/* SPDX-License-Identifier: MIT */
/*
 * loaded.c - keep the library loaded
 *
 * A program may dlopen() and dlclose() this library, or one that contains it. But the system keeps
 * addresses of its code longer than any runtime: the handler for memory faults, the fork handlers,
 * and the offload threads, which idle for a while before they exit. So before the first of these is
 * used, the object that contains this code is marked as never unloaded. dlclose() then does
 * everything except unmapping it, and a later dlopen() finds it unchanged.
 *
 * The loader is called only if there is one. A static program does not define these names, and weak
 * references do not pull them in.
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
	/* The program itself has an empty name here, and is never unloaded. */
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
