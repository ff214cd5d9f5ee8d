/* SPDX-License-Identifier: MIT */
/* test_cancel.c - a cancelled fiber stops waiting, and nothing that was on its way to it is lost */
#include "waits.h"

#include <arpa/inet.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

/* -- every kind of wait -- */

static int listener;

static int in_sleep(int64_t until)
{
	(void)until;
	return fiber_sleep(INT64_C(3600000000000));
}

static int in_park_with_a_deadline(int64_t until)
{
	(void)until;
	return fiber_park(fiber_after(INT64_C(3600000000000)));
}

static int in_select(int64_t until)
{
	char c;
	struct fiber_select_case cases[] = {
		{.op = FIBER_SELECT_RECV, .chan = all.empty, .elem = &c},
		{.op = FIBER_SELECT_TIMER, .at = until},
	};

	return fiber_select(cases, COUNT(cases), until);
}

static int in_write(int64_t until)
{
	static char bytes[1 << 16];
	ssize_t n;

	/* An earlier round's bytes may still be read: fill the pipe until it stays full. */
	do {
		n = fiber_write(all.ends[1], bytes, sizeof bytes, until);
	} while (n > 0);
	return (int)n;
}

static int in_accept(int64_t until)
{
	return fiber_accept(listener, NULL, NULL, until);
}

static const struct {
	const char *name;
	int (*wait)(int64_t until);
} waits[] = {
	{"sleep", in_sleep},	     {"sleep_until", in_sleep_until},
	{"park", in_park},	     {"park with a deadline", in_park_with_a_deadline},
	{"join", in_join},	     {"mutex", in_mutex},
	{"rdlock", in_rdlock},	     {"wrlock", in_wrlock},
	{"cond", in_cond},	     {"sem", in_sem},
	{"event", in_event},	     {"barrier", in_barrier},
	{"waitgroup", in_waitgroup}, {"timer", in_timer},
	{"predicate", in_predicate}, {"send", in_send},
	{"recv", in_recv},	     {"select", in_select},
	{"accept", in_accept},	     {"wait_fd", in_wait_fd},
	{"read", in_read},	     {"write", in_write}, /* last, because it fills the pipe */
};

struct turn {
	int (*wait)(int64_t until);
	int first, second;
	_Atomic bool began;
};

static void *wait_twice(void *arg)
{
	struct turn *t = arg;

	atomic_store(&t->began, true);
	t->first = t->wait(FIBER_FOREVER);
	/* The cancellation is permanent. */
	t->second = fiber_cancelled() ? fiber_park(FIBER_FOREVER) : 0;
	return t;
}

static void make_all(struct fiber_runtime *rt)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	waits_make(rt);
	assert_int_equal(pipe(all.ends), 0);
	listener = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
	assert_int_equal(listen(listener, 5), 0);
}

static void release_all(void)
{
	waits_release();
	fiber_close(listener);
}

/* Cancel a fiber during its wait, just before the wait, and before it runs. Returns the number of
 * failures. */
static int cancel_at_each_moment(struct fiber_runtime *rt, int (*wait)(int64_t until))
{
	int bad = 0;

	for (int i = 0; i < 30; i++) {
		struct turn t = {wait, 1, 1, false};
		struct fiber_result r = {NULL, 1};
		struct fiber *fiber;

		if (fiber_runtime_spawn(rt, NULL, wait_twice, &t, &fiber) < 0)
			return -1;
		if (i % 3 == 0)
			carriers_await_suspended(fiber);
		else if (i % 3 == 1)
			while (!atomic_load(&t.began))
				carriers_pause();
		fiber_cancel(fiber);
		fiber_join(fiber, &r, FIBER_FOREVER);
		bad += t.first != -ECANCELED || t.second != -ECANCELED || r.value != &t ||
		       r.error != -ECANCELED;
	}
	return bad;
}

static void test_cancel_ends_every_kind_of_wait_at_every_moment(void **state)
{
	struct fiber_runtime *rt = carriers_start();

	(void)state;
	make_all(rt);
	for (size_t i = 0; i < COUNT(waits); i++) {
		int bad = cancel_at_each_moment(rt, waits[i].wait);

		if (bad)
			print_message("# %s: %d\n", waits[i].name, bad);
		assert_int_equal(bad, 0);
	}
	release_all();
	carriers_finish(rt);
}

/* -- nothing is lost -- */

static void *read_three_times(void *arg)
{
	static char bytes[16];
	ssize_t *n = arg;

	fiber_cancel(fiber_self());
	for (int i = 0; i < 3; i++)
		n[i] = fiber_read(all.ends[0], bytes, 4, FIBER_FOREVER);
	return NULL;
}

static void test_cancel_returns_the_bytes_that_are_there_first(void **state)
{
	ssize_t n[3] = {1, 1, 1};

	(void)state;
	assert_int_equal(pipe(all.ends), 0);
	assert_int_equal(write(all.ends[1], "abcdef", 6), 6);
	assert_int_equal(carriers_run(read_three_times, n).error, -ECANCELED);
	assert_int_equal(n[0], 4);
	assert_int_equal(n[1], 2);
	assert_int_equal(n[2], -ECANCELED);
	close(all.ends[0]);
	close(all.ends[1]);
}

/* -- many -- */

static void test_cancel_ends_thousands_of_sleepers(void **state)
{
	struct fiber_runtime *rt = carriers_start();
	size_t n = carriers_scale(20000), cancelled = 0;
	struct fiber **fibers = calloc(n, sizeof *fibers);

	(void)state;
	assert_non_null(fibers);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(fiber_runtime_spawn(rt, NULL, sleeps_for_ever, NULL, &fibers[i]),
				 0);
	for (size_t i = 0; i < n; i++)
		fiber_cancel(fibers[i]);
	for (size_t i = 0; i < n; i++) {
		struct fiber_result r = {NULL, 1};

		assert_int_equal(fiber_join(fibers[i], &r, FIBER_FOREVER), 0);
		cancelled += r.error == -ECANCELED;
	}
	assert_int_equal(cancelled, n);
	free(fibers);
	carriers_finish(rt);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cancel_ends_every_kind_of_wait_at_every_moment),
		cmocka_unit_test(test_cancel_returns_the_bytes_that_are_there_first),
		cmocka_unit_test(test_cancel_ends_thousands_of_sleepers),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
