/* SPDX-License-Identifier: MIT */
/* find.h - ask the loader for a call of the C library */
#ifndef FPX_SYSTEM_FIND_H
#define FPX_SYSTEM_FIND_H

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#include "system/system.h"

/* Set *call to the definition of the name that comes after this library. Returns whether there is one. */
static inline bool fpx_find(const char *name, void *call)
{
	void *const found = fpx_is_dynamic() ? dlsym(RTLD_NEXT, name) : NULL;

	if (found)
		memcpy(call, &found, sizeof found);
	return found != NULL;
}

#endif
