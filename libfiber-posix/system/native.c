/* SPDX-License-Identifier: MIT */
/*
 * native.c - the C library's own definitions of the calls in native.h
 *
 * Constructors of other libraries may lock before this library is initialised, so the first call of
 * each asks the loader. In a static program this library does not take the names, and the name is the
 * C library's.
 */
#include "system/native.h"

#include "system/find.h"

#define EARLY(result, name, parameters, arguments)      \
	static result early_##name parameters           \
	{                                               \
		if (!fpx_find(#name, &fpx_native.name)) \
			return name arguments;          \
		return fpx_native.name arguments;       \
	}

#define EARLY_VOID(result, name, parameters, arguments) \
	static result early_##name parameters           \
	{                                               \
		if (!fpx_find(#name, &fpx_native.name)) \
			name arguments;                 \
		else                                    \
			fpx_native.name arguments;      \
	}

/* NOLINTNEXTLINE(cert-env33-c): the program calls system(3) and popen(3) */
FPX_NATIVE_CALLS(EARLY)
FPX_NATIVE_VOIDS(EARLY_VOID)

#define FIRST(result, name, parameters, arguments) .name = early_##name,

struct fpx_native fpx_native = {FPX_NATIVE_CALLS(FIRST) FPX_NATIVE_VOIDS(FIRST)};

#define FIND(result, name, parameters, arguments) fpx_find(#name, &fpx_native.name);

void fpx_find_native(void)
{
	FPX_NATIVE_CALLS(FIND)
	FPX_NATIVE_VOIDS(FIND)
}
