/* SPDX-License-Identifier: MIT */
/* test_explore_bugs.c - libfiber-test finds the bugs of fixtures/bugs, and no bug in their twins */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/cli/cli.h"
#include "tests/harness/watchdog.h"

#define SEEDS	   3u
#define TWICE	   1u /* seeds with which each bug is found a second time */
#define TOKEN	   81 /* struct fiber_test_result */
#define FIRST_LINE 1200
#define CASE_NAME  16

static const struct bug {
	const char *program;
	const char *verdict; /* of its bugs; NULL: the program has only a twin */
	const char *suffix;  /* of "bug" and "twin"; NULL: none */
} bugs[] = {
	{"aba_stack", "failed", NULL},
	{"accept_emfile_spin", "failed", NULL},
	{"account", "failed", NULL},
	{"bluetooth_driver", "failed", NULL},
	{"bounded_buffer", "deadlock", NULL},
	{"cancel_vs_complete", "failed", NULL},
	{"channel_never_closed", "deadlock", NULL},
	{"connection_pool", "failed", NULL},
	{"deadlock_ab_ba", "deadlock", NULL},
	{"deque", "failed", NULL},
	{"double_checked_init", "failed", NULL},
	{"enomem_leaks_fd", "leak", NULL},
	{"if_not_while", "failed", NULL},
	{"leaked_worker", "leak", NULL},
	{"lock_held_across_send", "deadlock", NULL},
	{"lost_update", "failed", NULL},
	{"missed_signal", "deadlock", NULL},
	{"noise", "failed", NULL},
	{"order_violation", "failed", NULL},
	{"philosophers", "deadlock", NULL},
	{"philosophers", "deadlock", "-5"},
	{"philosophers", "deadlock", "-7"},
	{"relaxed_publish", "race", NULL},
	{"reorder", "failed", NULL},
	{"reorder", "failed", "-5"},
	{"short_write_ignored", "failed", NULL},
	{"spin_for_flag", "livelock", NULL},
	{"stringbuffer", "failed", NULL},
	{"timeout_vs_answer", "failed", NULL},
	{"trylock_backoff", NULL, NULL},
	{"twostage", "failed", NULL},
	{"use_after_join", "failed", NULL},
	{"waitgroup_reused", "deadlock", NULL},
};

#define BUGS (sizeof bugs / sizeof *bugs)

/* What a program printed about its bug. */
struct finding {
	char line[FIRST_LINE]; /* "fiber-test: CASE: VERDICT: MESSAGE" */
	char token[TOKEN];
};

/* Run the case "bug" or "twin" with an option and its value unless option is NULL. */
static struct harness_process *explore(const struct harness_how *how, const struct bug *bug,
				       const char *option, const char *value, const char *which)
{
	char program[HARNESS_PATH], name[CASE_NAME];

	snprintf(program, sizeof program, "bugs/%s", bug->program);
	snprintf(name, sizeof name, "%s%s", which, bug->suffix ? bug->suffix : "");
	if (!option)
		return cli_run_how(how, program, name, NULL);
	return cli_run_how(how, program, option, value, name, NULL);
}

/* Run the twin, and expect that its line is "fiber-test: twin: " and this. */
static void expect_twin(const struct bug *bug, const char *option, const char *value,
			const char *result)
{
	struct harness_process *p = explore(NULL, bug, option, value, "twin");
	char line[FIRST_LINE];

	cli_expect(p, 0);
	snprintf(line, sizeof line, "fiber-test: twin%s: %s\n", bug->suffix ? bug->suffix : "",
		 result);
	assert_string_equal(p->out.bytes, line);
	harness_free(p);
}

/* Copy text up to the end of its line. */
static void copy_line(char *to, size_t size, const char *text)
{
	const size_t n = strcspn(text, "\n");

	assert_true(n < size);
	memcpy(to, text, n);
	to[n] = 0;
}

/* Expect the verdict of the bug and a message. */
static void expect_verdict(const char *line, const struct bug *bug)
{
	char start[64];

	snprintf(start, sizeof start, "fiber-test: bug%s: %s: ", bug->suffix ? bug->suffix : "",
		 bug->verdict);
	if (strncmp(line, start, strlen(start)) == 0 && line[strlen(start)])
		return;
	print_error("%s: '%s' does not begin with '%s'\n", bug->program, line, start);
	fail();
}

/* Expect that the case "bug" with this option fails with the bug's verdict. */
static struct finding find(const struct harness_how *how, const struct bug *bug, const char *option,
			   const char *value)
{
	static const char before[] = "fiber-test: replay: FIBER_TEST_REPLAY=";
	struct harness_process *p = explore(how, bug, option, value, "bug");
	struct finding f = {0};
	const char *second;

	cli_expect(p, 1);
	copy_line(f.line, sizeof f.line, p->out.bytes);
	expect_verdict(f.line, bug);
	second = strchr(p->out.bytes, '\n');
	assert_non_null(second);
	assert_memory_equal(second + 1, before, strlen(before));
	copy_line(f.token, sizeof f.token, second + 1 + strlen(before));
	harness_free(p);
	return f;
}

