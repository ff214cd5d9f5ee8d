/* SPDX-License-Identifier: MIT */
/* place.c - ask libdw for the place of an address */
#include "report/place.h"

#include <dlfcn.h>
#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <elfutils/libdwfl.h>

#include "report/demangle.h"

static Dwfl *dwfl;
static unsigned seeking; /* calls of this file that run */

bool fib_place_is_sought(void)
{
	return seeking != 0;
}

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

/* clang writes no .debug_aranges, without which libdw finds no unit by address, or one before it. */
static Dwarf_Die *unit_of(Dwfl_Module *module, Dwarf_Addr pc, Dwarf_Addr *ret_bias)
{
	Dwarf_Die *unit = dwfl_module_addrdie(module, pc, ret_bias);

	if (unit && dwarf_haspc(unit, pc - *ret_bias) > 0)
		return unit;
	unit = NULL;
	while ((unit = dwfl_module_nextcu(module, unit, ret_bias)))
		if (dwarf_haspc(unit, pc - *ret_bias) > 0)
			return unit;
	return NULL;
}

static const char *file_and_line(Dwarf_Die *unit, Dwarf_Addr address, int *ret_line)
{
	Dwarf_Line *line = unit ? dwarf_getsrc_die(unit, address) : NULL;

	if (!line || dwarf_lineno(line, ret_line) != 0)
		return NULL;
	return dwarf_linesrc(line, NULL, NULL);
}

static const char *name_of(Dwarf_Die *function)
{
	Dwarf_Attribute linkage;
	const char *name = NULL;

	if (dwarf_attr_integrate(function, DW_AT_linkage_name, &linkage))
		name = dwarf_formstring(&linkage);
	return name ? name : dwarf_diename(function);
}

/*
 * The function of the source, also where the compiler has inlined it: compilers differ in that. symbol:
 * where the code is. Without a linkage name only a mangled symbol says where a function is declared.
 */
static const char *function_of(Dwarf_Die *unit, Dwarf_Addr address, const char *symbol)
{
	const bool mangled = symbol && strncmp(symbol, "_Z", 2) == 0;
	const char *name = NULL;
	Dwarf_Die *scopes = NULL;
	const int n = unit ? dwarf_getscopes(unit, address, &scopes) : 0;
	int i;

	for (i = 0; i < n && !name; i++) {
		const int tag = dwarf_tag(&scopes[i]);

		if (tag == DW_TAG_subprogram && mangled)
			name = symbol;
		else if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine)
			name = name_of(&scopes[i]);
	}
	free(scopes);
	return name ? name : symbol;
}

static void find_place(const void *at, struct fib_place *ret)
{
	const Dwarf_Addr pc = (Dwarf_Addr)(uintptr_t)at - 1;
	const char *file;
	Dwfl_Module *module;
	Dwarf_Addr bias = 0;
	Dwarf_Die *unit;

	*ret = (struct fib_place){NULL, NULL, NULL, 0};
	if (!self())
		return;
	module = dwfl_addrmodule(dwfl, pc);
	if (!module)
		return;
	unit = unit_of(module, pc, &bias);
	ret->function =
		fib_demangled(function_of(unit, pc - bias, dwfl_module_addrname(module, pc)));
	file = file_and_line(unit, pc - bias, &ret->line);
	if (file) {
		ret->path = file;
		ret->file = last_part(file);
	}
}

void fib_place_of(const void *at, struct fib_place *ret)
{
	seeking++;
	find_place(at, ret);
	seeking--;
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

static const char *find_variable(const void *at, size_t *ret_offset)
{
	const Dwarf_Addr address = (Dwarf_Addr)(uintptr_t)at;
	Dwfl_Module *module;
	const char *name;
	GElf_Off offset;
	GElf_Sym symbol;
	Dl_info object;

	/* By its beginning: for libdwfl an object ends with its file, before most of its zeroes. */
	if (!self() || !dladdr(at, &object))
		return NULL;
	module = dwfl_addrmodule(dwfl, (Dwarf_Addr)(uintptr_t)object.dli_fbase);
	if (!module)
		return NULL;
	name = dwfl_module_addrinfo(module, address, &offset, &symbol, NULL, NULL, NULL);
	if (!name || GELF_ST_TYPE(symbol.st_info) != STT_OBJECT || offset >= symbol.st_size)
		return NULL;
	*ret_offset = offset;
	return fib_demangled(name);
}

const char *fib_place_variable(const void *at, size_t *ret_offset)
{
	const char *name;

	seeking++;
	name = find_variable(at, ret_offset);
	seeking--;
	return name;
}
