/* SPDX-License-Identifier: MIT */
/*
 * test_adapters.c - boost.context and ucontext programs that use fiber_layout.h look like libfiber
 * programs
 *
 * Each strand's number is spelled by the functions on its stack (fixtures/adapters/strands.h), so a
 * missing frame or one of another strand is noticed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/cli/crowd.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

#define STRANDS "150"

static const char *const programs[] = {"ucontext", "boost-context", "ucontext-O0",
				       "boost-context-O0"};
#define PROGRAMS (sizeof(programs) / sizeof(programs[0]))

/* All tools that show stacks: one reads the program, one reads its core. */
typedef json_t *look_fn(const struct crowd *crowd, const char *core);

static json_t *look_live(const struct crowd *crowd, const char *core)
{
	struct harness_process *p = cli_run("fibertrace", cli_number((uint64_t)crowd->process->pid),
					    "--json", "--each", NULL);
	json_t *answer = json_well(p);

	(void)core;
	json_promise_answer(answer, "live");
	return answer;
}

static json_t *look_core(const struct crowd *crowd, const char *core)
{
	struct harness_process *p = cli_run("fibertrace", "--core", core, "--json", "--each", NULL);
	json_t *answer = json_well(p);

	(void)crowd;
	json_promise_answer(answer, "core");
	return answer;
}

static json_t *look_to_core(const struct crowd *crowd, const char *core)
{
	char out[HARNESS_PATH];

	(void)core;
	cli_expect(cli_run("fibertrace", "to-core", cli_number((uint64_t)crowd->process->pid), "-o",
			   harness_file(out, "threads.core"), "--force", NULL),
		   0);
	return look_core(crowd, out);
}

static json_t *look_core_to_core(const struct crowd *crowd, const char *core)
{
	char out[HARNESS_PATH];

	cli_expect(cli_run("fibertrace", "to-core", "--core", core, "-o",
			   harness_file(out, "threads.core"), "--force", NULL),
		   0);
	return look_core(crowd, out);
}

static void needs_adapters(void)
{
	if (*harness_sanitizer())
		cli_skip("sanitizers want to be told of the stacks of boost.context and ucontext");
}

static const char *path_of(char *buf, const char *program)
{
	snprintf(buf, HARNESS_PATH, "%s/adapters/%s", harness_build(), program);
	return buf;
}

/* The number spelled by the functions of a walk, the last digit outermost; -1: none. */
static long spelled(const json_t *fiber)
{
	long number = -1;
	const json_t *frame;
	size_t i;

	json_array_foreach (json_object_get(fiber, "frames"), i, frame) {
		const char *const function = json_text(frame, "function");

		/* C++ names it digit_2(strand*, unsigned int). */
		if (!strncmp(function, "digit_", 6))
			number = (number < 0 ? 0 : number * 4) + (function[6] - '0');
	}
	return number;
}

/* Internal are the switch, where a strand does not run, and the entry, but not strand_wait(), which
 * the strand called. */
static void expect_internal(const json_t *frames, bool runs)
{
	const json_t *frame;
	size_t i;

	json_array_foreach (frames, i, frame)
		assert_int_equal(json_is_true(json_object_get(frame, "internal")),
				 (i == 0 && !runs) || i + 1 == json_array_size(frames));
}

/* symbols: whether the program has symbols. */
static void check_member(const struct crowd_member *m, const json_t *fiber, bool symbols)
{
	const json_t *const frames = json_object_get(fiber, "frames");
	const long number = atol(strrchr(m->name, '-') + 1);
	size_t count = json_array_size(frames), digits = 1;
	const char *first, *last;

	assert_non_null(fiber);
	json_promise_fiber(fiber, true);
	crowd_agree(m, fiber);
	assert_true(json_is_false(json_object_get(fiber, "truncated")));
	for (long rest = number / 4; rest; rest /= 4)
		digits++;
	if (!strcmp(m->kind, "created")) {
		assert_int_equal(count, 1);
		return;
	}
	assert_true(count > digits);
	expect_internal(frames, !strcmp(json_text(fiber, "state"), "running"));
	if (!symbols)
		return;
	assert_int_equal(spelled(fiber), number);
	first = json_text(json_array_get(frames, 0), "function");
	last = json_text(json_array_get(frames, count - 1), "function");
	assert_int_equal(strncmp(first, "strand_leave", 12), 0);
	assert_int_equal(strncmp(last, "enter", 5), 0);
}

