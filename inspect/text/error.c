/* SPDX-License-Identifier: MIT */
/* error.c - the texts of errors and problems */
#include "inspect/text/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/text/escape.h"

int ins_error_set(struct ins_error *error, int rc, const char *fmt, ...)
{
	char text[sizeof error->text];
	va_list ap;

	if (!error)
		return rc;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	ins_escape(text, error->text, sizeof error->text);
	return rc;
}

void ins_problems_add(struct ins_problems *problems, const char *fmt, ...)
{
	char raw[512], plain[sizeof raw];
	va_list ap;
	size_t i;

	va_start(ap, fmt);
	vsnprintf(raw, sizeof raw, fmt, ap);
	va_end(ap);
	ins_escape(raw, plain, sizeof plain);
	for (i = 0; i < problems->count; i++) {
		if (strcmp(problems->at[i].text, plain) == 0) {
			problems->at[i].count++;
			return;
		}
	}
	if (problems->count < INS_PROBLEMS_MAX) {
		char *copy = strdup(plain);

		if (copy) {
			problems->at[problems->count++] = (struct ins_problem){copy, 1};
			return;
		}
	}
	problems->lost++;
}

const char *ins_problems_text(const struct ins_problems *problems, size_t i, char *buf, size_t size)
{
	if (i < problems->count && problems->at[i].count > 1)
		snprintf(buf, size, "%s (%llu times)", problems->at[i].text,
			 (unsigned long long)problems->at[i].count);
	else if (i < problems->count)
		snprintf(buf, size, "%s", problems->at[i].text);
	else
		snprintf(buf, size, "and %llu more problem%s", (unsigned long long)problems->lost,
			 problems->lost == 1 ? "" : "s");
	return buf;
}

size_t ins_problems_lines(const struct ins_problems *problems)
{
	return problems->count + (problems->lost ? 1 : 0);
}

void ins_problems_free(struct ins_problems *problems)
{
	size_t i;

	for (i = 0; i < problems->count; i++)
		free(problems->at[i].text);
	memset(problems, 0, sizeof *problems);
}
