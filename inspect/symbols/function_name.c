/* SPDX-License-Identifier: MIT */
/*
 * function_name.c - what a function is called by who wrote it
 *
 * The name that the linker sees holds everything: namespaces, classes, template arguments, parameters. The debug information has it
 * for most functions of C++, and not for those that no other file can see (in an anonymous namespace, for one): there
 * the symbol table has it, if it was left in. Where a function was inlined there is no symbol either, and its name is put
 * together from the scopes that it was written in.
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

/* Where the function was declared first: among what surrounds it there. */
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

/* What a scope adds to the names in it, NULL: nothing. */
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

/* The name after those of the scopes around it. C has no functions in scopes, and is as it was. */
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