static void replay(const struct bug *bug, const struct finding *f)
{
	char variable[TOKEN + 32], line[FIRST_LINE];
	const char *const env[] = {variable, NULL};
	const struct harness_how how = {.env = env};
	struct harness_process *p;

	snprintf(variable, sizeof variable, "FIBER_TEST_REPLAY=%s", f->token);
	p = explore(&how, bug, NULL, NULL, "bug");
	cli_expect(p, 1);
	copy_line(line, sizeof line, p->err.bytes);
	assert_string_equal(line, f->line);
	harness_free(p);
}

/* What seed 1, 2, ... finds; explored at the first call. */
static const struct finding *found(unsigned bug, unsigned seed)
{
	static struct finding all[BUGS][SEEDS];
	struct finding *f = &all[bug][seed - 1];

	if (!f->line[0])
		*f = find(NULL, &bugs[bug], "--seed", cli_number(seed));
	return f;
}

static void each_seed(unsigned seeds, void (*test)(unsigned bug, unsigned seed))
{
	unsigned i, seed;

	for (i = 0; i < BUGS; i++)
		for (seed = 1; bugs[i].verdict && seed <= seeds; seed++)
			test(i, seed);
}

static void find_once(unsigned bug, unsigned seed)
{
	found(bug, seed);
}

static void test_each_bug_is_found_with_its_verdict(void **state)
{
	(void)state;
	each_seed(SEEDS, find_once);
}

static void replay_found(unsigned bug, unsigned seed)
{
	replay(&bugs[bug], found(bug, seed));
}

static void test_a_token_replays_to_the_same_verdict_and_message(void **state)
{
	(void)state;
	each_seed(SEEDS, replay_found);
}

/* Minimisation ends after a second, wherever it is then. So the schedule as found is compared. */
static void find_twice(unsigned bug, unsigned seed)
{
	static const char *const env[] = {"FIBER_TEST_MINIMIZE=0", NULL};
	const struct harness_how how = {.env = env};
	const struct finding first = find(&how, &bugs[bug], "--seed", cli_number(seed));
	const struct finding second = find(&how, &bugs[bug], "--seed", cli_number(seed));

	assert_string_equal(second.token, first.token);
	assert_string_equal(second.line, first.line);
}

static void test_the_same_seed_gives_the_same_token(void **state)
{
	(void)state;
	each_seed(TWICE, find_twice);
}

static void test_each_twin_passes(void **state)
{
	unsigned i;

	(void)state;
	for (i = 0; i < BUGS; i++)
		expect_twin(&bugs[i], NULL, NULL, "passed: 2000 schedules");
}

static void test_a_late_answer_needs_slack(void **state)
{
	static const struct bug late = {"timeout_vs_answer", "failed", NULL};
	struct harness_process *p = explore(NULL, &late, "--slack", "none", "bug");

	(void)state;
	cli_expect(p, 0);
	assert_string_equal(p->out.bytes, "fiber-test: bug: passed: 2000 schedules\n");
	harness_free(p);
}

/* Visit every schedule of a twin. Returns how many there are. */
static unsigned long count_all(const struct bug *bug)
{
	static const char start[] = "fiber-test: twin: complete: all ";
	struct harness_process *p = explore(NULL, bug, "--strategy", "exhaustive", "twin");
	unsigned long n;
	char *end;

	cli_expect(p, 0);
	cli_contains(p->out.bytes, start);
	n = strtoul(p->out.bytes + strlen(start), &end, 10);
	assert_string_equal(end, " schedules\n");
	harness_free(p);
	return n;
}

static void test_exhaustive_visits_every_schedule(void **state)
{
	static const struct bug few[] = {{"deadlock_ab_ba", "deadlock", NULL},
					 {"lost_update", "failed", NULL}};
	unsigned long n;
	unsigned i;

	(void)state;
	for (i = 0; i < 2; i++) {
		find(NULL, &few[i], "--strategy", "exhaustive");
		n = count_all(&few[i]);
		assert_true(n > 1);
		assert_int_equal(count_all(&few[i]), n);
	}
}

/* The bug of two fibers is found beside eight that only get in the way. */
static void test_noise_is_reduced_to_one_deviation(void **state)
{
	unsigned seed;
	char text[16];

	(void)state;
	for (seed = 1; seed <= 5; seed++) {
		struct harness_process *p;

		snprintf(text, sizeof text, "%u", seed);
		p = cli_run("bugs/noise", "--seed", text, "bug", NULL);
		cli_expect(p, 1);
		cli_contains(p->out.bytes, " choices, 1 deviation (");
		harness_free(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_bug_is_found_with_its_verdict),
		cmocka_unit_test(test_a_token_replays_to_the_same_verdict_and_message),
		cmocka_unit_test(test_the_same_seed_gives_the_same_token),
		cmocka_unit_test(test_each_twin_passes),
		cmocka_unit_test(test_a_late_answer_needs_slack),
		cmocka_unit_test(test_exhaustive_visits_every_schedule),
		cmocka_unit_test(test_noise_is_reduced_to_one_deviation),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
