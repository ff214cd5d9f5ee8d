/* SPDX-License-Identifier: MIT */
/* words.c - what all formats say about an outcome */
#include "format/words.h"

#include <errno.h>
#include <stdio.h>

#include "explore/explore.h"

const char *fib_outcome_word(const struct fib_outcome *outcome)
{
	if (outcome->count || (!outcome->error && !outcome->signal))
		return fiber_test_verdict_name(outcome->result.verdict);
	return outcome->signal ? "interrupted" : "error";
}

const char *fib_outcome_message(const struct fib_outcome *outcome, char *buf, size_t size)
{
	const char *why = fib_explore_why(outcome->error);

	if (outcome->count || (!outcome->error && !outcome->signal))
		snprintf(buf, size, "%s", outcome->result.message);
	else if (outcome->signal)
		snprintf(buf, size, "interrupted after %llu schedules, nothing found",
			 (unsigned long long)outcome->result.schedules);
	else if (outcome->error == -EAGAIN)
		snprintf(buf, size, "cannot be explored: no process can be started: %s", why);
	else if (outcome->error == -EINVAL)
		snprintf(buf, size, "cannot be explored: its options make no sense");
	else
		snprintf(buf, size, "cannot be explored: %s", why);
	return buf;
}

const char *fib_outcome_missed(const struct fib_outcome *outcome, unsigned *at)
{
	unsigned i;

	while (outcome->reach && *at < 64 && outcome->reach[*at]) {
		i = (*at)++;
		if (!(outcome->reached >> i & 1))
			return outcome->reach[i];
	}
	return NULL;
}
