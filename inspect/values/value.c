/* SPDX-License-Identifier: MIT */
/*
 * value.c - format bytes of a type as text
 *
 * A value with missing bytes is unavailable; the remaining bytes are not used. A value inside
 * another one is shown if it is a number or an address; deeper values are "{...}".
 */
#include "inspect/values/value.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "inspect/elf/debug.h"
#include "inspect/text/number.h"
#include "inspect/text/escape.h"
#include "inspect/values/unwound.h"
#include "inspect/values/type_name.h"

#define ELEMENTS 16
#define MEMBERS	 32
#define ENTRIES	 4096 /* entries of an enumeration that are read */
#define TEXT	 80   /* characters of a string */

static const char gone[] = "<optimized out>";

static bool put_part(const struct ins_value *v, Dwarf_Die *type, size_t at, unsigned depth,
		     struct ins_strbuf *line);

size_t ins_value_size(Dwarf_Die *type)
{
	Dwarf_Word size = 0;
	Dwarf_Die bare;

	if (!ins_type_strip(type, &bare) || dwarf_aggregate_size(&bare, &size) != 0)
		return 0;
	return size;
}

static bool refuse(struct ins_strbuf *line, const char *why)
{
	ins_strbuf_text(line, why);
	return false;
}

static bool take(const struct ins_value *v, size_t at, size_t size, void *buf)
{
	size_t i;

	if (at > v->size || size > v->size - at)
		return false;
	for (i = 0; i < size; i++)
		if (!v->known[at + i])
			return false;
	memcpy(buf, v->bytes + at, size);
	return true;
}

/* Write text between quotes. A string ends with its NUL or is truncated. */
static void put_text(struct ins_strbuf *line, const char *text, size_t n, bool cut)
{
	char some[TEXT + 1], plain[4 * sizeof some];

	n = strnlen(text, n < TEXT ? n : TEXT);
	memcpy(some, text, n);
	some[n] = 0;
	ins_strbuf_char(line, '"');
	ins_strbuf_text(line, ins_escape_quoted(some, plain, sizeof plain));
	ins_strbuf_text(line, cut ? "\"..." : "\"");
}

static bool encoding_of(Dwarf_Die *type, Dwarf_Word *ret)
{
	Dwarf_Attribute attr;

	return dwarf_attr(type, DW_AT_encoding, &attr) && dwarf_formudata(&attr, ret) == 0;
}

/* Read an integer of up to eight bytes. bits: of a bit field, else 0. */
static bool number_of(const struct ins_value *v, size_t at, size_t size, bool is_signed,
		      uint64_t *ret)
{
	*ret = 0;
	if (size > sizeof *ret || !size || !take(v, at, size, ret))
		return false;
	if (is_signed && size < 8 && *ret >> (size * 8 - 1))
		*ret |= ~UINT64_C(0) << size * 8;
	return true;
}

static bool put_base(const struct ins_value *v, Dwarf_Die *type, size_t at, struct ins_strbuf *line)
{
	int size = dwarf_bytesize(type);
	unsigned char bytes[16];
	Dwarf_Word encoding;
	uint64_t number;

	if (!encoding_of(type, &encoding) || size < 1)
		return refuse(line, "<cannot be shown: its type is damaged>");
	if (size > 16)
		return refuse(line, "<cannot be shown: a number of more than 16 bytes>");
	if (!take(v, at, (size_t)size, bytes))
		return refuse(line, gone);
	if (encoding == DW_ATE_float)
		return ins_number_float(line, bytes, (size_t)size);
	if (encoding == DW_ATE_complex_float)
		return refuse(line, "<cannot be shown: a complex number>");
	if (size == 16) {
		char text[40];
		uint64_t half[2];

		memcpy(half, bytes, sizeof half);
		snprintf(text, sizeof text, "0x%016" PRIx64 "%016" PRIx64, half[1], half[0]);
		ins_strbuf_text(line, text);
		return true;
	}
	if (!number_of(v, at, (size_t)size,
		       encoding == DW_ATE_signed || encoding == DW_ATE_signed_char, &number))
		return refuse(line, "<cannot be shown: a number of an unknown size>");
	ins_number_put(line, encoding, number);
	return true;
}

