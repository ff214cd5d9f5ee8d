/* SPDX-License-Identifier: MIT */
/*
 * test_fiberctl_deadlock_thread.c - the stack of a plain thread that holds what a fiber waits for
 *
 * It is read from the program over the socket, from its memory, from a snapshot and from a core.
 * All must agree on the called functions and their order; a sanitizer adds its own frames.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/cli/json.h"
#include "tests/harness/cli/one_crowd.h"
#include "tests/harness/watchdog.h"

static char snapshot[HARNESS_PATH], core[HARNESS_PATH];

/* The thread that holds this lock, as the tool reports it. The caller releases the thread. */
static json_t *thread_of(const char *tool, const char *how, const char *who, const char *lock)
{
	/* Without `how` the process is the last argument. */
	struct harness_process *p =
		cli_run(tool, "deadlock", "--json", how ? how : who, how ? who : NULL, NULL);
	json_t *answer, *finding, *thread = NULL;
	size_t i;

	answer = json_well(p);
	assert_true(json_is_true(json_object_get(answer, "complete")));
	json_array_foreach (json_object_get(answer, "findings"), i, finding) {
		const json_t *of = json_object_get(finding, "lock");

		if (strcmp(json_text(of, "objectName"), lock) != 0)
			continue;
		thread = json_incref(json_object_get(finding, "thread"));
		json_promise(thread, "thread",
			     "tid:i systemCall:s? frames:a framesLeftOut:i truncated:b why:s?");
		json_promise_frames(json_object_get(thread, "frames"));
		assert_int_equal(json_int(thread, "tid"), json_int(of, "holderThread"));
	}
	assert_non_null(thread);
	json_decref(answer);
	return thread;
}

/* The index of the first frame of this function at or after `from`; asserts that it exists. */
static size_t frame_of(const json_t *thread, size_t from, const char *function)
{
	const json_t *frames = json_object_get(thread, "frames");

	for (; from < json_array_size(frames); from++)
		if (strcmp(json_text(json_array_get(frames, from), "function"), function) == 0)
			return from;
	cli_contains(json_dumps(frames, 0), function);
	fail();
	return 0;
}

static bool is_asleep(void *arg)
{
	json_t *thread = thread_of("fiberctl", NULL, pid, "asleep");
	const bool ret = *json_text(thread, "systemCall") != 0;

	(void)arg;
	json_decref(thread);
	return ret;
}

static int start(void **state)
{
	struct harness_process *p;

	(void)state;
	one_crowd("deadlock", "--thread-asleep", "--thread-running");
	if (!harness_until(is_asleep, NULL, CLI_SECONDS))
		return -1;
	p = cli_run("fiberctl", "snapshot", pid, "-o", harness_file(snapshot, "a.snap"), NULL);
	cli_ended(p, 0);
	if (!*harness_sanitizer())
		cli_core(crowd.process->pid, "core", core);
	return 0;
}

static const struct way {
	const char *tool, *how, *who, *source;
} ways[] = {
	{"fiberctl", NULL, pid, "control"},
	{"fibertrace", NULL, pid, "live"},
	{"fiberctl", NULL, snapshot, "snapshot"},
	{"fibertrace", "--snapshot", snapshot, "snapshot"},
	{"fibertrace", "--core", core, "core"},
};
#define WAYS (sizeof(ways) / sizeof(ways[0]))

static json_t *by(const struct way *way, const char *lock)
{
	return thread_of(way->tool, way->how, way->who, lock);
}

