/* SPDX-License-Identifier: MIT */
/* place.c - ask libdw for the place of an address */
#include "report/place.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <elfutils/libdwfl.h>

static Dwfl *dwfl;

/* NULL: libdw cannot read this process. */
static Dwfl *self(void)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_linux_proc_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
	};

	if (dwfl)
		return dwfl;
	dwfl = dwfl_begin(&callbacks);
	if (!dwfl)
		return NULL;
	if (dwfl_linux_proc_report(dwfl, getpid()) != 0 || dwfl_report_end(dwfl, NULL, NULL) != 0) {
		dwfl_end(dwfl);
		dwfl = NULL;
	}
	return dwfl;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void fib_place_of(const void *at, struct fib_place *ret)
{
	const Dwarf_Addr pc = (Dwarf_Addr)(uintptr_t)at - 1;
	Dwfl_Module *module;
	Dwfl_Line *line;
	const char *file;

	*ret = (struct fib_place){NULL, NULL, 0};
	if (!self())
		return;
	module = dwfl_addrmodule(dwfl, pc);
	if (!module)
		return;
	ret->function = dwfl_module_addrname(module, pc);
	line = dwfl_module_getsrc(module, pc);
	file = line ? dwfl_lineinfo(line, NULL, &ret->line, NULL, NULL, NULL) : NULL;
	if (file)
		ret->file = last_part(file);
}

const char *fib_place_text(const void *at, char *buf, size_t size)
{
	struct fib_place place;

	fib_place_of(at, &place);
	if (place.function && place.file)
		snprintf(buf, size, "%s at %s:%d", place.function, place.file, place.line);
	else if (place.function)
		snprintf(buf, size, "%s", place.function);
	else
		snprintf(buf, size, "%p", at);
	return buf;
}
