/* SPDX-License-Identifier: MIT */
/* test_fibertrace_block.c - a fiber in fiber_block() waits for what the thread of its call waits for */
#include <stdio.h>
#include <string.h>

#include "tests/harness/cli/crowd.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

static struct crowd start(const char *first, const char *second, const char *third)
{
	return crowd_of(cli_start(NULL, "ready ", "mixed", first, second, third, NULL));
}

static const char *pid_of(const struct crowd *crowd)
{
	return cli_number((uint64_t)crowd->process->pid);
}

static size_t size_of(const json_t *object, const char *key)
{
	return json_array_size(json_object_get(object, key));
}

/* A cycle of so many fibers and threads, and nothing else. */
static void expect_cycle(const char *target, size_t fibers, size_t threads)
{
	json_t *answer = json_ended(cli_run("fibertrace", "deadlock", target, "--json", NULL), 3);
	const json_t *finding = json_array_get(json_object_get(answer, "findings"), 0);

	assert_int_equal(size_of(answer, "findings"), 1);
	assert_string_equal(json_text(finding, "kind"), "cycle");
	assert_true(json_is_true(json_object_get(finding, "deadlock")));
	assert_int_equal(size_of(finding, "fiberIds"), fibers);
	assert_int_equal(size_of(finding, "threadIds"), threads);
	json_decref(answer);
}

static const char *snapshot_of(const struct crowd *crowd, char path[HARNESS_PATH])
{
	cli_ended(cli_run("fiberctl", "snapshot", pid_of(crowd), "--force", "-o",
			  harness_file(path, "block.snap"), NULL),
		  0);
	return path;
}

/* Only waits that are longer than the reading are proof. */
static bool snapshot_proves(void *arg)
{
	char path[HARNESS_PATH];
	struct harness_process *p = cli_run("fibertrace", "deadlock", snapshot_of(arg, path), NULL);
	const bool found = harness_exit_code(p) == 3;

	harness_free(p);
	return found;
}

static void test_a_ring_through_a_call_is_one_deadlock(void **state)
{
	static const struct {
		const char *parties[3];
		size_t fibers, threads;
	} rings[] = {
		{{"bm", NULL, NULL}, 1, 1}, {{"bm", "tm", NULL}, 1, 2}, {{"bm", "fm", NULL}, 2, 1},
		{{"bm", "br", NULL}, 2, 2}, {{"bm", "tp", "fm"}, 2, 2}, {{"fm", "bR", "tm"}, 2, 2},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rings / sizeof rings[0]; i++) {
		const char *const *w = rings[i].parties;
		struct crowd crowd = start(w[0], w[1], w[2]);

		expect_cycle(pid_of(&crowd), rings[i].fibers, rings[i].threads);
		crowd_end(&crowd);
	}
}

static void test_a_core_and_a_snapshot_have_the_same_ring(void **state)
{
	struct crowd crowd = start("bm", "tm", NULL);
	char core[HARNESS_PATH], snapshot[HARNESS_PATH];

	(void)state;
	assert_true(harness_until(snapshot_proves, &crowd, 60));
	expect_cycle(snapshot_of(&crowd, snapshot), 1, 2);
	if (!*harness_sanitizer()) {
		cli_core(crowd.process->pid, "core", core);
		expect_cycle(core, 1, 2);
	}
	crowd_end(&crowd);
}

static void test_a_chain_through_a_call_that_ends_is_no_deadlock(void **state)
{
	static const char *const chains[][3] = {
		{"--open", "bm", "tm"}, {"--open", "tm", "bm"}, {"bp", "tm", NULL}};

	(void)state;
	for (size_t i = 0; i < sizeof chains / sizeof chains[0]; i++) {
		struct crowd crowd = start(chains[i][0], chains[i][1], chains[i][2]);
		json_t *answer = json_ended(
			cli_run("fibertrace", "deadlock", pid_of(&crowd), "--json", NULL), 0);

		assert_int_equal(json_int(answer, "found"), 0);
		json_decref(answer);
		crowd_end(&crowd);
	}
}

/* Most calls are in the kernel, and nothing is to be said of their threads. */
static void test_a_call_that_waits_for_no_lock_is_no_edge(void **state)
{
	struct crowd crowd = start("--open", "bm", NULL);
	json_t *answer = json_well(cli_run("fibertrace", "waits", pid_of(&crowd), "--json", NULL));

	(void)state;
	assert_int_equal(size_of(answer, "holders"), 0);
	json_decref(answer);
	crowd_end(&crowd);
}

static void expect_text(const struct crowd *crowd, const char *tool, const char *command,
			const char *id, int code, const char *wanted)
{
	struct harness_process *p = cli_run(tool, command, pid_of(crowd), id, NULL);

	cli_expect(p, code);
	cli_contains(p->out.bytes, wanted);
	harness_free(p);
}

static void test_the_texts_name_the_thread_of_the_call(void **state)
{
	struct crowd crowd = start("bm", "tm", NULL);

	(void)state;
	expect_text(&crowd, "fibertrace", "show", "1", 0, "\"fiber-offload\" runs; thread ");
	expect_text(&crowd, "fibertrace", "show", "1", 0,
		    "which fiber 1 \"party-0\" holds: a deadlock");
	expect_text(&crowd, "fibertrace", "show", "1", 0, "1 wants what it holds; thread ");
	expect_text(&crowd, "fibertrace", "waits", NULL, 0, "1 fiber waits for thread ");
	expect_text(&crowd, "fibertrace", "why", NULL, 3,
		    ": 1 fiber and 2 threads wait for each other\n");
	expect_text(&crowd, "fiberctl", "list", NULL, 0, " in thread ");
	crowd_end(&crowd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_ring_through_a_call_is_one_deadlock),
		cmocka_unit_test(test_a_core_and_a_snapshot_have_the_same_ring),
		cmocka_unit_test(test_a_chain_through_a_call_that_ends_is_no_deadlock),
		cmocka_unit_test(test_a_call_that_waits_for_no_lock_is_no_edge),
		cmocka_unit_test(test_the_texts_name_the_thread_of_the_call),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