static bool put_enum(const struct ins_value *v, Dwarf_Die *type, size_t at, struct ins_strbuf *line)
{
	int size = dwarf_bytesize(type);
	unsigned left = ENTRIES;
	uint64_t number;
	Dwarf_Die entry;

	if (size < 1 || !number_of(v, at, (size_t)size, true, &number))
		return refuse(line, gone);
	if (dwarf_child(type, &entry) == 0) {
		do {
			Dwarf_Attribute attr;
			Dwarf_Sword value;
			const char *name = dwarf_diename(&entry);

			if (name && dwarf_attr(&entry, DW_AT_const_value, &attr) &&
			    dwarf_formsdata(&attr, &value) == 0 &&
			    ((uint64_t)value ^ number) << (64 - 8 * size) == 0) {
				ins_strbuf_escaped(line, name);
				return true;
			}
		} while (--left && dwarf_siblingof(&entry, &entry) == 0);
	}
	ins_number_put(line, DW_ATE_signed, number);
	return true;
}

/* Read a string byte by byte: it may end right before unreadable memory. */
static void put_string(const struct ins_value *v, uint64_t address, struct ins_strbuf *line)
{
	char text[TEXT];
	size_t n;

	for (n = 0; n < TEXT; n++) {
		if (ins_scene_memory(v->source, v->fiber, address + n, &text[n], 1) < 0)
			break;
		if (!text[n]) {
			put_text(line, text, n, false);
			return;
		}
	}
	if (n)
		put_text(line, text, n, true);
}

static bool is_char(Dwarf_Die *type)
{
	Dwarf_Word encoding;
	Dwarf_Die bare;

	return ins_type_strip(type, &bare) && dwarf_tag(&bare) == DW_TAG_base_type &&
	       dwarf_bytesize(&bare) == 1 && encoding_of(&bare, &encoding) &&
	       (encoding == DW_ATE_signed_char || encoding == DW_ATE_unsigned_char);
}

static void put_symbol(const struct ins_value *v, uint64_t address, struct ins_strbuf *line)
{
	struct ins_module *m = ins_modules_find(v->source->modules, address);
	Dwfl_Module *debug = m && m->known ? ins_debug_module(v->source->modules, m) : NULL;
	const char *name;
	GElf_Off offset;
	GElf_Sym sym;

	name = debug ? dwfl_module_addrinfo(debug, address, &offset, &sym, NULL, NULL, NULL) : NULL;
	if (!name)
		return;
	ins_strbuf_text(line, " <");
	ins_strbuf_escaped(line, name);
	if (offset) {
		ins_strbuf_char(line, '+');
		ins_strbuf_number(line, offset);
	}
	ins_strbuf_char(line, '>');
}

static bool put_pointer(const struct ins_value *v, Dwarf_Die *type, size_t at,
			struct ins_strbuf *line)
{
	Dwarf_Die to, bare;
	uint64_t address;

	if (!number_of(v, at, sizeof address, false, &address))
		return refuse(line, gone);
	ins_strbuf_hex(line, address);
	if (!address || !ins_type_of(type, &to) || !ins_type_strip(&to, &bare))
		return true;
	if (dwarf_tag(&bare) == DW_TAG_subroutine_type) {
		put_symbol(v, address, line);
	} else if (is_char(&bare)) {
		char *before = line->at;

		ins_strbuf_char(line, ' ');
		put_string(v, address, line);
		if (line->at == before + 1)
			*(line->at = before) = 0;
	}
	return true;
}

static bool put_array(const struct ins_value *v, Dwarf_Die *type, size_t at, unsigned depth,
		      struct ins_strbuf *line)
{
	long n = ins_type_elements(type), i;
	size_t size, first = at < v->size ? v->size - at : 0;
	Dwarf_Die element;

	if (!ins_type_of(type, &element) || !(size = ins_value_size(&element)) || n < 0)
		return refuse(line, "<cannot be shown: an array of unknown size>");
	if (is_char(&element)) {
		char text[TEXT];
		size_t some = (size_t)n < first ? (size_t)n : first;

		some = some < TEXT ? some : TEXT;
		if (!take(v, at, some, text))
			return refuse(line, gone);
		put_text(line, text, some, some < (size_t)n && strnlen(text, some) == some);
		return true;
	}
	if (depth) {
		ins_strbuf_text(line, "{...}");
		return true;
	}
	ins_strbuf_char(line, '{');
	for (i = 0; i < n && i < ELEMENTS; i++) {
		if (i)
			ins_strbuf_text(line, ", ");
		if ((uint64_t)i * size >= first)
			break;
		put_part(v, &element, at + (size_t)i * size, depth + 1, line);
	}
	ins_strbuf_text(line, i < n ? ", ...}" : "}");
	return true;
}

