/* SPDX-License-Identifier: MIT */
/*
 * test_explore_examples.c - the examples of tests pass, and find the bug that an argument selects
 *
 * scripts/test-man.py checks that every such example is in the table.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "tests/harness/cli/cli.h"
#include "tests/harness/watchdog.h"

#define TOKEN 81 /* struct fiber_test_result */

static const struct example {
	const char *name;
	const char *passes; /* the output without an argument, as an fnmatch(3) pattern */
	const char *bug;    /* the argument */
	const char *finds;  /* the first line of the report with it */
	const char *shows;  /* the lines after the three first, as a pattern; NULL: any */
} examples[] = {
	{"22_test", "fiber-test: locked: complete: all * schedules\n", "unlocked",
	 "fiber-test: unlocked: failed: counter.n == 2\n", "*/22_test.c:*: counter.n == 2\n*"},
	{"23_test_io", "fiber-test: fixed: passed: 2000 schedules\n", "bug",
	 "fiber-test: bug: failed: s->receive(fd, message) == 8\n",
	 "*/23_test_io.c:*: s->receive(fd, message) == 8\n*"},
	{"24_test_time", "fiber-test: shared: passed: 2000 schedules\n", "hasty",
	 "fiber-test: hasty: failed: !r->freed\n", "*/24_test_time.c:*: !r->freed\n*"},
	{"25_test_linear", "fiber-test: right: passed: 2000 schedules\n", "racy",
	 "fiber-test: racy: nonlinear: no order of the calls explains the history\n",
	 "history: * of * calls\n  fiber * fiber *take() = *<- fits no order\n*trace:\n*"},
	/* With CMOCKA_MESSAGE_OUTPUT=TAP, or without. */
	{"26_test_cmocka", "*test_letter_arrives*", "hasty", "fiber-test: letter: failed: ", NULL},
	{"27_test_memory", "fiber-test: locked: passed: 2000 schedules\n", "unlocked",
	 "fiber-test: unlocked: race: ", "race on \"counter\", byte 64:\n*27_test_memory.c:*"},
};
#define EXAMPLES (sizeof(examples) / sizeof(examples[0]))

static struct harness_process *run(const struct harness_how *how, const struct example *e,
				   const char *argument)
{
	char path[2 * HARNESS_PATH];

	snprintf(path, sizeof(path), "%s/examples/%s", harness_build(), e->name);
	return cli_run_how(how, path, argument, NULL);
}

static void expect_match(const char *pattern, const char *text)
{
	if (fnmatch(pattern, text, 0) == 0)
		return;
	print_error("'%s' does not match '%s'\n", text, pattern);
	fail();
}

static void test_examples_pass_without_an_argument(void **state)
{
	(void)state;
	for (size_t i = 0; i < EXAMPLES; i++) {
		struct harness_process *p = run(NULL, &examples[i], NULL);

		cli_expect(p, 0);
		expect_match(examples[i].passes, p->out.bytes);
		harness_free(p);
	}
}

/* The report; cmocka prints it on stderr. */
static const char *report_of(const struct harness_process *p, const struct example *e)
{
	const char *at = strstr(p->out.bytes, e->finds);

	if (!at)
		at = strstr(p->err.bytes, e->finds);
	assert_non_null(at);
	return at;
}

/* The text after n lines. */
static const char *after_lines(const char *text, unsigned n)
{
	while (n--) {
		text = strchr(text, '\n');
		assert_non_null(text);
		text++;
	}
	return text;
}

static void find(const struct example *e, char token[TOKEN])
{
	static const char before[] = "fiber-test: replay: FIBER_TEST_REPLAY=";
	struct harness_process *p = run(NULL, e, e->bug);
	const char *report, *second;
	size_t n;

	cli_expect(p, 1);
	report = report_of(p, e);
	/* In TAP each line begins with "# ". */
	second = strstr(report, before);
	assert_non_null(second);
	second += strlen(before);
	n = strcspn(second, "\n");
	assert_true(n < TOKEN);
	memcpy(token, second, n);
	token[n] = 0;
	if (e->shows)
		expect_match(e->shows, after_lines(report, 3));
	harness_free(p);
}

static void test_examples_find_their_bugs_and_replay_them(void **state)
{
	char token[TOKEN], variable[TOKEN + 32];
	const char *const env[] = {variable, NULL};
	const struct harness_how how = {.env = env};

	(void)state;
	for (size_t i = 0; i < EXAMPLES; i++) {
		const struct example *e = &examples[i];
		struct harness_process *p;

		find(e, token);
		snprintf(variable, sizeof(variable), "FIBER_TEST_REPLAY=%s", token);
		p = run(&how, e, e->bug);
		/* An assertion of cmocka aborts in a replay unless it can jump back. */
		if (e->shows) {
			cli_expect(p, 1);
			expect_match(e->shows, after_lines(report_of(p, e), 3));
		} else {
			assert_int_not_equal(p->status, 0);
		}
		harness_free(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_examples_pass_without_an_argument),
		cmocka_unit_test(test_examples_find_their_bugs_and_replay_them),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
