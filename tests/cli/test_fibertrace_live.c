/* SPDX-License-Identifier: MIT */
/* test_fibertrace_live.c - suspended fibers of a process without socket, stopped, or spinning */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/cli/crowd.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

static const char *const off[] = {"FIBER_CONTROL=off", NULL};

/* fibertrace PID --json --each on a crowd: has every member, with a walk if it has a stack. */
static void trace_and_check(const struct crowd *crowd, int most)
{
	struct harness_process *p = cli_run("fibertrace", cli_number((uint64_t)crowd->process->pid),
					    "--json", "--each", NULL);
	json_t *answer;

	if (harness_exit_code(p) < 0 || harness_exit_code(p) > most)
		cli_expect(p, 0);
	answer = json_answer(p);
	json_promise_answer(answer, "live");
	assert_int_equal(json_int(answer, "pid"), crowd->process->pid);
	crowd_walked(crowd, answer);
	json_decref(answer);
	harness_free(p);
}

static void test_fibertrace_walks_all_without_the_control_socket(void **state)
{
	const struct harness_how how = {.env = off};
	struct crowd crowd = crowd_start(&how, "crowd", "120", NULL);

	(void)state;
	trace_and_check(&crowd, 0);
	assert_int_equal(cli_state(crowd.process->pid), 'S');
	crowd_end(&crowd);
}

static void test_fibertrace_walks_a_process_stopped_by_sigstop_and_leaves_it_stopped(void **state)
{
	struct crowd crowd = crowd_start(NULL, "crowd", "60", NULL);

	(void)state;
	kill(crowd.process->pid, SIGSTOP);
	assert_true(harness_until(cli_stopped, &crowd.process->pid, CLI_SECONDS));
	trace_and_check(&crowd, 0);
	assert_int_equal(cli_state(crowd.process->pid), 'T');
	kill(crowd.process->pid, SIGCONT);
	crowd_end(&crowd);
}

static void test_fibertrace_walks_all_suspended_fibers_while_every_carrier_spins(void **state)
{
	const struct harness_how how = {.env = off};
	struct crowd spin = crowd_start(&how, "spin", NULL, NULL);

	(void)state;
	trace_and_check(&spin, 1);
	crowd_end(&spin);
}

static void test_fibertrace_walks_runnable_fibers_behind_stuck_carriers(void **state)
{
	struct crowd crowd = crowd_start(NULL, "crowd", "48", "--stuck");

	(void)state;
	trace_and_check(&crowd, 1);
	crowd_end(&crowd);
}

static void test_fibertrace_groups_equal_stacks_by_default(void **state)
{
	struct crowd crowd = crowd_start(NULL, "crowd", "220", NULL);
	const char *const pid = cli_number((uint64_t)crowd.process->pid);
	struct harness_process *p = cli_run("fibertrace", pid, "--json", NULL);
	json_int_t counted = 0, previous = INT64_MAX, mutexes = 0;
	json_t *answer, *group;
	char conds[32];
	size_t i, k;

	(void)state;
	answer = json_well(p);
	json_promise_answer(answer, "live");
	json_array_foreach (json_object_get(answer, "groups"), i, group) {
		const json_t *const ids = json_object_get(group, "fiberIds");
		const json_int_t count = json_int(group, "count");
		const json_t *id;

		json_promise(group, "group", JSON_GROUP);
		json_promise(json_object_get(group, "ageNs"), "ageNs", "min:i median:i max:i");
		json_promise_frames(json_object_get(group, "frames"));
		assert_in_range(json_array_size(ids), 1, count);
		assert_true(count <= previous);
		previous = count;
		counted += count;
		if (!strcmp(json_text(json_object_get(group, "wait"), "kind"), "mutex"))
			mutexes += count;
		json_array_foreach (ids, k, id)
			assert_true(json_is_integer(id));
	}
	assert_int_equal(counted, json_int(answer, "shown"));
	assert_int_equal(mutexes, crowd_count(&crowd, "mutex"));
	/* Equal stacks are one group: at most one group per kind of wait in crowd. */
	assert_in_range(json_array_size(json_object_get(answer, "groups")), crowd_kinds(&crowd) - 2,
			crowd_kinds(&crowd) + 1);
	json_decref(answer);

	p = cli_run("fibertrace", pid, NULL);
	cli_expect(p, 0);
	snprintf(conds, sizeof(conds), "%zu fibers", crowd_count(&crowd, "cond"));
	cli_contains(p->out.bytes, conds);
	cli_contains(p->out.bytes, "wait_for_cond");
	cli_contains(p->out.bytes, " fibers, sampled over ");
	harness_free(p);
	crowd_end(&crowd);
}

static void test_fibertrace_each_prints_a_header_for_each_fiber(void **state)
{
	struct crowd crowd = crowd_start(NULL, "crowd", "44", NULL);
	struct harness_process *p =
		cli_run("fibertrace", cli_number((uint64_t)crowd.process->pid), "--each", NULL);

	(void)state;
	cli_expect(p, 0);
	for (size_t i = 0; i < crowd.count; i++) {
		char header[128];

		if (!crowd_walkable(&crowd.members[i]))
			continue;
		snprintf(header, sizeof(header), "fiber %s \"%s\" [",
			 cli_number(crowd.members[i].id), crowd.members[i].name);
		cli_contains(p->out.bytes, header);
	}
	harness_free(p);
	crowd_end(&crowd);
}

static void test_fibertrace_works_on_a_stripped_program(void **state)
{
	char program[HARNESS_PATH], stripped[HARNESS_PATH];
	const char *const strip[] = {"strip", "-o", harness_file(stripped, "stripped"),
				     harness_program(program, "crowd"), NULL};
	struct harness_process *p = harness_run(strip, NULL, CLI_SECONDS);
	struct crowd crowd;

	(void)state;
	cli_ended(p, 0);
	crowd = crowd_start(NULL, stripped, "33", NULL);
	trace_and_check(&crowd, 0);
	crowd_end(&crowd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fibertrace_walks_all_without_the_control_socket),
		cmocka_unit_test(
			test_fibertrace_walks_a_process_stopped_by_sigstop_and_leaves_it_stopped),
		cmocka_unit_test(
			test_fibertrace_walks_all_suspended_fibers_while_every_carrier_spins),
		cmocka_unit_test(test_fibertrace_walks_runnable_fibers_behind_stuck_carriers),
		cmocka_unit_test(test_fibertrace_groups_equal_stacks_by_default),
		cmocka_unit_test(test_fibertrace_each_prints_a_header_for_each_fiber),
		cmocka_unit_test(test_fibertrace_works_on_a_stripped_program),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
