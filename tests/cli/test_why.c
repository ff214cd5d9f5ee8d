/* SPDX-License-Identifier: MIT */
/*
 * test_why.c - each fault of the fixture trouble is found, and its twin is not, from every source
 *
 * fiberctl asks the program; fibertrace reads it while it runs and while it is stopped, a snapshot and
 * a core. All give the same verdict.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

#define LASTS 3
#define SLOW  4

static const struct trouble {
	const char *name;
	const char *rule; /* NULL: nothing must be found */
	int code;
	const char *function; /* of its place; "": it has none that can be known */
	bool files;	      /* a core and a snapshot have it too */
	const char *time;     /* of --for */
} troubles[] = {
	{"convoy", "convoy", SLOW, "compact", true, "0.2"},
	{"deadlock", "deadlock", LASTS, "first_then_second", true, "0.2"},
	{"carrier", "carrier", SLOW, "", true, "0.2"},
	{"delay", "delay", SLOW, "compute_long_and_yield", true, "0.2"},
	{"pinned", "pinned", SLOW, "", true, "0.2"},
	{"stack", "stack", SLOW, "fill", true, "0.2"},
	{"growth", "growth", SLOW, "begin", false, "2s"},
	{"limits", "limits", SLOW, "", false, "0.2"},
	{"no-convoy", NULL, 0, "", true, "0.2"},
	{"no-deadlock", NULL, 0, "", true, "0.2"},
	{"no-carrier", NULL, 0, "", true, "0.2"},
	{"no-pinned", NULL, 0, "", true, "0.2"},
	{"no-stack", NULL, 0, "", true, "0.2"},
	{"no-growth", NULL, 0, "", true, "2s"},
	{"no-limits", NULL, 0, "", true, "0.2"},
};

static const json_t *finding(const json_t *answer, const char *rule)
{
	const json_t *found;
	size_t i;

	json_array_foreach (json_object_get(answer, "findings"), i, found)
		if (!strcmp(json_text(found, "rule"), rule))
			return found;
	return NULL;
}

/* Ask for the verdict on a program or a file. stopped: that is a finding too. */
static void expect(const struct trouble *t, const char *tool, const char *who, bool stopped)
{
	struct harness_process *p = cli_run(tool, "why", who, "--json", "--for", t->time, NULL);
	json_t *answer = json_ended(p, stopped ? LASTS : t->code);
	const size_t count = json_array_size(json_object_get(answer, "findings"));
	const json_t *found = t->rule ? finding(answer, t->rule) : NULL;
	/* A process that does not run delays fibers without a fault of its own. */
	const bool hidden =
		stopped && t->rule && (!strcmp(t->rule, "carrier") || !strcmp(t->rule, "delay"));

	if (count != (stopped ? 1u : 0u) + (t->rule && !hidden ? 1u : 0u))
		fail_msg("%s %s %s: %s", tool, t->name, who, json_dumps(answer, 0));
	json_promise(answer, "answer", JSON_ANSWER " findings:a found:i");
	assert_int_equal(json_int(answer, "found"), count);
	if (stopped)
		assert_non_null(finding(answer, "stopped"));
	if (t->rule && !hidden) {
		assert_non_null(found);
		json_promise(found, "finding",
			     "rule:s severity:s fibers:i fiberIds:a place:s? text:s evidence:a");
		assert_string_equal(json_text(found, "severity"),
				    t->code == LASTS ? "lasting" : "slow");
		cli_contains(json_text(found, "place"), t->function);
	}
	json_decref(answer);
}

