/* SPDX-License-Identifier: MIT */
/*
 * error.h - why something could not be done at all, and what is missing from what could be done
 *
 * An error ends a command (exit code 2): one text, "what: why", without the tool's name. A problem
 * makes an answer partial (exit code 1): the answer is shown and every problem is named in it.
 * Equal problems are counted, not repeated, so that 50,000 fibers with the same trouble make one
 * line.
 */
#ifndef INS_ERROR_H
#define INS_ERROR_H

#include <stddef.h>
#include <stdint.h>

struct ins_error {
	char text[768];
};

/*
 * Set the text, printf style, cut where it does not fit, harmless for a terminal whatever the names
 * in it are (escape.h); error may be NULL. Returns rc, so that a caller can say
 * "return ins_error_set(error, -ESRCH, ...)".
 */
int ins_error_set(struct ins_error *error, int rc, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

struct ins_problem {
	char *text;
	uint64_t count;
};

#define INS_PROBLEMS_MAX 64 /* different texts that are kept */

/* Zero-initialised is empty. */
struct ins_problems {
	struct ins_problem at[INS_PROBLEMS_MAX];
	size_t count;
	uint64_t lost; /* problems beyond INS_PROBLEMS_MAX different ones */
};

/* Add one problem, printf style and harmless for a terminal like an error's text; a text that is
 * there already is counted once more. */
void ins_problems_add(struct ins_problems *problems, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The text of problem i as it is shown: with "(N times)" when there were several. i == count is
 * the line for those that were lost, when there are any. Returns buf. */
const char *ins_problems_text(const struct ins_problems *problems, size_t i, char *buf,
			      size_t size);

/* How many lines ins_problems_text() has to say: 0 means that nothing is missing. */
size_t ins_problems_lines(const struct ins_problems *problems);

void ins_problems_free(struct ins_problems *problems);

#endif
