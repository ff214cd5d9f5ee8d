/* SPDX-License-Identifier: MIT */
/* test_fibertrace_crash.c - cores of programs killed by a signal: which fiber ran, and where */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "tests/harness/cli/dead.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

static char core[HARNESS_PATH];

/*
 * Make a core of the fixture crash, run in this way. signal: sent to kill it; 0: it dies by itself.
 */
static void die(const char *way, int signal)
{
	const struct harness_how how = dead_how();
	struct harness_process *p;
	bool dumped;

	if (*harness_sanitizer())
		cli_skip("no cores of sanitizer builds");
	p = cli_start(&how, "worker runs", "crash", way, NULL);
	dumped = dead_core(p, signal, way, core);
	harness_free(p);
	if (!dumped)
		cli_skip("the system writes no plain core files");
}

/* Assert that this fiber is complete and has these functions in its frames, in this order. */
static void expect_frames(const json_t *answer, const char *name, const char *const functions[])
{
	const json_t *fiber, *frame;
	size_t i, k, n = 0;

	json_array_foreach (json_object_get(answer, "fibers"), i, fiber) {
		if (strcmp(json_text(fiber, "name"), name) != 0)
			continue;
		assert_true(json_is_false(json_object_get(fiber, "truncated")));
		json_array_foreach (json_object_get(fiber, "frames"), k, frame)
			if (functions[n] && !json_is_null(json_object_get(frame, "function")) &&
			    !strcmp(json_text(frame, "function"), functions[n]))
				n++;
		if (functions[n])
			fail_msg("%s is not among the frames of %s", functions[n], name);
		return;
	}
	fail_msg("there is no fiber %s", name);
}

static json_t *ask(void)
{
	struct harness_process *p = cli_run("fibertrace", core, "--json", "--each", NULL);
	json_t *answer = json_well(p);

	json_promise_answer(answer, "core");
	return answer;
}

/* The head of the text output. */
static void expect_head(const char *text, const char *more)
{
	struct harness_process *p = cli_run("fibertrace", core, NULL);
	char *blank;

	cli_expect(p, 0);
	blank = strstr(p->out.bytes, "\n\n");
	assert_non_null(blank);
	*blank = 0;
	cli_contains(p->out.bytes, text);
	cli_contains(p->out.bytes, more);
	harness_free(p);
}

static const char *const worker[] = {"die", "middle", "worker_main", NULL};

static void test_a_fault_names_the_fiber_and_its_frames(void **state)
{
	const json_t *crash, *fiber;
	json_t *answer;

	(void)state;
	die("write", 0);
	answer = ask();
	expect_frames(answer, "worker", worker);
	expect_frames(answer, "bystander", (const char *const[]){"parked_main", NULL});
	crash = json_object_get(answer, "crash");
	json_promise(crash, "crash",
		     "signal:i signalName:s? thread:i sender:i? pc:x address:x? fiberId:i?");
	assert_int_equal(json_int(crash, "signal"), SIGSEGV);
	assert_string_equal(json_text(crash, "signalName"), "SIGSEGV");
	assert_string_equal(json_text(crash, "address"), "0x123");
	fiber = json_fiber(answer, (uint64_t)json_int(crash, "fiberId"));
	assert_string_equal(json_text(fiber, "name"), "worker");
	assert_string_equal(json_text(json_array_get(json_object_get(fiber, "frames"), 0), "pc"),
			    json_text(crash, "pc"));
	json_decref(answer);
	expect_head("\"worker\" was running when signal 11 (SIGSEGV) came at 0x",
		    ", for address 0x123");
}

static void test_an_abort_is_walked_out_of_the_library(void **state)
{
	json_t *answer;

	(void)state;
	die("abort", 0);
	answer = ask();
	expect_frames(answer, "worker", worker);
	/* After an abort() there is no sending process. */
	assert_true(json_is_null(json_object_get(json_object_get(answer, "crash"), "sender")));
	json_decref(answer);
	expect_head("\"worker\" was running when signal 6 (SIGABRT) came at 0x", "");
}

/* Assert that to-core reports the thread on which the fiber runs. */
static void expect_thread_of(json_int_t fiber)
{
	char out[HARNESS_PATH];
	struct harness_process *p = cli_run("fibertrace", "to-core", "--core", core, "-o",
					    harness_file(out, "threads"), "--json", NULL);
	const json_t *one;
	json_t *answer;
	bool seen = false;
	size_t i;

	answer = json_well(p);
	json_array_foreach (json_object_get(json_object_get(answer, "core"), "running"), i, one)
		seen = seen || (json_int(one, "id") == fiber && json_int(one, "thread") > 0);
	assert_true(seen);
	json_decref(answer);
	p = cli_run("fibertrace", "to-core", "--core", core, "-o", out, "--force", NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "\n1 fiber is a thread: ");
	harness_free(p);
}

