/* SPDX-License-Identifier: MIT */
/*
 * fold.h - fold text into lines of a screen at word boundaries
 *
 * Text is safe for a terminal (escape.h) and each character takes one column. Only a word wider
 * than a line is split: it ends with "...", or continues in the next line.
 */
#ifndef FIBERCTL_FOLD_H
#define FIBERCTL_FOLD_H

#include <stddef.h>

/* The columns that n bytes of text take. */
size_t ctl_fold_columns(const char *text, size_t n);

/*
 * The number of bytes in the first line of text, without blanks at its end; at least one character
 * of a nonempty text. *ret_next: start of the next line. A line that is not the last ends after a
 * comma or semicolon if one is near.
 */
size_t ctl_fold(const char *text, size_t width, const char **ret_next);

/* The number of lines; 1 for an empty text. */
size_t ctl_fold_lines(const char *text, size_t width);

/* Truncate to one line: words at the end become "...". */
void ctl_fold_truncate(char *text, size_t width);

/*
 * Fit a list with commas into that many lines: items at the end become "and 12 more". size: of the
 * buffer.
 */
void ctl_fold_list(char *text, size_t size, size_t width, size_t lines);

#endif
