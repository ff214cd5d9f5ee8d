/* SPDX-License-Identifier: MIT */
/*
 * no_fsgsbase.h - a kernel that does not let programs write the base of the segment fs
 *
 * For the one file of a program that has main(). To all of the program, and to shared libraries, this
 * is getauxval(3): it says what Linux before 5.9, or a CPU without the instructions, would.
 */
#ifndef HARNESS_NO_FSGSBASE_H
#define HARNESS_NO_FSGSBASE_H

#include <dlfcn.h>
#include <sys/auxv.h>

#define HARNESS_HWCAP2_FSGSBASE 2ul

unsigned long getauxval(unsigned long type)
{
	unsigned long (*native)(unsigned long);

	*(void **)&native = dlsym(RTLD_NEXT, "getauxval");
	return native(type) & ~(type == AT_HWCAP2 ? HARNESS_HWCAP2_FSGSBASE : 0);
}

#endif