static void test_a_handler_that_reports_crashes_does_not_hide_who_crashed(void **state)
{
	static const char *const all[] = {"report_crash", "die_at_once", "die",
					  "middle",	  "worker_main", NULL};
	json_int_t crashed;
	json_t *answer;

	(void)state;
	die("reporter", 0);
	answer = ask();
	expect_frames(answer, "worker", all);
	crashed = json_int(json_object_get(answer, "crash"), "fiberId");
	json_decref(answer);
	expect_thread_of(crashed);
	expect_head("\"worker\" was running when signal 6 (SIGABRT) came at 0x", "");
}

/* The kernel has saved the interrupted code's registers beside the handler's frame. */
static void test_whom_a_handler_interrupted_has_its_values(void **state)
{
	struct harness_process *p;

	(void)state;
	die("reporter", 0);
	p = cli_run("fibertrace", "bt", "--core", core, "--all", "--args", NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, " middle+0x");
	cli_contains(p->out.bytes, "nowhere = 0x123");
	harness_free(p);
}

static void test_a_call_of_nothing_has_a_caller(void **state)
{
	static const char *const all[] = {"report_crash", "jump",	 "die",
					  "middle",	  "worker_main", NULL};
	json_t *answer;

	(void)state;
	die("jump", 0);
	answer = ask();
	expect_frames(answer, "worker", all + 1);
	json_decref(answer);
	die("jump-reporter", 0);
	answer = ask();
	expect_frames(answer, "worker", all);
	json_decref(answer);
}

static void test_a_program_killed_from_outside_says_by_whom_and_what_ran(void **state)
{
	char sender[64];
	json_t *answer;

	(void)state;
	/* Not SIGQUIT, which shells make background programs ignore. */
	die("spin", SIGSYS);
	answer = ask();
	expect_frames(answer, "worker", worker);
	json_decref(answer);
	snprintf(sender, sizeof(sender), "sent by process %d", (int)getpid());
	/* The signal was delivered to the main thread, which runs no fiber. */
	expect_head("when signal 31 (SIGSYS) came at 0x", sender);
}

static void test_an_overflow_is_walked_from_the_guard(void **state)
{
	const struct harness_how how = dead_how();
	struct harness_process *p;
	bool dumped;

	(void)state;
	if (*harness_sanitizer())
		cli_skip("no cores of sanitizer builds");
	p = cli_start(&how, "fiber", "overflow", "--stack", "16384", NULL);
	dumped = dead_core(p, 0, "overflow", core);
	harness_free(p);
	if (!dumped)
		cli_skip("the system writes no plain core files");
	expect_head("\"deep\" was running when signal 11 (SIGSEGV) came at 0x", "for address 0x");
	expect_frames(ask(), "deep",
		      (const char *const[]){"descend", "descend", "descend", "deep_main", NULL});
}

static void test_a_gcore_has_no_crash_and_the_running_fiber(void **state)
{
	struct harness_process *p;
	json_t *answer;

	(void)state;
	if (*harness_sanitizer())
		cli_skip("no cores of sanitizer builds");
	p = cli_start(NULL, "worker runs", "crash", "spin", NULL);
	cli_core(p->pid, "gcore", core);
	harness_free(p);
	answer = ask();
	expect_frames(answer, "worker", worker);
	assert_true(json_is_null(json_object_get(answer, "crash")));
	json_decref(answer);
}

static void test_a_gcore_has_who_is_in_a_handler(void **state)
{
	struct harness_process *p;
	json_t *answer;

	(void)state;
	if (*harness_sanitizer())
		cli_skip("no cores of sanitizer builds");
	p = cli_start(NULL, "reporter hangs", "crash", "hang-reporter", NULL);
	cli_core(p->pid, "gcore", core);
	harness_free(p);
	answer = ask();
	expect_frames(answer, "worker",
		      (const char *const[]){"report_crash", "die_at_once", "die", "middle",
					    "worker_main", NULL});
	json_decref(answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_fault_names_the_fiber_and_its_frames),
		cmocka_unit_test(test_an_abort_is_walked_out_of_the_library),
		cmocka_unit_test(test_a_handler_that_reports_crashes_does_not_hide_who_crashed),
		cmocka_unit_test(test_whom_a_handler_interrupted_has_its_values),
		cmocka_unit_test(test_a_call_of_nothing_has_a_caller),
		cmocka_unit_test(test_a_program_killed_from_outside_says_by_whom_and_what_ran),
		cmocka_unit_test(test_an_overflow_is_walked_from_the_guard),
		cmocka_unit_test(test_a_gcore_has_no_crash_and_the_running_fiber),
		cmocka_unit_test(test_a_gcore_has_who_is_in_a_handler),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