static void expect_everywhere(void **state)
{
	const struct trouble *t = *state;
	struct harness_process *p = cli_start(NULL, "ready ", "trouble", t->name, NULL), *q;
	char who[32], snapshot[HARNESS_PATH], core[HARNESS_PATH];
	const struct trouble in_a_file = {
		t->name, t->files ? t->rule : NULL, t->files ? t->code : 0, t->function, true,
		t->time};

	snprintf(who, sizeof who, "%d", (int)p->pid);
	expect(t, "fiberctl", who, false);
	/* 1: the stack of a fiber that runs is missing in it. */
	q = cli_run("fiberctl", "snapshot", who, "-o", harness_file(snapshot, "trouble.snap"),
		    "--force", NULL);
	assert_true(q->ended && (q->status == 0 || WEXITSTATUS(q->status) == 1));
	harness_free(q);
	expect(&in_a_file, "fiberctl", snapshot, false);
	/* growth needs a program that runs between the readings. */
	if (!*harness_sanitizer()) {
		expect(t, "fibertrace", who, false);
		cli_core(p->pid, "trouble.core", core);
		expect(&in_a_file, "fibertrace", core, false);
		assert_int_equal(kill(p->pid, SIGSTOP), 0);
		if (strcmp(t->name, "growth"))
			expect(t, "fibertrace", who, true);
		assert_int_equal(kill(p->pid, SIGCONT), 0);
	}
	harness_free(p);
}

static void test_text_has_the_numbers_the_place_and_the_command_for_more(void **state)
{
	struct harness_process *p = cli_start(NULL, "ready ", "trouble", "convoy", NULL), *q;
	char who[32], line[128];

	(void)state;
	snprintf(who, sizeof who, "%d", (int)p->pid);
	q = cli_run("fiberctl", "why", who, NULL);
	cli_expect(q, SLOW);
	snprintf(line, sizeof line,
		 "trouble (pid %s): 5 of 9 fibers wait for locks behind one that sleeps\n", who);
	assert_int_equal(strncmp(q->out.bytes, line, strlen(line)), 0);
	cli_contains(q->out.bytes,
		     "\n  fiber 2 \"compactor\" holds rwlock \"table\" for at least ");
	cli_contains(q->out.bytes, " left at trouble.c:");
	cli_contains(q->out.bytes, " in compact\n  behind it: 4 in rwlock-read (longest ");
	snprintf(line, sizeof line, "\n  more: fiberctl show %s 2; fiberctl waits %s\n", who, who);
	cli_contains(q->out.bytes, line);
	cli_contains(q->out.bytes,
		     "\nnothing else: 2 wait for input, 2 sleep, 5 wait for locks, 0 ");
	harness_free(q);
	harness_free(p);
}

static void test_text_of_a_healthy_program_says_what_it_waits_for(void **state)
{
	struct harness_process *p = cli_start(NULL, "ready ", "trouble", "no-convoy", NULL), *q;

	(void)state;
	q = cli_run("fiberctl", "why", cli_number((uint64_t)p->pid), NULL);
	cli_expect(q, 0);
	assert_int_equal(strncmp(q->out.bytes, "nothing found: 2 wait for input, ", 33), 0);
	harness_free(q);
	harness_free(p);
}

/* Ask for the verdict on a program without fibers, or its core. NULL: nothing must be found. */
static void expect_of_threads(const char *who, const char *rule, int code, const char *place)
{
	json_t *answer = json_ended(cli_run("fibertrace", "why", who, "--json", NULL), code);
	const json_t *found = rule ? finding(answer, rule) : NULL;

	if (json_array_size(json_object_get(answer, "findings")) != (rule ? 1u : 0u))
		fail_msg("%s: %s", who, json_dumps(answer, 0));
	if (rule) {
		assert_non_null(found);
		cli_contains(json_text(found, "text"), " threads wait for ");
		cli_contains(json_text(found, "place"), place);
	}
	json_decref(answer);
}

static void test_verdict_of_threads(void **state)
{
	static const struct {
		const char *scene, *rule, *place;
		int code;
	} scenes[] = {
		{"ring", "deadlock", " in lock_next", LASTS},
		{"convoy", "convoy", " in lock_and_sleep", SLOW},
		{"busy", NULL, "", 0},
	};
	char who[32], core[HARNESS_PATH];

	(void)state;
	if (*harness_sanitizer())
		cli_skip("a sanitizer takes the place of the C library's locks");
	for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
		struct harness_process *p =
			cli_start(NULL, "ready ", "threads", scenes[i].scene, "5", NULL);

		snprintf(who, sizeof who, "%d", (int)p->pid);
		expect_of_threads(who, scenes[i].rule, scenes[i].code, scenes[i].place);
		if (i == 0) {
			cli_core(p->pid, "threads.core", core);
			expect_of_threads(core, scenes[i].rule, scenes[i].code, scenes[i].place);
		}
		harness_free(p);
	}
}