static void check_all(const struct crowd *crowd, const json_t *answer, bool symbols)
{
	assert_true(json_is_true(json_object_get(answer, "complete")));
	assert_int_equal(json_int(answer, "shown"), crowd->count);
	for (size_t i = 0; i < crowd->count; i++)
		check_member(&crowd->members[i], json_fiber(answer, crowd->members[i].id), symbols);
}

static void test_every_strand_is_shown_with_its_own_frames(void **state)
{
	(void)state;
	needs_adapters();
	for (size_t i = 0; i < PROGRAMS; i++) {
		char path[HARNESS_PATH];
		struct crowd crowd = crowd_start(NULL, path_of(path, programs[i]), STRANDS, NULL);
		json_t *answer = look_live(&crowd, NULL);

		assert_int_equal(crowd.count, atoi(STRANDS));
		assert_int_equal(strncmp(programs[i], json_text(answer, "name"),
					 strlen(json_text(answer, "name"))),
				 0);
		check_all(&crowd, answer, true);
		json_decref(answer);
		crowd_end(&crowd);
	}
}

static void test_they_are_grouped_by_their_stacks(void **state)
{
	char path[HARNESS_PATH];
	struct harness_process *p;
	struct crowd crowd;

	(void)state;
	needs_adapters();
	crowd = crowd_start(NULL, path_of(path, "boost-context"), "20", NULL);
	p = cli_run("fibertrace", cli_number((uint64_t)crowd.process->pid), NULL);
	cli_expect(p, 0);
	/* Strands 4, 9, 14 and 19 have not started. */
	cli_contains(p->out.bytes, "4 fibers [created");
	cli_contains(p->out.bytes, "[suspended: event \"door-1\"");
	cli_contains(p->out.bytes, "shown 20 of 20 fibers");
	harness_free(p);
	crowd_end(&crowd);
}

/* Delete the fields that change over time or differ in a core. */
static void forget_times(json_t *fiber)
{
	json_object_del(fiber, "ageNs");
	json_object_del(json_object_get(fiber, "stack"), "highWater");
}

static void check_equal(const struct crowd *crowd, const json_t *live, const json_t *core)
{
	for (size_t i = 0; i < crowd->count; i++) {
		json_t *const a = json_fiber(live, crowd->members[i].id);
		json_t *const b = json_fiber(core, crowd->members[i].id);

		forget_times(a);
		forget_times(b);
		if (!json_equal(a, b))
			print_error("%s\n%s\n", json_dumps(a, 0), json_dumps(b, 0));
		assert_true(json_equal(a, b));
	}
}

static void test_a_core_says_what_the_program_said(void **state)
{
	/* scripts/test-adapters.py checks what debuggers see in the last two and in the program. */
	look_fn *const looks[] = {look_core, look_to_core, look_core_to_core};

	(void)state;
	needs_adapters();
	for (size_t i = 0; i < PROGRAMS; i++) {
		char path[HARNESS_PATH], core[HARNESS_PATH];
		struct crowd crowd = crowd_start(NULL, path_of(path, programs[i]), "40", NULL);
		json_t *live = look_live(&crowd, NULL);

		cli_core(crowd.process->pid, programs[i], core);
		for (size_t k = 0; k < sizeof(looks) / sizeof(looks[0]); k++) {
			json_t *answer = looks[k](&crowd, core);

			check_all(&crowd, answer, true);
			check_equal(&crowd, live, answer);
			json_decref(answer);
		}
		json_decref(live);
		crowd_end(&crowd);
	}
}

