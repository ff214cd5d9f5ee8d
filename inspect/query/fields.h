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

#include "inspect/text/strbuf.h"
#include "inspect/model/source.h"
#include "inspect/symbols/symbolize.h"

enum ins_field_kind {
	INS_NUMBER,
	INS_TIME, /* ns */
	INS_SIZE, /* bytes */
	INS_ADDRESS,
	INS_HOLDER, /* a fiber's id, or FIB_HOLDER_THREAD | tid */
	INS_TEXT,   /* of the program's: anything may be in it */
	INS_WORDS,  /* our own, made harmless already */
};

/* What of struct ins_request a field cannot do without; of symbols, the names. */
enum { INS_NEEDS_LABELS = 1, INS_NEEDS_HIGH_WATER = 2, INS_NEEDS_SYMBOLS = 4 };

struct ins_value {
	bool known; /* false: the fiber has nothing there */
	uint64_t number;
	uint64_t of;	     /* the number is a part of this; 0: of nothing */
	const char *instead; /* said where it is not known; NULL: nothing is */
	const char *text;    /* of a text: valid until the next look at any field */
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
	char key[FIB_LAYOUT_LABELS]; /* no label has a longer one */
};

struct ins_field_info {
	const char *name;
	const char *title; /* over its column */
	const char *help;
	enum ins_field_kind kind;
	unsigned width; /* of its column; 0: it is the last one */
	unsigned needs; /* INS_NEEDS_* */
	struct ins_value (*get)(struct ins_sight *sight, const struct ins_field *field);
};

/* Every field; ends with one without a name. */
extern const struct ins_field_info ins_field_infos[];

/* Find the field of that name (n bytes of text). False when there is none. */
bool ins_field_find(const char *text, size_t n, struct ins_field *ret);

struct ins_value ins_field_get(struct ins_sight *sight, const struct ins_field *field);

/* A value as it is typed, of a field that is no text: "20ms", "64k", "0x5f0a", "thread:812". False when it is none. */
bool ins_field_parse(const struct ins_field *field, const char *text, uint64_t *ret);

/* "number", "length of time": what a value has to be. */
const char *ins_field_kind_name(enum ins_field_kind kind);

/* All names, with commas between. */
const char *ins_field_names(void);

/* The word at that number, from 0 on, of a field that has no others than those of the program: its states, its kinds of wait.
 * NULL behind the last, and of any other field. */
const char *ins_field_word(const struct ins_field *field, const struct fib_layout *layout,
			   unsigned number);

/* What stands over its column. May be anything: a label's key. */
const char *ins_field_title(const struct ins_field *field);

bool ins_field_is_text(const struct ins_field *field); /* else a number */

/* Add to the request what the field needs. */
void ins_field_wants(const struct ins_field *field, struct ins_request *request);

/* Append a value as a person reads it: "2m14s", "5.3k", "0x5f0a", a text made harmless; "-" for nothing. */
void ins_field_say(struct ins_strbuf *line, const struct ins_field *field, struct ins_value value);

#define INS_FIELD_WORDS 64 /* no number is longer when it is said */

/* What tells a value from others: a text as the program has it, a number as it is said (then in buf). NULL for nothing. */
const char *ins_field_words(const struct ins_field *field, struct ins_value value,
			    char buf[INS_FIELD_WORDS]);

/* Less than 0, 0, more than 0. Nothing comes after everything. */
int ins_field_compare(const struct ins_field *field, struct ins_value a, struct ins_value b);

#endif