/* What `fiberctl` alone says beside a program. */
static void expect_word(const char *name, const char *word)
{
	struct harness_process *p = cli_start(NULL, "ready ", "trouble", name, NULL), *q;
	char pattern[64];
	const char *line;

	q = cli_run("fiberctl", NULL);
	snprintf(pattern, sizeof pattern, "\n%10d ", (int)p->pid);
	line = strstr(q->out.bytes, pattern);
	assert_non_null(line);
	snprintf(pattern, sizeof pattern, " %s ", word);
	line = strstr(line + 1, pattern);
	if (!line)
		fail_msg("no \"%s\" beside %d in:\n%s", word, (int)p->pid, q->out.bytes);
	harness_free(q);
	harness_free(p);
}

static void test_list_of_programs_has_the_verdict_in_a_word(void **state)
{
	(void)state;
	expect_word("convoy", "convoy 5");
	expect_word("deadlock", "deadlock 2");
	expect_word("no-convoy", "ok");
}

static bool why_lasts(void *pid)
{
	struct harness_process *p = cli_run("fiberctl", "why", (const char *)pid, NULL);
	bool ret = harness_exit_code(p) == LASTS;

	harness_free(p);
	return ret;
}

/* The main thread enters the library just after the fixture is ready. */
static void expect_deadlock(const char *option, const char *more, const char *text)
{
	struct harness_process *p = cli_start(NULL, "ready", "deadlock", option, more, NULL), *q;
	const char *pid = cli_number((uint64_t)p->pid);

	assert_true(harness_until(why_lasts, (void *)pid, 30));
	q = cli_run("fiberctl", "why", pid, NULL);
	cli_expect(q, LASTS);
	cli_contains(q->out.bytes, text);
	harness_free(q);
	harness_free(p);
}

static void test_waits_that_no_fiber_and_no_thread_can_end_are_found(void **state)
{
	(void)state;
	if (strcmp(harness_sanitizer(), "thread") == 0)
		cli_skip("ThreadSanitizer adds a thread of its own to each program");
	expect_deadlock("--semaphore", "--finish",
			"all 2 fibers wait, and nothing is left that could wake one");
}

static void test_readers_that_wait_for_each_other_are_found(void **state)
{
	(void)state;
	expect_deadlock("--upgrade", "2", "2 fibers wait for each other");
}

static void test_usage_errors_are_named(void **state)
{
	(void)state;
	cli_expect_error(cli_run("fiberctl", "why", "1", "--for", "soon", NULL), 64, "fiberctl",
			 "--for");
	cli_expect_error(cli_run("fiberctl", "why", cli_gone(), NULL), 2, "fiberctl",
			 "no such process");
}

int main(void)
{
	struct CMUnitTest tests[sizeof troubles / sizeof *troubles + 7] = {
		cmocka_unit_test(test_text_has_the_numbers_the_place_and_the_command_for_more),
		cmocka_unit_test(test_text_of_a_healthy_program_says_what_it_waits_for),
		cmocka_unit_test(test_usage_errors_are_named),
		cmocka_unit_test(test_verdict_of_threads),
		cmocka_unit_test(test_waits_that_no_fiber_and_no_thread_can_end_are_found),
		cmocka_unit_test(test_readers_that_wait_for_each_other_are_found),
		cmocka_unit_test(test_list_of_programs_has_the_verdict_in_a_word),
	};
	static char names[sizeof troubles / sizeof *troubles][64];

	for (size_t i = 0; i < sizeof troubles / sizeof *troubles; i++) {
		snprintf(names[i], sizeof names[i], "test_verdict_of_%s_is_the_same_everywhere",
			 troubles[i].name);
		tests[i + 7] = (struct CMUnitTest){names[i], expect_everywhere, NULL, NULL,
						   (void *)(uintptr_t)&troubles[i]};
	}
	harness_watchdog(110);
	return _cmocka_run_group_tests("why", tests, sizeof tests / sizeof *tests, NULL, NULL);
}