/* Write a bit-field member. */
static bool put_bits(const struct ins_value *v, Dwarf_Die *member, Dwarf_Die *type, size_t at,
		     Dwarf_Word bits, struct ins_strbuf *line)
{
	Dwarf_Word from, encoding = DW_ATE_unsigned;
	Dwarf_Attribute attr;
	unsigned char bytes[9] = {0};
	uint64_t number = 0;
	Dwarf_Die bare;
	size_t i, size;

	if (!dwarf_attr(member, DW_AT_data_bit_offset, &attr) ||
	    dwarf_formudata(&attr, &from) != 0 || !bits || bits > 64 || from > INS_VALUE_BYTES * 8)
		return refuse(line, "<cannot be shown: a bit field>");
	size = (size_t)(from % 8 + bits + 7) / 8;
	if (!take(v, at + (size_t)from / 8, size, bytes))
		return refuse(line, gone);
	for (i = 0; i < bits; i++)
		number |= (uint64_t)(bytes[(from % 8 + i) / 8] >> (from % 8 + i) % 8 & 1) << i;
	if (ins_type_strip(type, &bare))
		encoding_of(&bare, &encoding);
	if (encoding == DW_ATE_signed && bits < 64 && number >> (bits - 1))
		number |= ~UINT64_C(0) << bits;
	ins_number_put(line, encoding, number);
	return true;
}

static void put_member(const struct ins_value *v, Dwarf_Die *member, size_t at,
		       struct ins_strbuf *line)
{
	const char *name = dwarf_diename(member);
	Dwarf_Attribute attr;
	Dwarf_Word offset = 0, bits;
	Dwarf_Die type;

	if (name) {
		ins_strbuf_escaped(line, name);
		ins_strbuf_text(line, " = ");
	}
	if (!ins_type_of(member, &type) ||
	    (dwarf_attr(member, DW_AT_data_member_location, &attr) &&
	     (dwarf_formudata(&attr, &offset) != 0 || offset > INS_VALUE_BYTES)))
		ins_strbuf_text(line, offset ? "..." : "<cannot be shown: its place is not known>");
	else if (dwarf_attr(member, DW_AT_bit_size, &attr) && dwarf_formudata(&attr, &bits) == 0)
		put_bits(v, member, &type, at, bits, line);
	else
		put_part(v, &type, at + offset, 1, line);
}

static bool put_members(const struct ins_value *v, Dwarf_Die *type, size_t at, unsigned depth,
			struct ins_strbuf *line)
{
	unsigned shown = 0, left = ENTRIES;
	Dwarf_Die member;

	if (depth) {
		ins_strbuf_text(line, "{...}");
		return true;
	}
	ins_strbuf_char(line, '{');
	if (dwarf_child(type, &member) == 0) {
		do {
			if (dwarf_tag(&member) != DW_TAG_member ||
			    dwarf_hasattr(&member, DW_AT_external))
				continue;
			if (shown)
				ins_strbuf_text(line, ", ");
			if (shown++ == MEMBERS || line->at == line->end) {
				ins_strbuf_text(line, "...");
				break;
			}
			put_member(v, &member, at, line);
		} while (--left && dwarf_siblingof(&member, &member) == 0);
	}
	ins_strbuf_char(line, '}');
	return true;
}

static bool put_part(const struct ins_value *v, Dwarf_Die *type, size_t at, unsigned depth,
		     struct ins_strbuf *line)
{
	Dwarf_Die bare;

	if (!ins_type_strip(type, &bare))
		return refuse(line, "<cannot be shown: its type is damaged>");
	switch (dwarf_tag(&bare)) {
	case DW_TAG_base_type:
		return put_base(v, &bare, at, line);
	case DW_TAG_enumeration_type:
		return put_enum(v, &bare, at, line);
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		return put_pointer(v, &bare, at, line);
	case DW_TAG_array_type:
		return put_array(v, &bare, at, depth, line);
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		return put_members(v, &bare, at, depth, line);
	default:
		return refuse(line, "<cannot be shown: a type of an unknown kind>");
	}
}

bool ins_value_put(const struct ins_value *value, Dwarf_Die *type, struct ins_strbuf *line)
{
	return put_part(value, type, 0, 0, line);
}
