/* SPDX-License-Identifier: MIT */
/* test_fiberctl_wake.c - wake a fiber in fiber_park, and no fiber in another wait */
#include <stdio.h>
#include <string.h>

#include "tests/harness/cli/crowd.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

static const char *const admin[] = {"FIBER_CONTROL=admin", NULL};
static const struct harness_how as_admin = {.env = admin};

static struct {
	const char *pid;
	uint64_t id;
} parked;

static bool is_dead(void *arg)
{
	struct harness_process *p = cli_run("fiberctl", "list", parked.pid, "--json", NULL);
	json_t *answer = json_answer(p);
	const bool dead = !strcmp(json_text(json_fiber(answer, parked.id), "state"), "dead");

	(void)arg;
	json_decref(answer);
	harness_free(p);
	return dead;
}

static void test_wake_ends_a_park(void **state)
{
	/* The parked fibers of labels exit when woken. */
	struct crowd labels = crowd_start(&as_admin, "labels", NULL, NULL);
	struct harness_process *p;
	json_t *answer;

	(void)state;
	parked.pid = cli_number((uint64_t)labels.process->pid);
	parked.id = crowd_find(&labels, "park", "")->id;
	p = cli_run("fiberctl", "wake", parked.pid, cli_number(parked.id), NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "woken");
	harness_free(p);
	assert_true(harness_until(is_dead, NULL, CLI_SECONDS));
	parked.id = crowd_find(&labels, "park", "worker-2")->id;
	p = cli_run("fiberctl", "wake", parked.pid, cli_number(parked.id), "--json", NULL);
	answer = json_well(p);
	json_promise(json_object_get(answer, "wake"), "wake",
		     "fiberId:i name:s state:s waitKind:s? endedWait:b");
	json_decref(answer);
	assert_true(harness_until(is_dead, NULL, CLI_SECONDS));
	crowd_end(&labels);
}

static void test_wake_from_any_other_wait_is_refused_and_names_it(void **state)
{
	struct crowd crowd = crowd_start(&as_admin, "crowd", "80", NULL);
	char pid[16];
	static const char *const kinds[] = {"mutex", "cond", "sem", "fd", "sleep", "join", "event"};
	size_t i;

	(void)state;
	snprintf(pid, sizeof(pid), "%d", crowd.process->pid);
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		char word[40];

		snprintf(word, sizeof(word), "(%s)", kinds[i]);
		cli_expect_error(cli_run("fiberctl", "wake", pid,
					 cli_number(crowd_find(&crowd, kinds[i], "")->id), NULL),
				 2, "fiberctl", word);
	}
	cli_expect_error(cli_run("fiberctl", "wake", pid,
				 cli_number(crowd_find(&crowd, "dead", "")->id), NULL),
			 2, "fiberctl", "has ended");
	crowd_end(&crowd);
}

static void test_wake_is_refused_unless_the_program_allows_it(void **state)
{
	struct crowd labels = crowd_start(NULL, "labels", NULL, NULL);
	const char *const pid = cli_number((uint64_t)labels.process->pid);

	(void)state;
	cli_expect_error(cli_run("fiberctl", "wake", pid,
				 cli_number(crowd_find(&labels, "park", "")->id), NULL),
			 2, "fiberctl", "FIBER_CONTROL=admin");
	crowd_end(&labels);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wake_ends_a_park),
		cmocka_unit_test(test_wake_from_any_other_wait_is_refused_and_names_it),
		cmocka_unit_test(test_wake_is_refused_unless_the_program_allows_it),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
