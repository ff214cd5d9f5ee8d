/* SPDX-License-Identifier: MIT */
/*
 * test_state_times.c - a fiber's running, runnable and waiting times add up to its age, to the
 * nanosecond
 *
 * They also agree with what the fiber measures, within the resolution of its clock.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/harness/cli/http.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/clock.h"
#include "tests/harness/watchdog.h"

#define FIBERS	12
#define SAMPLES 10000
#define MS	INT64_C(1000000)

struct life {
	uint64_t id;
	int64_t born, ran, away;
};

static struct life lives[FIBERS];

static struct harness_process *start(const char *carriers)
{
	struct harness_process *process =
		cli_start(NULL, "ready", "ages", "--carriers", carriers, NULL);
	const char *at = process->out.bytes;

	for (size_t i = 0; i < FIBERS; i++) {
		struct life *life = &lives[i];

		assert_int_equal(sscanf(at, "%" SCNu64 " %" SCNd64 " %" SCNd64 " %" SCNd64,
					&life->id, &life->born, &life->ran, &life->away),
				 4);
		at = strchr(at, '\n') + 1;
	}
	return process;
}

static void expect_sum(const json_t *fiber)
{
	assert_int_equal(json_int(fiber, "cpuNs") + json_int(fiber, "runnableNs") +
				 json_int(fiber, "waitedNs"),
			 json_int(fiber, "livedNs"));
}

/* Within 1 %, plus the grain of the coarse clock if the machine is busy. */
static void expect_near(const char *what, int64_t is, int64_t low, int64_t high, int64_t grain)
{
	if (is < low - low / 100 - grain || is > high + high / 100 + grain) {
		print_error("%s: %" PRId64 " ns, and not from %" PRId64 " to %" PRId64 "\n", what,
			    is, low, high);
		fail();
	}
}

static void agree(const struct harness_process *process, const char *tool, const char *how)
{
	const int64_t before = harness_now();
	struct harness_process *p =
		cli_run(tool, how, cli_number((uint64_t)process->pid), "--json", NULL);
	const int64_t after = harness_now();
	int64_t ran = 0, counted = 0, lived = 0;
	json_t *answer = json_well(p);

	for (size_t i = 0; i < FIBERS; i++) {
		const struct life *life = &lives[i];
		const json_t *fiber = json_fiber(answer, life->id);

		expect_sum(fiber);
		expect_near("livedNs", json_int(fiber, "livedNs"), before - life->born,
			    after - life->born, 20 * MS);
		assert_true(json_int(fiber, "runnableNs") > 0);
		assert_true(json_int(fiber, "waitedNs") >= json_int(fiber, "ageNs"));
		ran += life->ran;
		lived += life->ran + life->away;
		counted += json_int(fiber, "cpuNs");
	}
	/* Each run is exact to a tick; the sum of all runs is much more exact. */
	expect_near("cpuNs of all", counted, ran, ran, lived / 20);
	json_decref(answer);
}

static void test_times_in_all_states_are_the_time_lived(void **state)
{
	static const char *const carriers[] = {"1", "4"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct harness_process *process = start(carriers[i]);

		agree(process, "fiberctl", "list");
		agree(process, "fibertrace", "--each");
		harness_free(process);
	}
}

/* The times change meanwhile: an inconsistent copy would not add up. */
/*
 * A thread that fibertrace stops may be in the middle of a switch: the stack of its fiber is incomplete
 * then, its times are not. No other problem is accepted.
 */
static void expect_only_switches(const json_t *answer)
{
	json_t *problem;
	size_t k;

	json_array_foreach (json_object_get(answer, "problems"), k, problem)
		cli_contains(json_string_value(problem), "caught in the middle of a switch");
}

static void test_times_add_up_in_every_sample_of_a_busy_server(void **state)
{
	unsigned port;
	struct harness_process *server = http_start(NULL, NULL, NULL, &port), *p;
	const struct harness_how quiet = {0};
	char program[HARNESS_PATH];
	const char *const argv[] = {harness_program(program, "load"), cli_number(port), NULL};
	struct harness_process *clients = harness_start(argv, &quiet);
	size_t moving = 0;

	(void)state;
	for (unsigned i = 0; moving < SAMPLES; i++) {
		const bool ctl = i % 8;
		json_t *answer, *fiber;
		size_t k;

		p = cli_run(ctl ? "fiberctl" : "fibertrace", ctl ? "list" : "--each",
			    cli_number((uint64_t)server->pid), "--json", NULL);
		answer = json_ended(p, !ctl && harness_exit_code(p) == 1);
		expect_only_switches(answer);
		json_array_foreach (json_object_get(answer, "fibers"), k, fiber) {
			expect_sum(fiber);
			moving += json_int(fiber, "switches") > 1;
		}
		json_decref(answer);
	}
	harness_free(clients);
	harness_free(server);
}

static void test_times_can_be_chosen_by_and_shown(void **state)
{
	struct harness_process *process = start("2"), *p;
	char where[64];

	(void)state;
	snprintf(where, sizeof where, "waited>1ms and runnable>0s and id=%" PRIu64, lives[3].id);
	p = cli_run("fiberctl", "list", cli_number((uint64_t)process->pid), "--where", where,
		    "--columns", "id,cpu,runnable,waited,lived", NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "RUNNABLE");
	harness_free(p);
	p = cli_run("fiberctl", "show", cli_number((uint64_t)process->pid), cli_number(lives[3].id),
		    NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "\nrunnable     ");
	cli_contains(p->out.bytes, "\nwaited       ");
	cli_contains(p->out.bytes, "\nlived        ");
	harness_free(p);
	harness_free(process);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times_in_all_states_are_the_time_lived),
		cmocka_unit_test(test_times_add_up_in_every_sample_of_a_busy_server),
		cmocka_unit_test(test_times_can_be_chosen_by_and_shown),
	};

	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
