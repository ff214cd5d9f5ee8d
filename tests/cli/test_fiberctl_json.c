/* SPDX-License-Identifier: MIT */
/* test_fiberctl_json.c - JSON has time, place, function, stack and deadline of fibers */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/harness/cli/json.h"
#include "tests/harness/cli/one_crowd.h"
#include "tests/harness/watchdog.h"

static char file[HARNESS_PATH], host[256];
static json_int_t written; /* the file's time, ns of Unix time */

static int64_t wall(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int start(void **state)
{
	json_t *answer;

	(void)state;
	one_crowd("crowd", "66", NULL);
	gethostname(host, sizeof(host) - 1);
	answer = json_well(cli_run("fiberctl", "snapshot", pid, "-o", harness_file(file, "a.snap"),
				   "--json", NULL));
	written = json_int(json_object_get(answer, "snapshot"), "takenNs");
	assert_int_equal(json_int(answer, "takenNs"), written);
	assert_string_equal(json_text(answer, "host"), host);
	json_decref(answer);
	return 0;
}

/*
 * slow may be partial: on a busy machine a sanitizer build of the crowd has a long run in the
 * sanitizer's own code, whose stack cannot be walked to its end.
 */
static json_t *ask(const char *tool, const char *command, const char *process)
{
	struct harness_process *p = cli_run(tool, command, process, "--json", NULL);
	const bool partial =
		*harness_sanitizer() && strcmp(command, "slow") == 0 && harness_exit_code(p) == 1;

	return json_ended(p, partial ? 1 : 0);
}

static void test_each_answer_of_a_process_says_now_and_here(void **state)
{
	static const char *const commands[][2] = {
		{"fiberctl", "list"},	{"fiberctl", "tree"},	  {"fiberctl", "waits"},
		{"fiberctl", "stacks"}, {"fiberctl", "deadlock"}, {"fiberctl", "carriers"},
		{"fiberctl", "policy"}, {"fiberctl", "watchdog"}, {"fiberctl", "audit"},
		{"fiberctl", "slow"},	{"fiberctl", "pinned"},	  {"fiberctl", "top"},
		{"fibertrace", "list"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		const int64_t before = wall();
		json_t *answer = ask(commands[i][0], commands[i][1], pid);

		assert_true(json_int(answer, "takenNs") >= before);
		assert_true(json_int(answer, "takenNs") <= wall());
		assert_string_equal(json_text(answer, "host"), host);
		json_decref(answer);
	}
}

static void test_each_answer_of_a_snapshot_says_when_it_was_taken(void **state)
{
	static const char *const commands[] = {"list",	   "tree",     "waits",	 "stacks",
					       "deadlock", "carriers", "policy", "watchdog",
					       "audit",	   "slow",     "pinned"};

	(void)state;
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		json_t *answer = ask("fiberctl", commands[i], file);

		assert_int_equal(json_int(answer, "takenNs"), written);
		assert_string_equal(json_text(answer, "host"), host);
		json_decref(answer);
	}
}

static void test_a_core_does_not_say_when(void **state)
{
	char core[HARNESS_PATH];
	json_t *answer;

	(void)state;
	if (*harness_sanitizer())
		cli_skip("no cores of sanitizer builds");
	cli_core(crowd.process->pid, "core", core);
	answer = ask("fibertrace", "list", core);
	assert_true(json_is_null(json_object_get(answer, "takenNs")));
	assert_true(json_is_null(json_object_get(answer, "host")));
	json_decref(answer);
}

/* The answers from memory and from a snapshot are the same. */
static void test_a_fiber_has_its_function_and_the_address_of_its_stack(void **state)
{
	const struct crowd_member *m = crowd_find(&crowd, "sleep", "");
	const char *const id = cli_number(m->id);
	json_t *answers[] = {ask("fiberctl", "list", pid), ask("fiberctl", "list", file),
			     ask("fibertrace", "list", pid)};
	struct harness_process *p = cli_run("fiberctl", "show", pid, id, NULL);
	char text[64];
	size_t i;

	(void)state;
	cli_expect(p, 0);
	for (i = 0; i < 3; i++) {
		json_t *fiber = json_fiber(answers[i], m->id);

		snprintf(text, sizeof(text), "\nruns         %s at ", json_text(fiber, "entry"));
		cli_contains(p->out.bytes, text);
		snprintf(text, sizeof(text), " bytes from %s,",
			 json_text(json_object_get(fiber, "stack"), "address"));
		cli_contains(p->out.bytes, text);
		/* A fiber that has not started has no stack address. */
		fiber = json_fiber(answers[i], crowd_find(&crowd, "created", "")->id);
		assert_true(
			json_is_null(json_object_get(json_object_get(fiber, "stack"), "address")));
		assert_true(json_text(fiber, "entry")[0]);
		json_decref(answers[i]);
	}
	harness_free(p);
}

static void test_what_is_left_of_a_wait_gets_less(void **state)
{
	const uint64_t id = crowd_find(&crowd, "sleep", "")->id;
	json_t *first = ask("fiberctl", "list", pid), *later, *fiber;
	json_int_t left, deadline;
	size_t i, without = 0;

	(void)state;
	json_array_foreach (json_object_get(first, "fibers"), i, fiber) {
		const json_t *const wait = json_object_get(fiber, "wait");

		assert_int_equal(json_is_null(json_object_get(wait, "leftNs")),
				 json_is_null(json_object_get(wait, "deadlineNs")));
		without += json_is_null(json_object_get(wait, "leftNs"));
	}
	assert_in_range(without, 1, crowd.count - 1);
	fiber = json_object_get(json_fiber(first, id), "wait");
	left = json_int(fiber, "leftNs");
	deadline = json_int(fiber, "deadlineNs");
	assert_true(left > 0 && left < deadline);
	later = ask("fiberctl", "list", pid);
	fiber = json_object_get(json_fiber(later, id), "wait");
	assert_int_equal(json_int(fiber, "deadlineNs"), deadline);
	assert_true(json_int(fiber, "leftNs") < left);
	json_decref(later);
	json_decref(first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_answer_of_a_process_says_now_and_here),
		cmocka_unit_test(test_each_answer_of_a_snapshot_says_when_it_was_taken),
		cmocka_unit_test(test_a_core_does_not_say_when),
		cmocka_unit_test(test_a_fiber_has_its_function_and_the_address_of_its_stack),
		cmocka_unit_test(test_what_is_left_of_a_wait_gets_less),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, start, one_crowd_end);
}
