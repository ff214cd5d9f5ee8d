/* SPDX-License-Identifier: MIT */
/* test_fiberctl_show.c - why a fiber does not run, what it waits behind, who waits for whom */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/cli/json.h"
#include "tests/harness/cli/one_crowd.h"
#include "tests/harness/watchdog.h"

static int start(void **state)
{
	(void)state;
	return one_crowd("crowd", "66", "--stuck");
}

/* The row of one fiber; the caller calls json_decref(). */
static json_t *show(uint64_t id)
{
	struct harness_process *p =
		cli_run("fiberctl", "show", pid, cli_number(id), "--json", NULL);
	json_t *answer, *fiber;

	answer = json_well(p);
	json_promise_answer(answer, "control");
	assert_int_equal(json_int(answer, "shown"), 1);
	assert_int_equal(json_int(answer, "total"), crowd.count);
	fiber = json_fiber(answer, id);
	assert_non_null(fiber);
	json_promise_fiber(fiber, false);
	json_promise(fiber, "fiber", "why:s waiters:o");
	json_promise(json_object_get(fiber, "waiters"), "waiters",
		     "joining:i wanting:i fiberIds:a");
	json_incref(fiber);
	json_decref(answer);
	return fiber;
}

static const char *name_of(uint64_t id)
{
	for (size_t i = 0; i < crowd.count; i++)
		if (crowd.members[i].id == id)
			return crowd.members[i].name;
	fail();
	return "";
}

/* The sentence starts with `begin` and contains `middle`. */
static void expect_why(const struct crowd_member *m, const char *begin, const char *middle)
{
	json_t *const fiber = show(m->id);
	const char *const why = json_text(fiber, "why");

	if (strncmp(why, begin, strlen(begin)) != 0)
		print_error("%s: '%s' does not begin with '%s'\n", m->name, why, begin);
	assert_int_equal(strncmp(why, begin, strlen(begin)), 0);
	cli_contains(why, middle);
	assert_int_equal(why[strlen(why) - 1], '.');
	json_decref(fiber);
}

static void test_why_names_the_holder_and_what_he_does(void **state)
{
	const struct crowd_member *const m = crowd_find(&crowd, "mutex", "mutex-1");
	char middle[256];

	(void)state;
	snprintf(
		middle, sizeof(middle),
		" for the mutex \"%s\", which fiber %s \"%s\" holds; fiber %s has been parked for ",
		m->object, m->holder, name_of(strtoull(m->holder, NULL, 10)), m->holder);
	expect_why(m, "It has waited ", middle);
}

static void test_why_names_who_is_joined_and_what_he_does(void **state)
{
	const struct crowd_member *const m = crowd_find(&crowd, "join", "join-");
	char middle[256];

	(void)state;
	snprintf(middle, sizeof(middle), " to join fiber %s \"%s\"; fiber %s has been parked for ",
		 m->object, name_of(strtoull(m->object, NULL, 10)), m->object);
	expect_why(m, "It has waited ", middle);
}

static void test_why_names_a_thread_that_holds_it(void **state)
{
	const struct crowd_member *const m = crowd_find(&crowd, "mutex", "mutex-thread-");
	char middle[96];

	(void)state;
	snprintf(middle, sizeof(middle),
		 " for the mutex \"thread-lock\", which thread %s (not a fiber) holds.",
		 m->holder + strlen("thread:"));
	expect_why(m, "It has waited ", middle);
}

static void test_why_says_so_for_each_state(void **state)
{
	const struct crowd_member *const runs = crowd_find(&crowd, "running", "running-");

	(void)state;
	expect_why(runs, "It has run on carrier ", " for ");
	expect_why(crowd_find(&crowd, "yield", "yield-"), "It is runnable and has waited ",
		   " has run longest, on carrier ");
	expect_why(crowd_find(&crowd, "created", "created-"), "It was created ",
		   " ago and has not started.");
	expect_why(crowd_find(&crowd, "dead", "dead-"), "It exited ",
		   " ago and waits to be joined.");
}

static void test_why_says_what_is_waited_for(void **state)
{
	const struct crowd_member *m = crowd_find(&crowd, "fd", "fd-read-");
	char end[160];

	(void)state;
	snprintf(end, sizeof(end), " for fd %s read.", m->object);
	expect_why(m, "It has waited ", end);
	m = crowd_find(&crowd, "chan-send", "chan-send-");
	snprintf(end, sizeof(end), " for space in the channel \"%s\".", m->object);
	expect_why(m, "It has waited ", end);
	expect_why(crowd_find(&crowd, "sleep", "sleep-"), "It has slept for ",
		   ", and wakes in 59m");
	m = crowd_find(&crowd, "timer", "timer-");
	snprintf(end, sizeof(end), " for the timer \"%s\", which expires in 59m", m->object);
	expect_why(m, "It has waited ", end);
	m = crowd_find(&crowd, "sem", "sem-");
	snprintf(end, sizeof(end), " for the semaphore \"%s\", and times out in 59m", m->object);
	expect_why(m, "It has waited ", end);
}

