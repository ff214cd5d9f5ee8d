/* SPDX-License-Identifier: MIT */
/*
 * fields.h - what can be asked of a fiber by name
 *
 * --where, --sort, --columns and --group-by speak of the same fields, and each of them knows every one: id, name,
 * state, wait, object, holder, age, cpu, switches, stack, carrier, parent, fn, label.KEY and a few more. A field's
 * value is a number, a text, or nothing (a fiber that waits for no object has none).
 */
#ifndef INS_FIELDS_H
#define INS_FIELDS_H

#include "inspect/line.h"
#include "inspect/source.h"
#include "inspect/symbolize.h"

enum ins_field_kind { INS_NUMBER, INS_DURATION, INS_SIZE, INS_ADDRESS, INS_TEXT };

struct ins_value {
	bool known; /* false: the fiber has nothing there */
	uint64_t number;
	const char *text; /* of a text: valid until the next look at any field */
};

/* What a look at a fiber may need besides the fiber. */
struct ins_sight {
	const struct fib_layout *layout;
	struct ins_symbols *symbols; /* may be NULL: addresses are then not named */
	const struct ins_fiber *fiber;
	char buf[256];
};

/* A field as it was named: label.KEY keeps its key. */
struct ins_field {
	const struct ins_field_info *info;
	char key[64];
};

struct ins_field_info {
	const char *name;
	const char *title; /* over its column */
	const char *help;
	enum ins_field_kind kind;
	unsigned width;	   /* of its column */
	bool needs_labels; /* which of them it needs: see struct ins_request */
	bool needs_high_water;
	bool needs_symbols;
	struct ins_value (*get)(struct ins_sight *sight, const struct ins_field *field);
};

/* Every field; ends with one without a name. */
extern const struct ins_field_info ins_field_infos[];

/* Find the field of that name (n bytes of text). False when there is none. */
bool ins_field_find(const char *text, size_t n, struct ins_field *ret);

struct ins_value ins_field_get(struct ins_sight *sight, const struct ins_field *field);

/* Append a value as a person reads it: "2m14s", "5.3k", "0x5f0a", a text made harmless; "-" for nothing. */
void ins_field_say(struct ins_line *line, const struct ins_field *field, struct ins_value value);

/* Less than 0, 0, more than 0. Nothing comes after everything. */
int ins_field_compare(const struct ins_field *field, struct ins_value a, struct ins_value b);

#endif
