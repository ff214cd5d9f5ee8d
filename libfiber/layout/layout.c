/* SPDX-License-Identifier: MIT */
/* layout.c - check a registry that was read from untrusted memory */
#include "layout/layout.h"

#include <string.h>

/* A record is at most a page and a program has at most 2^32 of them: larger values are garbage. */
#define RECORD_MAX 4096u
#define COUNT_MAX  (UINT64_C(1) << 32)

bool fib_layout_has(const struct fib_layout *layout, enum fib_layout_field_id id, size_t size)
{
	return (unsigned)id < layout->field_count && layout->fields[id].size == size;
}

bool fib_layout_has_code(const struct fib_layout *layout)
{
	size_t i;

	for (i = 0; i < FIB_LAYOUT_CODE; i++)
		if (layout->code[i].low < layout->code[i].high)
			return true;
	return false;
}

bool fib_layout_is_internal(const struct fib_layout *layout, uint64_t pc)
{
	size_t i;

	for (i = 0; i < FIB_LAYOUT_CODE; i++)
		if (pc >= layout->code[i].low && pc < layout->code[i].high)
			return true;
	return fib_layout_has_code(layout) && pc >= layout->entry_low && pc < layout->entry_high;
}

static bool terminated(const char *s, size_t size)
{
	return memchr(s, 0, size) != NULL;
}

static bool names_terminated(const struct fib_layout *layout)
{
	size_t i;

	for (i = 0; i < 8; i++)
		if (!terminated(layout->state_names[i], sizeof layout->state_names[i]))
			return false;
	for (i = 0; i < FIB_LAYOUT_WAITS; i++)
		if (!terminated(layout->wait_names[i], sizeof layout->wait_names[i]))
			return false;
	return terminated(layout->program, sizeof layout->program) &&
	       terminated(layout->port, sizeof layout->port);
}

static bool fields_inside(const struct fib_layout *layout)
{
	size_t i;

	for (i = 0; i < FIB_LAYOUT_FIELDS; i++) {
		struct fib_layout_field f = layout->fields[i];

		if ((uint32_t)f.offset + f.size > layout->record_size)
			return false;
	}
	return true;
}

static bool register_inside(const struct fib_layout *layout, struct fib_layout_register r)
{
	switch (r.base) {
	case FIB_BASE_RECORD:
		return r.offset + 8u <= layout->record_size;
	case FIB_BASE_CONTEXT:
		return layout->context.size == 8 &&
		       layout->context.offset + 8u <= layout->record_size &&
		       r.offset + 8u <= FIB_LAYOUT_REACH;
	case FIB_BASE_STACK:
	case FIB_BASE_SP:
		return r.offset + 8u <= FIB_LAYOUT_REACH;
	default:
		return false;
	}
}

/* With other recipes the fields of registers are ignored. */
static bool registers_inside(const struct fib_layout *layout)
{
	uint32_t i;

	if (layout->recipe != FIB_RECIPE_SAVED)
		return true;
	if (layout->register_count > FIB_LAYOUT_REGISTERS)
		return false;
	for (i = 0; i < layout->register_count; i++)
		if (!register_inside(layout, layout->registers[i]))
			return false;
	return true;
}

/* The fields that are needed to identify a fiber and to walk its stack. */
static bool essentials(const struct fib_layout *layout)
{
	/* narrow: the size in a program with addresses of 32 bits. */
	static const struct {
		enum fib_layout_field_id id;
		size_t size, narrow;
	} needed[] = {
		{FIB_FIELD_SP, 8, 8},	      {FIB_FIELD_PC, 8, 8}, {FIB_FIELD_SEQ, 8, 8},
		{FIB_FIELD_STATE, 1, 1},      {FIB_FIELD_ID, 8, 8}, {FIB_FIELD_STACK_LOW, 8, 4},
		{FIB_FIELD_STACK_SIZE, 8, 4},
	};
	size_t i;

	for (i = 0; i < sizeof needed / sizeof needed[0]; i++)
		if (!fib_layout_has(layout, needed[i].id, needed[i].size) &&
		    !fib_layout_has(layout, needed[i].id, needed[i].narrow))
			return false;
	return true;
}

const char *fib_layout_check(const struct fib_layout *layout)
{
	if (memcmp(layout->magic, FIB_LAYOUT_MAGIC, sizeof layout->magic) != 0)
		return "the fiber registry has no magic: not initialised, or overwritten";
	if (layout->version != FIB_LAYOUT_VERSION)
		return "the fiber registry is of another version than this tool reads";
	if (layout->size < FIB_LAYOUT_SIZE_1)
		return "the fiber registry is smaller than version 1 defines";
	if (layout->record_size < 64 || layout->record_size > RECORD_MAX ||
	    layout->record_size % 8 != 0)
		return "the fiber registry gives an impossible record size";
	if (layout->committed > COUNT_MAX || layout->capacity > COUNT_MAX ||
	    layout->committed > layout->capacity)
		return "the fiber registry gives an impossible number of records";
	if (layout->field_count > FIB_LAYOUT_FIELDS || layout->wait_count > FIB_LAYOUT_WAITS ||
	    layout->state_count > 8)
		return "the fiber registry's tables are larger than their room";
	if (!fields_inside(layout))
		return "the fiber registry describes a field outside its record";
	if (!essentials(layout))
		return "the fiber registry lacks a field that every reader needs";
	if (!registers_inside(layout))
		return "the fiber registry describes a register outside of what is saved";
	if (!names_terminated(layout))
		return "the fiber registry's names are not terminated";
	return NULL;
}
