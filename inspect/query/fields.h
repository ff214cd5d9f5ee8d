/* SPDX-License-Identifier: MIT */
/*
 * fields.h - the fields of a fiber, by name
 *
 * --where, --sort, --columns and --group-by accept the same fields: id, name, state, wait, object,
 * holder, age, cpu, switches, stack, carrier, parent, fn, label.KEY and a few more. The value of a
 * field is a number, a text, or nothing (a fiber that waits for no object has no object).
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
	INS_TEXT,   /* from the program: may contain any bytes */
	INS_WORDS,  /* words of this tool, safe to print */
};

/* What a field needs in struct ins_request; SYMBOLS: names of functions. */
enum {
	INS_NEEDS_LABELS = 1,
	INS_NEEDS_HIGH_WATER = 2,
	INS_NEEDS_SYMBOLS = 4,
	INS_NEEDS_PLACE = 8,
};

struct ins_value {
	bool known; /* false: the fiber has no such value */
	uint64_t number;
	uint64_t of;	     /* the number is a part of this total; 0: no total */
	const char *instead; /* printed if the value is not known; NULL: nothing is printed */
	const char *text;    /* of a text: valid until any field is read again */
};

/* What reading a field may need besides the fiber. */
struct ins_sight {
	const struct fib_layout *layout;
	struct ins_symbols *symbols; /* NULL: addresses are not named */
	const struct ins_fiber *fiber;
	char buf[256];
};

/* A field and, for label.KEY, its key. */
struct ins_field {
	const struct ins_field_info *info;
	char key[FIB_LAYOUT_LABELS]; /* no label has a longer key */
};

struct ins_field_info {
	const char *name;
	const char *title; /* of its column */
	const char *help;
	enum ins_field_kind kind;
	unsigned width; /* of its column; 0: the last column */
	unsigned needs; /* INS_NEEDS_* */
	struct ins_value (*get)(struct ins_sight *sight, const struct ins_field *field);
};

/* All fields; the last entry has no name. */
extern const struct ins_field_info ins_field_infos[];

/* Find the field of that name (n bytes of text). False if there is no such field. */
bool ins_field_find(const char *text, size_t n, struct ins_field *ret);

struct ins_value ins_field_get(struct ins_sight *sight, const struct ins_field *field);

/*
 * Parse a value of a field that is not a text: "20ms", "64k", "0x5f0a", "thread:812". False:
 * invalid.
 */
bool ins_field_parse(const struct ins_field *field, const char *text, uint64_t *ret);

/* What a value has to be: "number", "length of time". */
const char *ins_field_kind_name(enum ins_field_kind kind);

/* All names, separated by commas. */
const char *ins_field_names(void);

/*
 * Word `number`, from 0 on, of a field that has a fixed list of words in a program: its states, its
 * kinds of wait. NULL after the last word and for any other field.
 */
const char *ins_field_word(const struct ins_field *field, const struct fib_layout *layout,
			   unsigned number);

/* The title of its column. May contain any bytes: it may be a label's key. */
const char *ins_field_title(const struct ins_field *field);

bool ins_field_is_text(const struct ins_field *field); /* else a number */

/* Add what the field needs to the request. */
void ins_field_wants(const struct ins_field *field, struct ins_request *request);

/*
 * Append a value in the form for people: "2m14s", "5.3k", "0x5f0a", an escaped text; "-" for
 * nothing.
 */
void ins_field_say(struct ins_strbuf *line, const struct ins_field *field, struct ins_value value);

#define INS_FIELD_WORDS 64 /* longest printed number */

/*
 * A text that differs for different values: a text as the program has it, a number as it is printed
 * (in buf). NULL for nothing.
 */
const char *ins_field_words(const struct ins_field *field, struct ins_value value,
			    char buf[INS_FIELD_WORDS]);

/* Returns < 0, 0 or > 0. Nothing sorts after all values. */
int ins_field_compare(const struct ins_field *field, struct ins_value a, struct ins_value b);

#endif