static void test_a_stripped_program_is_walked_as_far(void **state)
{
	(void)state;
	needs_adapters();
	for (size_t i = 0; i < PROGRAMS; i++) {
		char path[HARNESS_PATH], stripped[HARNESS_PATH], core[HARNESS_PATH];
		const char *const strip[] = {"strip", "-o", harness_file(stripped, programs[i]),
					     path_of(path, programs[i]), NULL};
		struct harness_process *p = harness_run(strip, NULL, CLI_SECONDS);
		struct crowd crowd;
		json_t *answer;

		cli_ended(p, 0);
		crowd = crowd_start(NULL, stripped, "40", NULL);
		answer = look_live(&crowd, NULL);
		check_all(&crowd, answer, false);
		json_decref(answer);
		cli_core(crowd.process->pid, "stripped-core", core);
		answer = look_core(&crowd, core);
		check_all(&crowd, answer, false);
		json_decref(answer);
		crowd_end(&crowd);
	}
}

/* The running strand may be caught in library code that does not describe its frames. */
static json_t *look_busy(const struct crowd *crowd)
{
	struct harness_process *p = cli_run("fibertrace", cli_number((uint64_t)crowd->process->pid),
					    "--json", "--each", NULL);
	json_t *answer = json_answer(p);
	const json_t *problem;
	size_t i;

	cli_expect(p, json_array_size(json_object_get(answer, "problems")) ? 1 : 0);
	json_array_foreach (json_object_get(answer, "problems"), i, problem)
		cli_contains(json_string_value(problem), "a backtrace is truncated: ");
	harness_free(p);
	return answer;
}

/*
 * Each strand runs about 100,000 times a second. An answer shows a strand as it was at one moment,
 * or as running.
 */
static void test_strands_that_move_are_shown_as_they_were_or_as_running(void **state)
{
	(void)state;
	needs_adapters();
	for (size_t i = 0; i < PROGRAMS; i++) {
		char path[HARNESS_PATH];
		struct crowd crowd = crowd_start(NULL, path_of(path, programs[i]), "12", "--busy");
		unsigned walked = 0;

		for (unsigned look = 0; look < 20 || (!walked && look < 1000); look++) {
			json_t *answer = look_busy(&crowd);

			for (size_t k = 0; k < crowd.count; k++) {
				const json_t *const fiber = json_fiber(answer, crowd.members[k].id);

				assert_non_null(fiber);
				if (!strcmp(json_text(fiber, "state"), "running"))
					continue;
				check_member(&crowd.members[k], fiber, true);
				walked += strcmp(crowd.members[k].kind, "created") != 0;
			}
			json_decref(answer);
		}
		assert_true(walked > 0);
		crowd_end(&crowd);
	}
}

/* A running strand has the frames of its thread, not those of its last suspension. */
static void test_a_strand_that_runs_is_where_its_thread_is(void **state)
{
	(void)state;
	needs_adapters();
	for (size_t i = 0; i < PROGRAMS; i++) {
		char path[HARNESS_PATH], core[HARNESS_PATH];
		struct crowd crowd = crowd_start(NULL, path_of(path, programs[i]), "3", "--spin");
		json_t *answer = NULL;

		/* The strand is in state "ready" until just before it runs. */
		for (unsigned look = 0; look < 1000; look++) {
			answer = look_busy(&crowd);
			if (spelled(json_fiber(answer, 1)) == 0 &&
			    !strcmp(json_text(json_fiber(answer, 1), "state"), "running"))
				break;
			json_decref(answer);
			answer = NULL;
		}
		assert_non_null(answer);
		json_decref(answer);
		cli_core(crowd.process->pid, programs[i], core);
		answer = look_core(&crowd, core);
		assert_string_equal(json_text(json_fiber(answer, 1), "state"), "running");
		assert_true(json_is_true(json_object_get(json_fiber(answer, 1), "paused")));
		assert_int_equal(spelled(json_fiber(answer, 1)), 0);
		check_member(&crowd.members[1], json_fiber(answer, 2), true);
		json_decref(answer);
		crowd_end(&crowd);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_strand_is_shown_with_its_own_frames),
		cmocka_unit_test(test_they_are_grouped_by_their_stacks),
		cmocka_unit_test(test_a_core_says_what_the_program_said),
		cmocka_unit_test(test_a_stripped_program_is_walked_as_far),
		cmocka_unit_test(test_a_strand_that_runs_is_where_its_thread_is),
		cmocka_unit_test(test_strands_that_move_are_shown_as_they_were_or_as_running),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
