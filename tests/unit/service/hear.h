/* SPDX-License-Identifier: MIT */
/* hear.h - capture what is printed on stderr */
#ifndef UNIT_SERVICE_HEAR_H
#define UNIT_SERVICE_HEAR_H

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct hearing {
	FILE *file;
	int before;
	char text[2048];
};

static inline void hear_begin(struct hearing *h)
{
	h->file = tmpfile();
	h->before = dup(STDERR_FILENO);
	dup2(fileno(h->file), STDERR_FILENO);
}

static inline const char *hear_end(struct hearing *h)
{
	size_t n;

	dup2(h->before, STDERR_FILENO);
	close(h->before);
	rewind(h->file);
	n = fread(h->text, 1, sizeof h->text - 1, h->file);
	h->text[n] = 0;
	fclose(h->file);
	return h->text;
}

/* Whether text is one line that contains the expected words. */
static inline int said(const char *text, const char *expected)
{
	const char *end = strchr(text, '\n');

	return end && !end[1] && strstr(text, expected) != NULL;
}

#endif
