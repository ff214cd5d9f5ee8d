/* SPDX-License-Identifier: MIT */
/*
 * loaded.c - keep the library loaded
 *
 * As in os/linux/loaded.c. There the loader says whether it is the program that holds this code; here
 * the program is opened once more, which changes nothing.
 */
#include "os/os.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "base/atomic.h"

void fib_os_stay_loaded(void)
{
	static _Atomic int asked;
	Dl_info info;

	if (fib_swap(&asked, 1) || !dladdr(&asked, &info) || !info.dli_fname)
		return;
	dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

void fib_os_place_name(uint64_t address, char *text, size_t size)
{
	const char *file;
	Dl_info info;

	if (!dladdr((void *)(uintptr_t)address, &info) || !info.dli_fname) {
		snprintf(text, size, "0x%llx", (unsigned long long)address);
		return;
	}
	file = strrchr(info.dli_fname, '/');
	snprintf(text, size, "0x%llx (%.79s+0x%llx)", (unsigned long long)address,
		 file ? file + 1 : info.dli_fname,
		 (unsigned long long)(address - (uint64_t)(uintptr_t)info.dli_fbase));
}
