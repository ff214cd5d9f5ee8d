/* SPDX-License-Identifier: MIT */
/* scan.h - split an expression of --where into tokens */
#ifndef INS_SCAN_H
#define INS_SCAN_H

#include <stdbool.h>

enum ins_scan_token {
	INS_SCAN_END,
	INS_SCAN_WORD,	 /* unquoted: a field, a value, and, or, not */
	INS_SCAN_QUOTED, /* text of a quoted string, without the quotes */
	INS_SCAN_OP,
	INS_SCAN_OPEN,
	INS_SCAN_CLOSE,
	INS_SCAN_BROKEN, /* an unclosed quote, or a word that is too long */
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
	const char *rest;  /* after the token */
	enum ins_scan_token token;
	enum ins_scan_op op;
	char text[256]; /* of a word */
};

/* Read the first token; read the next token. */
void ins_scan_begin(struct ins_scan *scan, const char *text);
void ins_scan_next(struct ins_scan *scan);

/* Whether the token is that unquoted word. */
bool ins_scan_is(const struct ins_scan *scan, const char *word);

#endif
