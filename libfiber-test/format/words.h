/* SPDX-License-Identifier: MIT */
/* words.h - what all formats say about an outcome */
#ifndef FIB_TEST_WORDS_H
#define FIB_TEST_WORDS_H

#include <stddef.h>

#include "explore/outcome.h"

/* Whether the test did not pass. */
static inline int fib_outcome_failed(const struct fib_outcome *o)
{
	return o->error || o->signal || o->result.verdict > FIBER_TEST_COMPLETE;
}

/* "deadlock", or "error", "interrupted": it has no verdict. */
const char *fib_outcome_word(const struct fib_outcome *outcome);

/* One line: what was found, or why the test could not be run. Returns buf. */
const char *fib_outcome_message(const struct fib_outcome *outcome, char *buf, size_t size);

/* Of something in `reach` that no schedule reached, from *at on; NULL: no more. */
const char *fib_outcome_missed(const struct fib_outcome *outcome, unsigned *at);

#endif