static void test_who_waits_for_a_fiber_is_counted_and_named(void **state)
{
	const struct crowd_member *const holder = crowd_find(&crowd, "park", "park-");
	const char *const id = cli_number(holder->id);
	json_t *const fiber = show(holder->id);
	const json_t *const waiters = json_object_get(fiber, "waiters");
	json_int_t joining = 0, wanting = 0;
	struct harness_process *p;
	char wanted[64];

	(void)state;
	for (size_t i = 0; i < crowd.count; i++) {
		const struct crowd_member *const m = &crowd.members[i];

		joining += !strcmp(m->kind, "join") && !strcmp(m->object, id);
		wanting += !strcmp(m->holder, id);
	}
	assert_true(joining == 1 && wanting > 1);
	assert_int_equal(json_int(waiters, "joining"), joining);
	assert_int_equal(json_int(waiters, "wanting"), wanting);
	json_decref(fiber);

	p = cli_run("fiberctl", "show", pid, id, NULL);
	cli_expect(p, 0);
	snprintf(wanted, sizeof(wanted),
		 "\nwaited for   %d fibers: 1 joins it, %d want what it holds; ",
		 (int)(joining + wanting), (int)wanting);
	cli_contains(p->out.bytes, wanted);
	harness_free(p);
}

static void test_text_has_the_sentence_below_the_header_and_the_rest(void **state)
{
	const struct crowd_member *const m = crowd_find(&crowd, "mutex", "mutex-1");
	struct harness_process *p = cli_run("fiberctl", "show", pid, cli_number(m->id), NULL);
	char wanted[128];

	(void)state;
	cli_expect(p, 0);
	snprintf(wanted, sizeof(wanted), "fiber %" PRIu64 " \"%s\" [suspended: mutex ", m->id,
		 m->name);
	assert_int_equal(strncmp(p->out.bytes, wanted, strlen(wanted)), 0);
	snprintf(wanted, sizeof(wanted), " for the mutex \"%s\", which fiber ", m->object);
	cli_contains(p->out.bytes, "\nIt has waited ");
	cli_contains(p->out.bytes, wanted);
	cli_contains(p->out.bytes, "\nspawned in   start_member at ");
	cli_contains(p->out.bytes, "\nruns         member_main at ");
	assert_null(strstr(p->out.bytes, "waited for"));
	harness_free(p);
}

/* show prints the time left of a timed wait for a lock; the line of a list does not. */
static void test_text_says_how_long_is_left_until_the_deadline(void **state)
{
	struct crowd timed = crowd_start(NULL, "deadlock", "--timed", NULL);
	const char *const process = cli_number((uint64_t)timed.process->pid);
	size_t i, with = 0;

	(void)state;
	for (i = 0; i < timed.count; i++) {
		const char *const id = cli_number(timed.members[i].id);
		struct harness_process *p = cli_run("fiberctl", "show", process, id, NULL);
		const char *line, *end;

		cli_expect(p, 0);
		line = strstr(p->out.bytes, "\ndeadline     ");
		if (line) {
			end = strchr(line + 1, '\n');
			assert_int_equal(strncmp(end - strlen("s left"), "s left", 6), 0);
			cli_contains(p->out.bytes, "\nIt has waited ");
			cli_contains(p->out.bytes, ", and times out in ");
			with++;
		}
		harness_free(p);
	}
	assert_true(with > 0);
	crowd_end(&timed);
}

static void test_labels_and_an_ended_parent_are_shown(void **state)
{
	struct harness_process *labels = cli_start(NULL, "ready ", "labels", NULL);
	struct crowd family = crowd_start(NULL, "family", NULL, NULL);
	const struct crowd_member *const child = crowd_find(&family, "park", "child-");
	const struct crowd_member *const link = crowd_find(&family, "park", "link-1");
	struct harness_process *p;
	uint64_t id = 0;
	char wanted[64];

	(void)state;
	sscanf(strstr(labels->out.bytes, "worker-5") - strlen("N\tpark\t-\t-\t"), "%" SCNu64, &id);
	p = cli_run("fiberctl", "show", cli_number((uint64_t)labels->pid), cli_number(id), NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "\nlabel        worker=5\n");
	cli_contains(p->out.bytes, "\nlabel        request=GET /5?a=b\n");
	harness_free(p);
	harness_free(labels);

	p = cli_run("fiberctl", "show", cli_number((uint64_t)family.process->pid),
		    cli_number(child->id), NULL);
	cli_expect(p, 0);
	snprintf(wanted, sizeof(wanted), "\nparent       %s (has ended)\n", child->holder);
	cli_contains(p->out.bytes, wanted);
	harness_free(p);
	p = cli_run("fiberctl", "show", cli_number((uint64_t)family.process->pid),
		    cli_number(link->id), NULL);
	snprintf(wanted, sizeof(wanted), "\nparent       %s\n", link->holder);
	cli_contains(p->out.bytes, wanted);
	harness_free(p);
	crowd_end(&family);
}

static void test_show_refuses_who_is_not_there(void **state)
{
	(void)state;
	cli_expect_error(cli_run("fiberctl", "show", pid, "999999", NULL), 2, "fiberctl",
			 "fiber 999999: no such fiber");
	cli_expect_error(cli_run("fiberctl", "show", pid, "one", NULL), 64, "fiberctl",
			 "is not a fiber id");
	cli_expect_error(cli_run("fiberctl", "show", pid, NULL), 64, "fiberctl", "PROCESS ID");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_why_names_the_holder_and_what_he_does),
		cmocka_unit_test(test_why_names_who_is_joined_and_what_he_does),
		cmocka_unit_test(test_why_names_a_thread_that_holds_it),
		cmocka_unit_test(test_why_says_so_for_each_state),
		cmocka_unit_test(test_why_says_what_is_waited_for),
		cmocka_unit_test(test_who_waits_for_a_fiber_is_counted_and_named),
		cmocka_unit_test(test_text_has_the_sentence_below_the_header_and_the_rest),
		cmocka_unit_test(test_text_says_how_long_is_left_until_the_deadline),
		cmocka_unit_test(test_labels_and_an_ended_parent_are_shown),
		cmocka_unit_test(test_show_refuses_who_is_not_there),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, start, one_crowd_end);
}
