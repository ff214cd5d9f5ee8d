/* SPDX-License-Identifier: MIT */
/*
 * test_exact.c - ten thousand samples of a crowd on a fully loaded machine match what the crowd did
 *
 * The crowd reads the clock just before a wait starts. The coarse clock, and other programs on the
 * CPU, may add a difference.
 */
#include <stdio.h>
#include <string.h>

#include "tests/harness/cli/crowd.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/clock.h"
#include "tests/harness/watchdog.h"

#define FIBERS	"500"
#define SAMPLES 10000
#define LOADS	3
#define GRAIN	INT64_C(20000000) /* ns */

static struct crowd crowd;
static struct harness_process *loads[LOADS];

static int start(void **state)
{
	static const char *const spin[] = {"/bin/sh", "-c", "echo ready; while :; do :; done",
					   NULL};

	(void)state;
	crowd = crowd_start(NULL, "crowd", FIBERS, NULL);
	for (int i = 0; i < LOADS; i++) {
		loads[i] = harness_start(spin, NULL);
		if (!harness_wait_line(loads[i], "ready", CLI_SECONDS))
			return -1;
	}
	return 0;
}

static int stop(void **state)
{
	(void)state;
	for (int i = 0; i < LOADS; i++)
		harness_free(loads[i]);
	crowd_end(&crowd);
	return 0;
}

/* Compare a sample taken between before and after: within 1 % of the true age plus the clock's
 * grain. */
static void agree_about_age(const struct crowd_member *m, const json_t *fiber, int64_t before,
			    int64_t after)
{
	const int64_t age = json_int(fiber, "ageNs");
	const int64_t slack = GRAIN + (after - m->since) / 100;

	if (!m->since || !strcmp(m->kind, "yield"))
		return;
	if (age > after - m->since + slack || age < before - m->since - slack) {
		print_error("%s: %lld ns old, but waits since %lld to %lld ns\n", m->name,
			    (long long)age, (long long)(before - m->since),
			    (long long)(after - m->since));
		fail();
	}
}

static void test_every_sample_is_what_the_crowd_did(void **state)
{
	size_t samples = 0, unknown = 0;

	(void)state;
	while (samples < SAMPLES) {
		const int64_t before = harness_now();
		struct harness_process *p =
			cli_run("fiberctl", "list", cli_number((uint64_t)crowd.process->pid),
				"--json", NULL);
		const int64_t after = harness_now();
		json_t *answer = json_well(p);

		assert_true(json_is_true(json_object_get(answer, "complete")));
		assert_int_equal(json_array_size(json_object_get(answer, "fibers")), crowd.count);
		for (size_t i = 0; i < crowd.count; i++) {
			const json_t *const fiber = json_fiber(answer, crowd.members[i].id);

			unknown += !fiber;
			crowd_agree(&crowd.members[i], fiber);
			agree_about_age(&crowd.members[i], fiber, before, after);
		}
		samples += crowd.count;
		json_decref(answer);
	}
	assert_int_equal(unknown, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_sample_is_what_the_crowd_did),
	};

	harness_watchdog(300);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, start, stop);
}
