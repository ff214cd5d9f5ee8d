/* SPDX-License-Identifier: MIT */
/* explore.c - explore from a program, or from a test of another framework */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fiber/test.h>

#include "explore/explore.h"

int fiber_test_explore(fiber_test_fn *fn, void *arg, const struct fiber_test_options *options,
		       struct fiber_test_result *ret)
{
	struct fib_outcome outcome;
	int rc;

	if (!ret || ret->size < sizeof ret->size)
		return -EINVAL;
	rc = fib_explore(fn, arg, options, &outcome);
	outcome.result.size = ret->size;
	if (rc >= 0)
		memcpy(ret, &outcome.result,
		       ret->size < sizeof outcome.result ? ret->size : sizeof outcome.result);
	fib_outcome_free(&outcome);
	return rc;
}

/* cmocka's, if the program is linked with it. */
void _assert_true(unsigned long long result, const char *expression, const char *file, int line)
	__attribute__((weak));

/* All reports of an outcome as one text, which the caller frees; NULL: out of memory. */
static char *text_of(const struct fib_outcome *outcome, int rc, const char *file, int line)
{
	char *text = NULL;
	unsigned i;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	if (rc < 0)
		fprintf(out, "fiber-test: %s:%d: cannot explore: %s\n", file, line,
			fib_explore_why(rc));
	else if (!outcome->count)
		fprintf(out, "fiber-test: %s: %s: %s\n", outcome->name,
			fiber_test_verdict_name(outcome->result.verdict), outcome->result.message);
	for (i = 0; i < outcome->count; i++)
		fputs(outcome->found[i].report ? outcome->found[i].report : "", out);
	fclose(out);
	return text;
}

/* cmocka writes the text into a CDATA section, which ends at the first "]]>". */
static void keep_in_cdata(char *text)
{
	while (text && (text = strstr(text, "]]>")))
		*text++ = ')';
}

void fiber_test_at(fiber_test_fn *fn, void *arg, const struct fiber_test_options *options,
		   const char *file, int line)
{
	static char *text; /* cmocka jumps away, so it is freed by the next call */
	struct fib_outcome outcome;
	const int rc = fib_explore(fn, arg, options, &outcome);

	free(text);
	text = NULL;
	if (rc == 0) {
		fib_outcome_free(&outcome);
		return;
	}
	text = text_of(&outcome, rc, file, line);
	fib_outcome_free(&outcome);
	fputs(text ? text : "fiber-test: out of memory\n", stderr);
	fflush(stderr);
	keep_in_cdata(text);
	/* Its message is in the output of every format of cmocka. It does not return. */
	if (_assert_true)
		_assert_true(0, text ? text : "out of memory", file, line);
	abort();
}
