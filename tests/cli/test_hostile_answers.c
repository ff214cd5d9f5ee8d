/* SPDX-License-Identifier: MIT */
/*
 * test_hostile_answers.c - fiberctl with programs whose answers do not end
 *
 * Whatever a listener does, each command ends, names the process, and shows the others. The time
 * limits of several listeners do not add up. tests/unit/wire/test_budget.c tests a single time
 * limit with a fake clock.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness/cli/cli.h"
#include "tests/harness/cli/hostile.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/cli/prom.h"
#include "tests/harness/clock.h"
#include "tests/harness/watchdog.h"

#define ENDLESS	   "its answer does not end"
#define NO_ANSWER  "no answer"
#define LONG_FRAME "longer frame than any answer has"
#define STRANGER   64321 /* a user id without a user */

static double seconds_since(int64_t began)
{
	return (double)(harness_now() - began) / 1e9;
}

static struct harness_process *start(const char *a, const char *b, const char *c, const char *d)
{
	char path[HARNESS_PATH];
	const char *const argv[] = {harness_program(path, "fiberctl"), a, b, c, d, NULL};

	return harness_start(argv, NULL);
}

static void wait_for(struct harness_process *p)
{
	assert_true(harness_wait_end(p, CLI_SECONDS));
}

/* -- one program, given by name -- */

static const struct {
	enum hostile_kind kind;
	const char *says;
} kinds[] = {
	{HOSTILE_STILL, ENDLESS},    {HOSTILE_FLOOD, ENDLESS},	 {HOSTILE_BYTES, ENDLESS},
	{HOSTILE_MAPS, ENDLESS},     {HOSTILE_ROWS, ENDLESS},	 {HOSTILE_CLAIMS, ENDLESS},
	{HOSTILE_SILENT, NO_ANSWER}, {HOSTILE_HUGE, LONG_FRAME}, {HOSTILE_CLOSES, "closed"},
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static const char *const commands[][2] = {
	{"policy"},	 {"carriers"}, {"watchdog"}, {"audit"}, {"audit", "--follow"},
	{"cancel", "7"}, {"metrics"},
};
#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

/* One kind after another: 63 tools at once would be too many for a small machine. */
static void test_small_answers_have_an_end(void **state)
{
	struct harness_process *p[COMMANDS];
	struct hostile hostile;
	const int64_t began = harness_now();
	size_t i, k;

	(void)state;
	for (i = 0; i < KINDS; i++) {
		hostile_start(&hostile,
			      &(struct hostile_how){.kind = kinds[i].kind, .greets = true});
		for (k = 0; k < COMMANDS; k++)
			p[k] = start(commands[k][0], hostile.path, commands[k][1], NULL);
		for (k = 0; k < COMMANDS; k++) {
			wait_for(p[k]);
			cli_expect_error(p[k], 2, "fiberctl", kinds[i].says);
		}
		hostile_end(&hostile);
	}
	print_message("# %zu answers in %.1f s\n", KINDS * COMMANDS, seconds_since(began));
}

static void test_who_does_not_even_say_who_it_is(void **state)
{
	static const struct {
		enum hostile_kind kind;
		const char *says;
	} silent[] = {{HOSTILE_STILL, ENDLESS},
		      {HOSTILE_BYTES, ENDLESS},
		      {HOSTILE_SILENT, NO_ANSWER},
		      {HOSTILE_BACKLOG, NO_ANSWER}};
	struct harness_process *p[4];
	struct hostile hostile[4];
	size_t i;

	(void)state;
	for (i = 0; i < 4; i++) {
		hostile_start(&hostile[i], &(struct hostile_how){.kind = silent[i].kind});
		p[i] = start("policy", hostile[i].path, NULL, NULL);
	}
	for (i = 0; i < 4; i++) {
		wait_for(p[i]);
		cli_expect_error(p[i], 2, "fiberctl", silent[i].says);
		hostile_end(&hostile[i]);
	}
}

/* A frame that does not belong in the answer ends it at once, or after all small ones. */
static void test_what_belongs_to_no_such_answer_ends_it(void **state)
{
	static const struct {
		enum hostile_kind kind;
		const char *command, *option, *says;
	} asked[] = {
		{HOSTILE_ROWS, "slow", NULL, "fibers among events"},
		{HOSTILE_ROWS, "pinned", "--follow", "fibers among events"},
		{HOSTILE_ROWS, "profile", "--for=1s", "fibers among events"},
		{HOSTILE_FLOOD, "top", "--once", ENDLESS},
		{HOSTILE_MAPS, "top", "--once", ENDLESS},
		{HOSTILE_HUGE, "list", NULL, LONG_FRAME},
		{HOSTILE_HUGE, "deadlock", NULL, LONG_FRAME},
	};
	const size_t count = sizeof(asked) / sizeof(asked[0]);
	struct harness_process *p;
	struct hostile hostile;
	size_t i;

	(void)state;
	for (i = 0; i < count; i++) {
		hostile_start(&hostile,
			      &(struct hostile_how){.kind = asked[i].kind, .greets = true});
		p = cli_run("fiberctl", asked[i].command, hostile.path, asked[i].option, NULL);
		cli_expect_error(p, 2, "fiberctl", asked[i].says);
		hostile_end(&hostile);
	}
}

/* -- large answers -- */

static const struct {
	enum hostile_kind kind;
	const char *command, *option[2], *says;
} slow[] = {
	{HOSTILE_STILL, "list", {NULL}, ENDLESS},
	{HOSTILE_FLOOD, "stacks", {NULL}, ENDLESS},
	{HOSTILE_BYTES, "show", {"7"}, ENDLESS},
	{HOSTILE_ROWS, "deadlock", {NULL}, ENDLESS},
	{HOSTILE_CLAIMS, "show", {"7"}, ENDLESS},
	{HOSTILE_MAPS, "list", {NULL}, "endless list of mappings"},
};
#define SLOW (sizeof(slow) / sizeof(slow[0]))

static struct {
	struct hostile hostile[SLOW];
	struct harness_process *process[SLOW];
} large;

/* A command may take 10 s: start all of them now, to run beside the other tests. */
static int start_large(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < SLOW; i++) {
		hostile_start(&large.hostile[i], &(struct hostile_how){.kind = slow[i].kind});
		large.process[i] = start(slow[i].command, large.hostile[i].path, slow[i].option[0],
					 slow[i].option[1]);
	}
	return 0;
}

