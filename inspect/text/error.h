/* SPDX-License-Identifier: MIT */
/*
 * error.h - errors, which end a command, and problems, which make an answer partial
 *
 * An error ends a command (exit code 2): one text, "what: why", without the tool's name. After a
 * problem the answer is partial (exit code 1): it is shown with every problem listed. Equal
 * problems are counted, not repeated, so 50,000 fibers with the same problem make one line.
 */
#ifndef INS_ERROR_H
#define INS_ERROR_H

#include <stddef.h>
#include <stdint.h>

struct ins_error {
	char text[768];
};

/*
 * Set the text, printf style. It is truncated if too long, and escaped for a terminal (escape.h).
 * error may be NULL. Returns rc, so that a caller can write "return ins_error_set(error, -ESRCH,
 * ...)".
 */
int ins_error_set(struct ins_error *error, int rc, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

struct ins_problem {
	char *text;
	uint64_t count;
};

#define INS_PROBLEMS_MAX 64 /* different texts that are kept */

/* Empty when zero-initialised. */
struct ins_problems {
	struct ins_problem at[INS_PROBLEMS_MAX];
	size_t count;
	uint64_t lost; /* problems beyond INS_PROBLEMS_MAX different ones */
};

/*
 * Add one problem, printf style, escaped like an error's text. A text that exists already is
 * counted.
 */
void ins_problems_add(struct ins_problems *problems, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * The text of problem i as it is shown, with "(N times)" if it occurred more than once. i == count
 * is the line for lost problems, if there are any. Returns buf.
 */
const char *ins_problems_text(const struct ins_problems *problems, size_t i, char *buf,
			      size_t size);

/* How many lines ins_problems_text() has; 0: nothing is missing. */
size_t ins_problems_lines(const struct ins_problems *problems);

void ins_problems_free(struct ins_problems *problems);

#endif
