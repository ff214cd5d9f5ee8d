/* SPDX-License-Identifier: MIT */
/* scan.h - the words of an expression of --where. */
#ifndef INS_SCAN_H
#define INS_SCAN_H

#include <stdbool.h>

enum ins_scan_token {
	INS_SCAN_END,
	INS_SCAN_WORD,	 /* without quotes: a field, a value, and, or, not */
	INS_SCAN_QUOTED, /* between double quotes, without them */
	INS_SCAN_OP,
	INS_SCAN_OPEN,
	INS_SCAN_CLOSE,
	INS_SCAN_BROKEN, /* a quote that is not closed, or a word that is too long */
};

enum ins_scan_op {
	INS_OP_EQUAL,
	INS_OP_NOT_EQUAL,
	INS_OP_LESS,
	INS_OP_AT_MOST,
	INS_OP_MORE,
	INS_OP_AT_LEAST,
	INS_OP_MATCH,
	INS_OP_MATCH_NOT,
};

struct ins_scan {
	const char *start; /* of the token, in the expression */
	const char *rest;  /* behind it */
	enum ins_scan_token token;
	enum ins_scan_op op;
	char text[256]; /* of a word */
};

/* Go to the first token, to the next. */
void ins_scan_begin(struct ins_scan *scan, const char *text);
void ins_scan_next(struct ins_scan *scan);

/* Whether the token is that word, without quotes. */
bool ins_scan_is(const struct ins_scan *scan, const char *word);

#endif
