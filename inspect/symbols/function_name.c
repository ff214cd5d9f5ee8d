/* SPDX-License-Identifier: MIT */
/*
 * function_name.c - the name of a function as its source has it
 *
 * The linker's name holds everything: namespaces, classes, template arguments, parameters. The
 * debug information has it for most C++ functions, but not for those with internal linkage, such as
 * in an anonymous namespace. For these the symbol table has it, unless the program is stripped. An
 * inlined function has no symbol either: its name is built from the scopes in which it was written.
 */
#include "inspect/symbols/function_name.h"

#include <dwarf.h>
#include <libiberty/demangle.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ORIGINS_MAX 8
#define SCOPES_MAX  16
#define NAME_MAX_   1024

static char *unmangled(const char *name)
{
	return name && name[0] == '_' ? cplus_demangle(name, DMGL_AUTO | DMGL_PARAMS | DMGL_ANSI)
				      : NULL;
}

char *ins_demangled(const char *name)
{
	char *plain = unmangled(name);

	return plain || !name ? plain : strdup(name);
}

static const char *linkage_name(Dwarf_Die *die)
{
	Dwarf_Attribute attr;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attr) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attr))
		return dwarf_formstring(&attr);
	return NULL;
}

/* The first declaration of the function: the scopes around it are the right ones. */
static Dwarf_Die origin_of(const Dwarf_Die *die)
{
	Dwarf_Die at = *die, next;
	Dwarf_Attribute attr;
	int i;

	for (i = 0; i < ORIGINS_MAX; i++) {
		if (!dwarf_attr(&at, DW_AT_abstract_origin, &attr) &&
		    !dwarf_attr(&at, DW_AT_specification, &attr))
			break;
		if (!dwarf_formref_die(&attr, &next))
			break;
		at = next;
	}
	return at;
}

/* The part of a name that a scope adds; NULL: none. */
static const char *scope_name(Dwarf_Die *scope)
{
	const char *name = dwarf_diename(scope);

	switch (dwarf_tag(scope)) {
	case DW_TAG_namespace:
		return name ? name : "(anonymous namespace)";
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		return name ? name : "(unnamed)";
	case DW_TAG_subprogram:
		return name;
	default:
		return NULL;
	}
}

/* The name behind those of its scopes. C has no functions in scopes, so its names are unchanged. */
static char *scoped(Dwarf_Die *die)
{
	const char *own = dwarf_diename(die), *outer[SCOPES_MAX];
	Dwarf_Die origin = origin_of(die), *scopes = NULL;
	int i, n, count = 0;
	char name[NAME_MAX_];
	size_t used = 0;

	if (!own)
		return NULL;
	n = dwarf_getscopes_die(&origin, &scopes);
	for (i = 1; i < n && count < SCOPES_MAX; i++) {
		outer[count] = scope_name(&scopes[i]);
		count += outer[count] != NULL;
	}
	while (count-- && used < sizeof name)
		used += (size_t)snprintf(name + used, sizeof name - used, "%s::", outer[count]);
	if (n > 0)
		free(scopes);
	if (used < sizeof name)
		used += (size_t)snprintf(name + used, sizeof name - used, "%s", own);
	return strdup(used < sizeof name ? name : own);
}

char *ins_function_name(Dwarf_Die *die, const char *symbol)
{
	const char *linkage = linkage_name(die);
	char *plain;

	if (linkage)
		return ins_demangled(linkage);
	plain = unmangled(symbol);
	return plain ? plain : scoped(die);
}
