/* SPDX-License-Identifier: MIT */
/*
 * streams.c - the C library's own definitions of the calls in streams.h
 *
 * Constructors of other libraries may print before this library is initialised, so the first call of
 * each asks the loader. In a static program this library does not take the names, and the name is the
 * C library's.
 */
#include "system/streams.h"

#include "system/find.h"

#define EARLY(result, name, parameters, arguments)       \
	static result early_##name parameters            \
	{                                                \
		if (!fpx_find(#name, &fpx_streams.name)) \
			return name arguments;           \
		return fpx_streams.name arguments;       \
	}

#define EARLY_VOID(result, name, parameters, arguments) \
	static result early_##name parameters           \
	{                                               \
		if (fpx_find(#name, &fpx_streams.name)) \
			fpx_streams.name arguments;     \
		else                                    \
			name arguments;                 \
	}

FPX_STREAM_CALLS(EARLY)
FPX_STREAM_VOIDS(EARLY_VOID)

static int early_old_vfscanf(FILE *stream, const char *format, va_list args)
{
	if (!fpx_find("vfscanf", &fpx_streams.old_vfscanf))
		return fpx_old_vfscanf(stream, format, args);
	return fpx_streams.old_vfscanf(stream, format, args);
}

#define FIRST(result, name, parameters, arguments) .name = early_##name,

struct fpx_streams fpx_streams = {FPX_STREAM_CALLS(FIRST) FPX_STREAM_VOIDS(FIRST).old_vfscanf =
					  early_old_vfscanf};

#define FIND(result, name, parameters, arguments) fpx_find(#name, &fpx_streams.name);

void fpx_find_streams(void)
{
	FPX_STREAM_CALLS(FIND)
	FPX_STREAM_VOIDS(FIND)
	fpx_find("vfscanf", &fpx_streams.old_vfscanf);
}