static void test_every_way_has_the_frames_of_a_thread_that_sleeps(void **state)
{
	json_t *told = by(&ways[0], "asleep");

	(void)state;
	for (size_t i = 0; i < WAYS && *ways[i].who; i++) {
		json_t *thread = by(&ways[i], "asleep");
		const size_t at = frame_of(thread, 0, "keep_asleep");

		assert_true(at > 0);
		assert_true(frame_of(thread, at, "keeper_main") > at);
		if (!*harness_sanitizer())
			assert_int_equal(frame_of(thread, at, "keep_lock"), at + 1);
		assert_true(json_is_false(json_object_get(thread, "truncated")));
		assert_true(json_is_null(json_object_get(thread, "why")));
		assert_string_equal(json_text(thread, "systemCall"), "pause");
		assert_true(json_equal(json_object_get(thread, "frames"),
				       json_object_get(told, "frames")));
		json_decref(thread);
	}
	json_decref(told);
}

static void test_a_thread_that_computes_has_frames_in_a_core_only(void **state)
{
	(void)state;
	for (size_t i = 0; i < WAYS && *ways[i].who; i++) {
		json_t *thread = by(&ways[i], "running");

		assert_true(json_is_null(json_object_get(thread, "systemCall")));
		if (strcmp(ways[i].source, "core") == 0) {
			assert_int_equal(frame_of(thread, 0, "keep_running"), 0);
			assert_int_equal(frame_of(thread, 0, "keep_lock"), 1);
			frame_of(thread, 1, "keeper_main");
		} else {
			assert_int_equal(json_array_size(json_object_get(thread, "frames")), 0);
			assert_string_equal(json_text(thread, "why"),
					    "it runs; no stack without stopping it");
		}
		json_decref(thread);
	}
}

/* The lines of the findings stay the same; the thread follows the fibers. */
static void test_text_has_the_frames_below_the_fibers(void **state)
{
	struct harness_process *p = cli_run("fiberctl", "deadlock", pid, NULL);
	const char *at, *frame;
	char line[128];

	(void)state;
	cli_expect(p, 0);
	snprintf(line, sizeof(line), "\nthread %s \"asleep\" [in system call pause]\n  #0  ",
		 strchr(crowd_find(&crowd, "mutex", "asleep")->holder, ':') + 1);
	at = strstr(p->out.bytes, line);
	if (!at)
		cli_contains(p->out.bytes, line);
	frame = strstr(at, " keep_asleep+0x");
	assert_non_null(frame);
	assert_true(strstr(frame, " keeper_main+0x") != NULL);
	assert_true(strstr(p->out.bytes, "fiber_mutex_lock") < at);
	snprintf(line, sizeof(line), "\nthread %s \"running\" [running]\n  no frames: it runs; ",
		 strchr(crowd_find(&crowd, "mutex", "running")->holder, ':') + 1);
	cli_contains(p->out.bytes, line);
	harness_free(p);
	p = cli_run("fiberctl", "deadlock", pid, "--frames", "1", NULL);
	cli_expect(p, 0);
	assert_null(strstr(p->out.bytes, "keeper_main"));
	harness_free(p);
}

static void test_a_thread_that_has_ended_has_no_frames(void **state)
{
	struct crowd other = crowd_start(NULL, "deadlock", "--thread-ended", NULL);
	char number[16];
	struct harness_process *p;
	const json_t *thread;
	json_t *answer;

	(void)state;
	snprintf(number, sizeof(number), "%d", other.process->pid);
	p = cli_run("fiberctl", "deadlock", number, "--json", NULL);
	cli_expect(p, 3);
	answer = json_answer(p);
	thread = json_object_get(json_array_get(json_object_get(answer, "findings"), 0), "thread");
	assert_string_equal(json_text(thread, "why"), "it has ended");
	json_decref(answer);
	harness_free(p);
	p = cli_run("fiberctl", "deadlock", number, NULL);
	cli_expect(p, 3);
	assert_null(strstr(p->out.bytes, "\nthread "));
	harness_free(p);
	crowd_end(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_way_has_the_frames_of_a_thread_that_sleeps),
		cmocka_unit_test(test_a_thread_that_computes_has_frames_in_a_core_only),
		cmocka_unit_test(test_text_has_the_frames_below_the_fibers),
		cmocka_unit_test(test_a_thread_that_has_ended_has_no_frames),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, start, one_crowd_end);
}
