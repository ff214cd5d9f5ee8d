/* SPDX-License-Identifier: MIT */
/* test_fiberctl_cancel.c - cancel one fiber, only where permitted, with an audit entry */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness/cli/crowd.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

static const char *const admin[] = {"FIBER_CONTROL=admin", NULL};
static const struct harness_how as_admin = {.env = admin};

/* The state of a fiber, "" if there is none. */
static void state_of(const char *pid, const char *id, char *buf, size_t size)
{
	struct harness_process *p = cli_run("fiberctl", "list", pid, "--json", NULL);
	json_t *answer = json_answer(p);

	snprintf(buf, size, "%s", json_text(json_fiber(answer, strtoull(id, NULL, 10)), "state"));
	json_decref(answer);
	harness_free(p);
}

struct ending {
	const char *pid, *id;
};

static bool is_dead(void *arg)
{
	const struct ending *e = arg;
	char state[32];

	state_of(e->pid, e->id, state, sizeof(state));
	return !strcmp(state, "dead");
}

static void test_cancel_ends_the_wait_of_that_fiber_and_no_other(void **state)
{
	struct crowd crowd = crowd_start(&as_admin, "crowd", "60", NULL);
	const char *const pid = cli_number((uint64_t)crowd.process->pid);
	const struct crowd_member *m = crowd_find(&crowd, "sleep", "");
	struct ending e = {pid, cli_number(m->id)};
	struct harness_process *p = cli_run("fiberctl", "cancel", pid, e.id, NULL);
	json_t *answer;
	size_t i, dead = 0;

	(void)state;
	cli_expect(p, 0);
	cli_contains(p->out.bytes, m->name);
	cli_contains(p->out.bytes, "cancelled: its wait (sleep) ends");
	harness_free(p);
	assert_true(harness_until(is_dead, &e, CLI_SECONDS));
	p = cli_run("fiberctl", "list", pid, "--json", NULL);
	answer = json_answer(p);
	for (i = 0; i < crowd.count; i++)
		dead += !strcmp(json_text(json_fiber(answer, crowd.members[i].id), "state"),
				"dead");
	assert_int_equal(dead, crowd_count(&crowd, "dead") + 1);
	json_decref(answer);
	harness_free(p);
	cli_expect_error(cli_run("fiberctl", "cancel", pid, e.id, NULL), 2, "fiberctl",
			 "has ended");
	crowd_end(&crowd);
}

static void test_cancel_json_says_what_was_done(void **state)
{
	struct crowd crowd = crowd_start(&as_admin, "crowd", "60", NULL);
	const char *const pid = cli_number((uint64_t)crowd.process->pid);
	const struct crowd_member *m = crowd_find(&crowd, "sem", "");
	struct harness_process *p =
		cli_run("fiberctl", "cancel", pid, cli_number(m->id), "--json", NULL);
	json_t *answer = json_answer(p), *done = json_object_get(answer, "cancel");

	(void)state;
	cli_expect(p, 0);
	json_promise(answer, "answer", JSON_ANSWER " cancel:o");
	json_promise(done, "cancel", "fiberId:i name:s state:s waitKind:s? endedWait:b");
	assert_int_equal(json_int(done, "fiberId"), m->id);
	assert_string_equal(json_text(done, "name"), m->name);
	assert_string_equal(json_text(done, "state"), "suspended");
	assert_string_equal(json_text(done, "waitKind"), "sem");
	assert_true(json_is_true(json_object_get(done, "endedWait")));
	json_decref(answer);
	harness_free(p);
	crowd_end(&crowd);
}

static void test_cancel_of_one_that_runs_says_that_it_is_told_later(void **state)
{
	struct crowd spin = crowd_start(&as_admin, "spin", NULL, NULL);
	const char *const pid = cli_number((uint64_t)spin.process->pid);
	struct harness_process *p = cli_run("fiberctl", "cancel", pid,
					    cli_number(crowd_find(&spin, "running", "")->id), NULL);

	(void)state;
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "it is running and told by its next wait");
	harness_free(p);
	crowd_end(&spin);
}

static void refused_under(const char *mode)
{
	char word[32];
	const char *const env[] = {word, NULL};
	const struct harness_how how = {.env = env};
	struct crowd crowd;
	const char *pid, *id;
	char state[32];

	snprintf(word, sizeof(word), "FIBER_CONTROL=%s", mode);
	crowd = crowd_start(&how, "crowd", "60", NULL);
	pid = cli_number((uint64_t)crowd.process->pid);
	id = cli_number(crowd_find(&crowd, "sleep", "")->id);
	cli_expect_error(cli_run("fiberctl", "cancel", pid, id, NULL), 2, "fiberctl",
			 "FIBER_CONTROL=admin");
	state_of(pid, id, state, sizeof(state));
	assert_string_equal(state, "suspended");
	crowd_end(&crowd);
}

static void test_cancel_is_refused_unless_the_program_allows_it(void **state)
{
	(void)state;
	refused_under("rw");
	refused_under("ro");
}

static void test_cancel_of_nobody_is_2_and_of_no_number_64(void **state)
{
	struct crowd crowd = crowd_start(&as_admin, "crowd", "10", NULL);
	const char *const pid = cli_number((uint64_t)crowd.process->pid);

	(void)state;
	cli_expect_error(cli_run("fiberctl", "cancel", pid, "999999", NULL), 2, "fiberctl",
			 "no fiber 999999");
	cli_expect_error(cli_run("fiberctl", "cancel", pid, "0", NULL), 64, "fiberctl", "0");
	cli_expect_error(cli_run("fiberctl", "cancel", pid, "x", NULL), 64, "fiberctl", "x");
	cli_expect_error(cli_run("fiberctl", "cancel", pid, NULL), 64, "fiberctl", "ID");
	crowd_end(&crowd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cancel_ends_the_wait_of_that_fiber_and_no_other),
		cmocka_unit_test(test_cancel_json_says_what_was_done),
		cmocka_unit_test(test_cancel_of_one_that_runs_says_that_it_is_told_later),
		cmocka_unit_test(test_cancel_is_refused_unless_the_program_allows_it),
		cmocka_unit_test(test_cancel_of_nobody_is_2_and_of_no_number_64),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
