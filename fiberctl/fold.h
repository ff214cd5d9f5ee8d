/* SPDX-License-Identifier: MIT */
/*
 * fold.h - text folded into lines of a screen, between its words
 *
 * Text is harmless for a terminal (escape.h), and a character of it takes a column. Only a word that is wider than a whole line
 * is not kept whole: it ends with "...", or goes on in the next line.
 */
#ifndef FIBERCTL_FOLD_H
#define FIBERCTL_FOLD_H

#include <stddef.h>

/* The columns that n bytes of text take. */
size_t ctl_fold_columns(const char *text, size_t n);

/* How many bytes of text stand in the first of its lines, blanks at its end left out; *ret_next: where the next one begins. At least
 * one character where there is one. A line that is not the last one ends behind a comma or a semicolon, if one is near. */
size_t ctl_fold(const char *text, size_t width, const char **ret_next);

/* How many lines that makes: 1 of none. */
size_t ctl_fold_lines(const char *text, size_t width);

/* Make it no more than one line: words at the end are replaced with "...". */
void ctl_fold_truncate(char *text, size_t width);

/* Make it fit into that many lines: items at the end of a list with commas become "and 12 more". size: of its buffer. */
void ctl_fold_list(char *text, size_t size, size_t width, size_t lines);

#endif