static void test_large_answers_without_progress_have_an_end(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < SLOW; i++) {
		wait_for(large.process[i]);
		cli_expect_error(large.process[i], 2, "fiberctl", slow[i].says);
		hostile_end(&large.hostile[i]);
	}
}

/* -- many -- */

#define PROPER 95
static const enum hostile_kind bad[] = {HOSTILE_STILL, HOSTILE_FLOOD, HOSTILE_BYTES, HOSTILE_MAPS,
					HOSTILE_STILL};
#define BAD (sizeof(bad) / sizeof(bad[0]))

static struct {
	struct hostile proper[PROPER], bad[BAD];
} fleet;

static int start_fleet(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < PROPER; i++)
		hostile_start(&fleet.proper[i],
			      &(struct hostile_how){.kind = HOSTILE_PROPER,
						    .name = i ? "listener" : "the-one"});
	for (i = 0; i < BAD; i++)
		hostile_start(
			&fleet.bad[i],
			&(struct hostile_how){.kind = bad[i], .user = geteuid() ? 0 : STRANGER});
	return 0;
}

static int end_fleet(void **state)
{
	char folder[64];
	size_t i;

	(void)state;
	for (i = 0; i < PROPER; i++)
		hostile_end(&fleet.proper[i]);
	for (i = 0; i < BAD; i++)
		hostile_end(&fleet.bad[i]);
	snprintf(folder, sizeof folder, "/tmp/fiber-%d", STRANGER);
	rmdir(folder);
	return 0;
}

/* Assert one line for each listener except `but`, which answered the question. */
static void expect_left_out(const struct harness_process *p, enum hostile_kind but)
{
	char line[128];
	size_t i;

	for (i = 0; i < BAD; i++) {
		snprintf(line, sizeof line, "fiberctl: process %d: " ENDLESS ": left out\n",
			 (int)fleet.bad[i].pid);
		if (bad[i] != but)
			cli_contains(p->err.bytes, line);
	}
}

