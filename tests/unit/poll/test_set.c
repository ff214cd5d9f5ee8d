/* SPDX-License-Identifier: MIT */
/* test_set.c - which events are asked for, and that no answer counts for more than those */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "poll/set.h"
#include "tests/harness/watchdog.h"

#define OWN 1000
#define ALL 300 /* more than the initial room */

static struct fib_poll_set set;
static struct fib_poll_question q;
static struct fib_poll_event events[ALL];

static int setup(void **state)
{
	(void)state;
	set = (struct fib_poll_set){0};
	q = (struct fib_poll_question){0};
	return fib_poll_set_open(&set) < 0 || fib_poll_question_open(&q) < 0;
}

static int teardown(void **state)
{
	(void)state;
	fib_poll_set_close(&set);
	fib_poll_question_close(&q);
	return 0;
}

/* Return the events that are now requested of fd; -1: none. */
static int asked(int fd)
{
	unsigned i;

	fib_poll_set_copy(&set, &q, OWN);
	for (i = 1; i < q.n; i++)
		if (q.fds[i].fd == fd)
			return q.fds[i].events;
	return -1;
}

/* Pretend that poll(2) reported revents for fd. */
static void say(int fd, short revents)
{
	unsigned i;

	for (i = 1; i < q.n; i++)
		if (q.fds[i].fd == fd)
			q.fds[i].revents = revents;
}

static void test_set_asks_first_for_the_askers_own(void **state)
{
	(void)state;
	fib_poll_set_copy(&set, &q, OWN);
	assert_int_equal(q.n, 1);
	assert_int_equal(q.fds[0].fd, OWN);
	assert_int_equal(q.fds[0].events, POLLIN);
	assert_int_equal(fib_poll_set_report(&set, &q, events, ALL), 0);
}

static void test_set_adds_what_is_asked_and_takes_out_what_is_told(void **state)
{
	(void)state;
	assert_int_equal(fib_poll_set_ask(&set, 5, 50, POLLIN), 0);
	assert_int_equal(fib_poll_set_ask(&set, 5, 51, POLLOUT), 0);
	assert_int_equal(asked(5), POLLIN | POLLOUT);
	say(5, POLLOUT);
	assert_int_equal(fib_poll_set_report(&set, &q, events, ALL), 1);
	assert_int_equal(events[0].token, 51);
	assert_int_equal(events[0].events, POLLOUT);
	assert_int_equal(asked(5), POLLIN);
	say(5, POLLIN | POLLHUP);
	assert_int_equal(fib_poll_set_report(&set, &q, events, ALL), 1);
	assert_int_equal(events[0].events, POLLIN | POLLHUP);
	assert_int_equal(asked(5), -1);
}

static void test_set_leaves_out_altogether_what_has_hung_up(void **state)
{
	(void)state;
	assert_int_equal(fib_poll_set_ask(&set, 5, 50, POLLIN | POLLPRI), 0);
	asked(5);
	say(5, POLLERR);
	assert_int_equal(fib_poll_set_report(&set, &q, events, ALL), 1);
	assert_int_equal(asked(5), -1);
}

static void test_set_speaks_plainly(void **state)
{
	(void)state;
	assert_int_equal(fib_poll_set_ask(&set, 5, 50, POLLRDNORM | POLLWRNORM), 0);
	asked(5);
	say(5, POLLRDNORM | POLLWRNORM);
	assert_int_equal(fib_poll_set_report(&set, &q, events, ALL), 1);
	assert_int_equal(events[0].events, POLLIN | POLLOUT);
	assert_int_equal(fib_poll_set_ask(&set, 5, 50, POLLIN), 0);
	asked(5);
	say(5, POLLNVAL);
	assert_int_equal(fib_poll_set_report(&set, &q, events, ALL), 1);
	assert_int_equal(events[0].events, POLLERR);
}

static void test_set_does_not_believe_an_answer_older_than_the_question(void **state)
{
	(void)state;
	assert_int_equal(fib_poll_set_ask(&set, 5, 50, POLLIN), 0);
	asked(5);
	say(5, POLLNVAL);
	/* The descriptor was replaced meanwhile. */
	assert_true(fib_poll_set_drop(&set, 5));
	assert_int_equal(fib_poll_set_ask(&set, 5, 51, POLLIN), 0);
	assert_int_equal(fib_poll_set_report(&set, &q, events, ALL), 0);
	assert_int_equal(asked(5), POLLIN);
	say(5, POLLIN);
	assert_true(fib_poll_set_drop(&set, 5));
	assert_int_equal(fib_poll_set_report(&set, &q, events, ALL), 0);
}

static void test_set_drops_only_what_is_asked(void **state)
{
	(void)state;
	assert_false(fib_poll_set_drop(&set, -1));
	assert_false(fib_poll_set_drop(&set, 5));
	assert_false(fib_poll_set_drop(&set, 1 << 20));
	assert_int_equal(fib_poll_set_ask(&set, 5, 50, POLLIN), 0);
	assert_true(fib_poll_set_drop(&set, 5));
	assert_false(fib_poll_set_drop(&set, 5));
}

static void test_set_counts_its_changes(void **state)
{
	uint64_t before = set.version;

	(void)state;
	assert_int_equal(fib_poll_set_ask(&set, 5, 50, POLLIN), 0);
	assert_true(set.version > before);
	asked(5);
	before = set.version;
	assert_int_equal(q.version, before);
	say(5, POLLIN);
	assert_int_equal(fib_poll_set_report(&set, &q, events, ALL), 1);
	assert_true(set.version > before);
	before = set.version;
	assert_false(fib_poll_set_drop(&set, 5));
	assert_int_equal(set.version, before);
}

static void test_set_grows_and_keeps_track_of_everybodys_place(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < ALL; i++)
		assert_int_equal(fib_poll_set_ask(&set, i * 7, (uint64_t)i, POLLIN), 0);
	for (i = 0; i < ALL; i += 2)
		assert_true(fib_poll_set_drop(&set, i * 7));
	for (i = 0; i < ALL; i++)
		assert_int_equal(asked(i * 7), i % 2 ? POLLIN : -1);
	assert_int_equal(q.n, 1 + ALL / 2);
	for (i = 1; i < ALL; i += 2)
		say(i * 7, POLLIN);
	assert_int_equal(fib_poll_set_report(&set, &q, events, ALL), ALL / 2);
	assert_int_equal(set.n, 1);
}

#define SET_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SET_TEST(test_set_asks_first_for_the_askers_own),
		SET_TEST(test_set_adds_what_is_asked_and_takes_out_what_is_told),
		SET_TEST(test_set_leaves_out_altogether_what_has_hung_up),
		SET_TEST(test_set_speaks_plainly),
		SET_TEST(test_set_does_not_believe_an_answer_older_than_the_question),
		SET_TEST(test_set_drops_only_what_is_asked),
		SET_TEST(test_set_counts_its_changes),
		SET_TEST(test_set_grows_and_keeps_track_of_everybodys_place),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
