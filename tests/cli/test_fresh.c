/* SPDX-License-Identifier: MIT */
/*
 * test_fresh.c - fibers that have not started have one frame, their entry function, and no stack
 *
 * Checked over the socket, from the live process and from a core. Some fibers are queued behind
 * fibers that never yield, others were created and not submitted.
 */
#include <stdio.h>
#include <string.h>

#include "tests/harness/cli/crowd.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

#define WAITING 100 /* number of queued fibers, and of created ones */

static struct crowd spin, crowd;
static char pid[16], crowd_pid[16];

static int start(void **state)
{
	(void)state;
	spin = crowd_start(NULL, "spin", "--waiting", "100");
	crowd = crowd_start(NULL, "crowd", "110", NULL);
	snprintf(pid, sizeof(pid), "%d", spin.process->pid);
	snprintf(crowd_pid, sizeof(crowd_pid), "%d", crowd.process->pid);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	crowd_end(&spin);
	crowd_end(&crowd);
	return 0;
}

static void expect_frame(const json_t *frames, const char *function)
{
	const json_t *frame = json_array_get(frames, 0);

	assert_int_equal(json_array_size(frames), 1);
	assert_string_equal(json_text(frame, "function"), function);
	assert_int_equal(json_int(frame, "offset"), 0);
	assert_true(json_int(frame, "line") > 0);
}

static void expect_fiber(const json_t *answer, const struct crowd_member *m, const char *state)
{
	const json_t *fiber = json_fiber(answer, m->id);
	const json_t *stack;

	assert_non_null(fiber);
	stack = json_object_get(fiber, "stack");
	assert_string_equal(json_text(fiber, "name"), m->name);
	assert_string_equal(json_text(fiber, "state"), state);
	assert_int_equal(json_int(fiber, "switches"), 0);
	assert_int_equal(json_int(stack, "used"), 0);
	assert_int_equal(json_int(stack, "size"), 256 << 10);
	assert_true(json_is_null(json_object_get(fiber, "wait")));
	if (json_object_get(fiber, "frames"))
		expect_frame(json_object_get(fiber, "frames"),
			     strcmp(state, "created") ? "waiting_main" : "member_main");
}

/* Check every queued fiber. The spinning ones have no frames, which is an error if frames were
 * requested. */
static void expect_all(struct harness_process *p)
{
	json_t *answer;
	size_t i;

	if (harness_exit_code(p) != 1)
		cli_expect(p, 0);
	answer = json_answer(p);
	for (i = 0; i < spin.count; i++)
		if (!strcmp(spin.members[i].kind, "runnable"))
			expect_fiber(answer, &spin.members[i], "runnable");
	json_decref(answer);
	harness_free(p);
}

static void test_fresh_fibers_are_shown_over_the_socket(void **state)
{
	(void)state;
	assert_int_equal(crowd_count(&spin, "runnable"), WAITING);
	expect_all(cli_run("fiberctl", "list", "--json", pid, NULL));
	expect_all(cli_run("fiberctl", "bt", "--json", "--all", pid, NULL));
}

static void test_fresh_fibers_are_shown_out_of_the_live_process_and_its_core(void **state)
{
	char core[HARNESS_PATH];

	(void)state;
	expect_all(cli_run("fibertrace", "--each", "--json", pid, NULL));
	if (*harness_sanitizer())
		cli_skip("no cores of sanitizer builds");
	cli_core(spin.process->pid, "core", core);
	expect_all(cli_run("fibertrace", "--each", "--json", "--core", core, NULL));
}

static void test_fresh_fibers_stand_in_one_group(void **state)
{
	struct harness_process *p = cli_run("fibertrace", "--json", pid, NULL);
	json_t *answer, *group;
	size_t i, found = 0;

	(void)state;
	if (harness_exit_code(p) != 1)
		cli_expect(p, 0);
	answer = json_answer(p);
	json_array_foreach (json_object_get(answer, "groups"), i, group) {
		if (strcmp(json_text(group, "state"), "runnable"))
			continue;
		found++;
		assert_int_equal(json_int(group, "count"), 2 * WAITING);
		expect_frame(json_object_get(group, "frames"), "waiting_main");
	}
	assert_int_equal(found, 1);
	json_decref(answer);
	harness_free(p);
}

static void test_fresh_fiber_in_words_has_no_stack_yet(void **state)
{
	const struct crowd_member *m = crowd_find(&spin, "runnable", "runnable-");
	struct harness_process *p = cli_run("fiberctl", "list", pid, NULL);

	(void)state;
	cli_expect(p, 0);
	cli_contains(p->out.bytes, " -/256k ");
	harness_free(p);
	p = cli_run("fiberctl", "show", pid, cli_number(m->id), NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "none yet, 262144 bytes once it starts");
	cli_contains(p->out.bytes, "waiting_main");
	harness_free(p);
	p = cli_run("fiberctl", "bt", pid, cli_number(m->id), NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "#0  waiting_main");
	assert_null(strstr(p->out.bytes, "#1"));
	harness_free(p);
}

static void test_fresh_fiber_that_was_created_only_is_shown_like_the_others(void **state)
{
	const struct crowd_member *m = crowd_find(&crowd, "created", "created-");
	static const char *const tools[] = {"fiberctl", "fibertrace"};
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct harness_process *p =
			i ? cli_run(tools[i], "--each", "--json", crowd_pid, NULL)
			  : cli_run(tools[i], "bt", "--all", "--json", crowd_pid, NULL);
		json_t *answer = json_well(p);

		expect_fiber(answer, m, "created");
		json_decref(answer);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fresh_fibers_are_shown_over_the_socket),
		cmocka_unit_test(test_fresh_fibers_are_shown_out_of_the_live_process_and_its_core),
		cmocka_unit_test(test_fresh_fibers_stand_in_one_group),
		cmocka_unit_test(test_fresh_fiber_in_words_has_no_stack_yet),
		cmocka_unit_test(test_fresh_fiber_that_was_created_only_is_shown_like_the_others),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, start, stop);
}