static void expect_numbers(const char *text)
{
	char part[64];
	unsigned n;
	size_t i;

	prom_check(text);
	for (i = 0; i < PROPER; i++) {
		snprintf(part, sizeof part, "pid=\"%d\"", (int)fleet.proper[i].pid);
		assert_true(prom_sum(text, "libfiber_up", part, &n) == 1);
		assert_int_equal(n, 1);
	}
	for (i = 0; i < BAD; i++) {
		snprintf(part, sizeof part, "pid=\"%d\"", (int)fleet.bad[i].pid);
		assert_true(prom_sum(text, "libfiber_up", part, &n) == 0);
		assert_int_equal(n, 1);
	}
}

static void test_metrics_of_all_have_an_end_and_everybody_elses_numbers(void **state)
{
	const int64_t began = harness_now();
	struct harness_process *p = cli_run("fiberctl", "metrics", NULL);
	const double took = seconds_since(began);

	(void)state;
	print_message("# metrics of %d programs, %zu hostile: %.2f s\n", PROPER + (int)BAD, BAD,
		      took);
	cli_expect(p, 1);
	expect_left_out(p, HOSTILE_PROPER);
	expect_numbers(p->out.bytes);
	/* The limits of five in sequence would be 5 s or more. */
	assert_true(took < 5);
	harness_free(p);
}

static void test_metrics_in_a_file_are_whole_and_the_exit_code_tells(void **state)
{
	char file[HARNESS_PATH], text[1 << 20] = "";
	struct harness_process *p;
	FILE *in;

	(void)state;
	p = cli_run("fiberctl", "metrics", "--output", harness_file(file, "all.prom"), NULL);
	cli_expect(p, 1);
	expect_left_out(p, HOSTILE_PROPER);
	in = fopen(file, "r");
	assert_non_null(in);
	assert_true(fread(text, 1, sizeof text - 1, in) > 0);
	fclose(in);
	expect_numbers(text);
	unlink(file);
	harness_free(p);
}

/* The list needs only the identity, which one listener sends before its endless answer. */
static void test_the_list_of_programs_has_an_end(void **state)
{
	struct harness_process *text = start("--json", NULL, NULL, NULL),
			       *json = start(NULL, NULL, NULL, NULL);
	size_t i;

	(void)state;
	wait_for(text);
	wait_for(json);
	for (i = 0; i < 2; i++) {
		struct harness_process *p = i ? text : json;

		cli_expect(p, 1);
		expect_left_out(p, HOSTILE_MAPS);
		cli_contains(p->out.bytes, cli_number((uint64_t)fleet.proper[0].pid));
		cli_contains(p->out.bytes, cli_number((uint64_t)fleet.proper[PROPER - 1].pid));
		harness_free(p);
	}
}

static void test_a_program_is_found_by_its_name_among_them(void **state)
{
	struct harness_process *p = cli_run("fiberctl", "list", "the-one", NULL);

	(void)state;
	cli_expect(p, 1);
	expect_left_out(p, HOSTILE_MAPS);
	cli_contains(p->out.bytes, "shown 1 of 1");
	harness_free(p);
}

/* Endless answers need no memory, even if there are many. */
static void test_no_memory_is_needed_for_what_does_not_end(void **state)
{
	struct harness_process *p;

	(void)state;
	if (strcmp(harness_sanitizer(), "") != 0)
		cli_skip("a sanitizer needs address space of its own");
	p = cli_run("/bin/sh", "-c", "ulimit -v 300000; exec \"$0\" metrics",
		    harness_program((char[HARNESS_PATH]){0}, "fiberctl"), NULL);
	cli_ended(p, 1);
}

static int start_all(void **state)
{
	return start_large(state) || start_fleet(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small_answers_have_an_end),
		cmocka_unit_test(test_who_does_not_even_say_who_it_is),
		cmocka_unit_test(test_what_belongs_to_no_such_answer_ends_it),
		cmocka_unit_test(test_metrics_of_all_have_an_end_and_everybody_elses_numbers),
		cmocka_unit_test(test_metrics_in_a_file_are_whole_and_the_exit_code_tells),
		cmocka_unit_test(test_the_list_of_programs_has_an_end),
		cmocka_unit_test(test_a_program_is_found_by_its_name_among_them),
		cmocka_unit_test(test_no_memory_is_needed_for_what_does_not_end),
		cmocka_unit_test(test_large_answers_without_progress_have_an_end),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, start_all, end_fleet);
}
