/* SPDX-License-Identifier: MIT */
/*
 * type_name.c - the names of types; chains of types are followed to a limit, since a damaged file
 * may have cycles
 */
#include "inspect/values/type_name.h"

#include <dwarf.h>
#include <stdint.h>

#define CHAIN 24

bool ins_type_of(Dwarf_Die *die, Dwarf_Die *ret)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, DW_AT_type, &attr) && dwarf_formref_die(&attr, ret);
}

static bool is_cloak(int tag)
{
	return tag == DW_TAG_const_type || tag == DW_TAG_volatile_type || tag == DW_TAG_typedef ||
	       tag == DW_TAG_restrict_type || tag == DW_TAG_atomic_type ||
	       tag == DW_TAG_immutable_type;
}

bool ins_type_strip(Dwarf_Die *type, Dwarf_Die *ret)
{
	unsigned i;

	*ret = *type;
	for (i = 0; i < CHAIN; i++) {
		Dwarf_Die next;

		if (!is_cloak(dwarf_tag(ret)))
			return true;
		if (!ins_type_of(ret, &next))
			return false;
		*ret = next;
	}
	return false;
}

long ins_type_elements(Dwarf_Die *array)
{
	Dwarf_Attribute attr;
	Dwarf_Die range, second;
	Dwarf_Word n;

	if (dwarf_child(array, &range) != 0 || dwarf_tag(&range) != DW_TAG_subrange_type)
		return -1;
	if (dwarf_siblingof(&range, &second) == 0 && dwarf_tag(&second) == DW_TAG_subrange_type)
		return -1;
	if (dwarf_attr(&range, DW_AT_count, &attr) && dwarf_formudata(&attr, &n) == 0)
		return n <= INT32_MAX ? (long)n : -1;
	if (dwarf_attr(&range, DW_AT_upper_bound, &attr) && dwarf_formudata(&attr, &n) == 0)
		return n < INT32_MAX ? (long)n + 1 : -1;
	return -1;
}

static void put(Dwarf_Die *type, struct ins_strbuf *line, unsigned depth);

static void put_behind(Dwarf_Die *type, struct ins_strbuf *line, unsigned depth)
{
	Dwarf_Die next;

	put(ins_type_of(type, &next) ? &next : NULL, line, depth + 1);
}

static void put_named(Dwarf_Die *type, const char *kind, struct ins_strbuf *line)
{
	const char *name = dwarf_diename(type);

	ins_strbuf_text(line, kind);
	/* Never empty: the code that writes a pointer looks at the character before it. */
	ins_strbuf_escaped(line, name && *name ? name : "{...}");
}

static void put_array(Dwarf_Die *type, struct ins_strbuf *line, unsigned depth)
{
	long n = ins_type_elements(type);

	put_behind(type, line, depth);
	ins_strbuf_text(line, " [");
	if (n >= 0)
		ins_strbuf_number(line, (uint64_t)n);
	ins_strbuf_text(line, "]");
}

static void put_pointer(Dwarf_Die *type, const char *sign, struct ins_strbuf *line, unsigned depth)
{
	Dwarf_Die to;

	if (ins_type_of(type, &to) && dwarf_tag(&to) == DW_TAG_subroutine_type) {
		put_behind(&to, line, depth);
		ins_strbuf_text(line, " (*)()");
		return;
	}
	put_behind(type, line, depth);
	if (line->at[-1] != '*')
		ins_strbuf_char(line, ' ');
	ins_strbuf_text(line, sign);
}

/*
 * The qualifier comes before its type, but behind a pointer. For an array, its elements repeat the
 * qualifier.
 */
static void put_qualified(Dwarf_Die *type, const char *word, struct ins_strbuf *line,
			  unsigned depth)
{
	Dwarf_Die next;
	int tag = ins_type_of(type, &next) ? dwarf_tag(&next) : 0;

	if (tag == DW_TAG_pointer_type) {
		put_behind(type, line, depth);
		ins_strbuf_text(line, word);
		return;
	}
	if (tag != DW_TAG_array_type) {
		ins_strbuf_text(line, word);
		ins_strbuf_char(line, ' ');
	}
	put_behind(type, line, depth);
}

static void put(Dwarf_Die *type, struct ins_strbuf *line, unsigned depth)
{
	if (!type) {
		ins_strbuf_text(line, "void");
		return;
	}
	if (depth > CHAIN) {
		ins_strbuf_text(line, "...");
		return;
	}
	switch (dwarf_tag(type)) {
	case DW_TAG_const_type:
		put_qualified(type, "const", line, depth);
		break;
	case DW_TAG_volatile_type:
		put_qualified(type, "volatile", line, depth);
		break;
	case DW_TAG_restrict_type:
	case DW_TAG_atomic_type:
		put_behind(type, line, depth);
		break;
	case DW_TAG_pointer_type:
		put_pointer(type, "*", line, depth);
		break;
	case DW_TAG_reference_type:
		put_pointer(type, "&", line, depth);
		break;
	case DW_TAG_rvalue_reference_type:
		put_pointer(type, "&&", line, depth);
		break;
	case DW_TAG_array_type:
		put_array(type, line, depth);
		break;
	case DW_TAG_structure_type:
		put_named(type, "struct ", line);
		break;
	case DW_TAG_union_type:
		put_named(type, "union ", line);
		break;
	case DW_TAG_enumeration_type:
		put_named(type, "enum ", line);
		break;
	case DW_TAG_subroutine_type:
		put_behind(type, line, depth);
		ins_strbuf_text(line, " ()");
		break;
	default:
		put_named(type, "", line);
	}
}

void ins_type_name(Dwarf_Die *type, struct ins_strbuf *line)
{
	put(type, line, 0);
}
