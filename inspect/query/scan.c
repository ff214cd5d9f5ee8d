/* SPDX-License-Identifier: MIT */
/* scan.c - split an expression of --where into tokens */
#include "inspect/query/scan.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *text;
	enum ins_scan_op op;
} ops[] = {
	/* Longer operators first. */
	{"!=", INS_OP_NOT_EQUAL}, {"!~", INS_OP_MATCH_NOT}, {"<=", INS_OP_AT_MOST},
	{">=", INS_OP_AT_LEAST},  {"==", INS_OP_EQUAL},	    {"=~", INS_OP_MATCH},
	{"=", INS_OP_EQUAL},	  {"<", INS_OP_LESS},	    {">", INS_OP_MORE},
	{"~", INS_OP_MATCH},
};

static bool take_op(struct ins_scan *s)
{
	size_t i, n;

	for (i = 0; i < sizeof ops / sizeof ops[0]; i++) {
		n = strlen(ops[i].text);
		if (strncmp(s->rest, ops[i].text, n) != 0)
			continue;
		s->token = INS_SCAN_OP;
		s->op = ops[i].op;
		s->rest += n;
		return true;
	}
	return false;
}

static void take_quoted(struct ins_scan *s)
{
	size_t n = 0;

	s->token = INS_SCAN_BROKEN;
	for (s->rest++; *s->rest && *s->rest != '"'; s->rest++) {
		if (*s->rest == '\\' && (s->rest[1] == '"' || s->rest[1] == '\\'))
			s->rest++;
		if (n + 1 == sizeof s->text)
			return;
		s->text[n++] = *s->rest;
	}
	s->text[n] = 0;
	if (*s->rest != '"')
		return;
	s->rest++;
	s->token = INS_SCAN_QUOTED;
}

static void take_word(struct ins_scan *s)
{
	size_t n = strcspn(s->rest, " \t\n()\"=!<>~");

	s->token = INS_SCAN_BROKEN;
	if (!n || n >= sizeof s->text)
		return;
	memcpy(s->text, s->rest, n);
	s->text[n] = 0;
	s->rest += n;
	s->token = INS_SCAN_WORD;
}

void ins_scan_next(struct ins_scan *s)
{
	s->rest += strspn(s->rest, " \t\n");
	s->start = s->rest;
	if (!*s->rest) {
		s->token = INS_SCAN_END;
	} else if (*s->rest == '(' || *s->rest == ')') {
		s->token = *s->rest == '(' ? INS_SCAN_OPEN : INS_SCAN_CLOSE;
		s->rest++;
	} else if (*s->rest == '"') {
		take_quoted(s);
	} else if (!take_op(s)) {
		take_word(s);
	}
}

void ins_scan_begin(struct ins_scan *s, const char *text)
{
	s->rest = text;
	ins_scan_next(s);
}

bool ins_scan_is(const struct ins_scan *s, const char *word)
{
	return s->token == INS_SCAN_WORD && strcmp(s->text, word) == 0;
}
