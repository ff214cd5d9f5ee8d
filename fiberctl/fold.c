/* SPDX-License-Identifier: MIT */
/* fold.c - fold text into lines of a screen at word boundaries */
#include "fiberctl/fold.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "inspect/text/escape.h"

/* The number of bytes of the first character. */
static size_t character(const char *text)
{
	const size_t n = ins_utf8_length(text);

	return n ? n : 1;
}

size_t ctl_fold_columns(const char *text, size_t n)
{
	const char *end = text + n;
	size_t columns = 0;

	for (; text < end && *text; text += character(text))
		columns++;
	return columns;
}

/* The number of bytes of `columns` characters. */
static size_t bytes(const char *text, size_t columns)
{
	const char *at = text;

	for (; columns && *at; columns--)
		at += character(at);
	return (size_t)(at - text);
}

/*
 * The end of the last word within n bytes; part: the word must end a part of a sentence. 0: none.
 */
static size_t last_end(const char *text, size_t n, bool part)
{
	for (; n; n--)
		if ((text[n] == ' ' || !text[n]) && text[n - 1] != ' ' &&
		    (!part || strchr(",;:", text[n - 1])))
			return n;
	return 0;
}

/* The end of the last word, preferably one near it that ends a part of a sentence; 0: none. */
static size_t last_word(const char *text, size_t n)
{
	const size_t part = last_end(text, n, true);

	return part > n / 2 ? part : last_end(text, n, false);
}

size_t ctl_fold(const char *text, size_t width, const char **ret_next)
{
	size_t n = bytes(text, width ? width : 1);
	const size_t end = text[n] ? last_word(text, n) : 0;

	if (end)
		n = end;
	*ret_next = text + n + strspn(text + n, " ");
	return n;
}

size_t ctl_fold_lines(const char *text, size_t width)
{
	size_t lines = 0;

	do {
		ctl_fold(text, width, &text);
		lines++;
	} while (*text);
	return lines;
}

void ctl_fold_truncate(char *text, size_t width)
{
	size_t n;

	if (ctl_fold_columns(text, strlen(text)) <= width)
		return;
	if (width < 4) {
		text[bytes(text, width)] = 0;
		return;
	}
	n = last_word(text, bytes(text, width - 4));
	if (n)
		strcpy(text + n, " ...");
	else
		strcpy(text + bytes(text, width - 3), "...");
}

void ctl_fold_list(char *text, size_t size, size_t width, size_t lines)
{
	size_t n = strlen(text), left = 0;

	while (ctl_fold_lines(text, width) > lines) {
		/* The text for the rest is no item. */
		text[n] = 0;
		for (; n && text[n] != ','; n--)
			;
		if (!n) {
			ctl_fold_truncate(text, width * lines);
			return;
		}
		left++;
		if ((size_t)snprintf(text + n, size - n, " and %zu more", left) >= size - n)
			text[n] = 0;
	}
}
