/* SPDX-License-Identifier: MIT */
/* test_tick_timer.c - when the next tick comes, and that hardware timers are set rarely */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "os/local.h"
#include "os/os.h"
#include "service/tick_timer.h"
#include "tests/harness/watchdog.h"

#define US INT64_C(1000)
#define MS (1000 * US)
#define S  (1000 * MS)

static unsigned sets; /* how many timers were set */

int timerfd_settime(int fd, int flags, const struct itimerspec *to, struct itimerspec *was)
{
	sets++;
	return (int)syscall(SYS_timerfd_settime, fd, flags, to, was);
}

/* Timers that do not expire in this test; *ret_now is the time of the first tick. */
static struct fib_tick_timer begin(int64_t *ret_now)
{
	struct fib_tick_timer b;

	fib_tick_timer_open(&b);
	assert_true(b.fd[0] >= 0 && b.fd[1] >= 0);
	*ret_now = fib_tick_timer_next(&b, fib_os_now() + 1000 * S, MS);
	sets = 0;
	return b;
}

/* The other timer expires earlier, so the hardware timer is already set. */
static void test_beat_sets_one_timer_and_never_the_next_to_expire(void **state)
{
	int64_t now, next;
	struct fib_tick_timer b = begin(&now);
	int i;

	(void)state;
	for (i = 1; i <= 1000; i++) {
		const int64_t pending = b.at[0] > now ? b.at[0] : b.at[1];

		next = fib_tick_timer_next(&b, now + i % 900 * US, MS);
		assert_int_equal(next, pending);
		assert_int_equal(next, now + MS);
		assert_true(fib_tick_timer_sure(&b, next));
		assert_int_equal(sets, i);
		now = next;
	}
	fib_tick_timer_close(&b);
}

static void test_beat_that_is_late_begins_anew(void **state)
{
	int64_t now;
	struct fib_tick_timer b = begin(&now);

	(void)state;
	now += 7 * MS;
	assert_int_equal(fib_tick_timer_next(&b, now, MS), now + MS);
	assert_int_equal(fib_tick_timer_next(&b, now + MS, MS), now + 2 * MS);
	fib_tick_timer_close(&b);
}

static void test_beat_comes_in_time_when_pauses_change(void **state)
{
	int64_t now, next;
	struct fib_tick_timer b = begin(&now);

	(void)state;
	next = fib_tick_timer_next(&b, now, 4 * MS);
	assert_int_equal(next, now + MS);
	now = next;
	next = fib_tick_timer_next(&b, now, 4 * MS);
	assert_in_range(next, now + 1, now + 4 * MS);
	now = next;
	next = fib_tick_timer_next(&b, now, MS);
	assert_int_equal(next, now + MS);
	assert_true(fib_tick_timer_sure(&b, next));
	now = next;
	assert_int_equal(fib_tick_timer_next(&b, now, MS), now + MS);
	fib_tick_timer_close(&b);
}

static bool readable(const struct fib_tick_timer *b, int64_t until)
{
	struct pollfd slots[FIB_TICK_TIMER_SLOTS];

	fib_tick_timer_fill(b, slots);
	return fib_os_poll(slots, FIB_TICK_TIMER_SLOTS, until) > 0;
}

static void test_beat_is_heard_by_poll_and_not_before_its_time(void **state)
{
	struct fib_tick_timer b;
	int64_t next;
	int i;

	(void)state;
	fib_tick_timer_open(&b);
	next = fib_tick_timer_next(&b, fib_os_now(), 5 * MS);
	for (i = 0; i < 20; i++) {
		assert_true(readable(&b, INT64_MAX));
		assert_true(fib_os_now() >= next);
		next = fib_tick_timer_next(&b, fib_os_now(), 5 * MS);
	}
	fib_tick_timer_close(&b);
}

static void test_beat_rests(void **state)
{
	struct fib_tick_timer b;
	int64_t now;

	(void)state;
	fib_tick_timer_open(&b);
	fib_tick_timer_next(&b, fib_os_now(), MS);
	assert_int_equal(fib_tick_timer_next(&b, fib_os_now(), 0), INT64_MAX);
	assert_false(fib_tick_timer_sure(&b, INT64_MAX));
	assert_false(readable(&b, fib_os_now() + 5 * MS));
	now = fib_os_now();
	assert_int_equal(fib_tick_timer_next(&b, now, MS), now + MS);
	assert_true(readable(&b, INT64_MAX));
	fib_tick_timer_close(&b);
}

/*
 * Two timers differ only in their settings. The program's timer now has the number of the library's
 * timer.
 */
static void test_beat_leaves_a_timer_of_the_program_alone(void **state)
{
	const struct itimerspec set = {{60, 0}, {30, 0}};
	struct itimerspec is;
	int64_t now, next;
	struct fib_tick_timer b = begin(&now);
	const int number = b.fd[0], other = b.fd[1];
	int theirs = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);

	(void)state;
	assert_int_equal(dup2(theirs, number), number);
	assert_int_equal(timerfd_settime(theirs, 0, &set, NULL), 0);
	next = fib_tick_timer_next(&b, now + 10 * MS, MS);
	assert_int_equal(next, now + 11 * MS);
	assert_false(fib_tick_timer_sure(&b, next));
	assert_int_equal(timerfd_gettime(theirs, &is), 0);
	assert_int_equal(is.it_interval.tv_sec, 60);
	assert_in_range(is.it_value.tv_sec, 1, 30);
	assert_int_equal(timerfd_gettime(number, &is), 0);
	assert_int_equal(timerfd_gettime(other, &is), -1); /* was the library's, and is closed */
	assert_int_equal(fib_tick_timer_next(&b, next, MS), next + MS);
	assert_int_equal(fib_tick_timer_next(&b, next, 0), INT64_MAX);
	close(number);
	close(theirs);
}

static void test_beat_without_its_descriptors_still_says_when(void **state)
{
	struct pollfd slots[FIB_TICK_TIMER_SLOTS];
	int64_t now;
	struct fib_tick_timer b = begin(&now);

	(void)state;
	close(b.fd[1]);
	fib_tick_timer_fill(&b, slots);
	assert_int_equal(fib_os_poll(slots, FIB_TICK_TIMER_SLOTS, 0), 1);
	fib_tick_timer_look(&b, slots);
	assert_int_equal(b.fd[0], -1);
	assert_int_equal(b.fd[1], -1);
	assert_int_equal(fib_tick_timer_next(&b, now, MS), now + MS);
	assert_false(fib_tick_timer_sure(&b, now + MS));
	assert_false(readable(&b, 0));
}

static void test_beat_begins_without_descriptors(void **state)
{
	struct rlimit before, none;
	struct fib_tick_timer b;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){0, before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	fib_tick_timer_open(&b);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(fib_tick_timer_next(&b, 5 * S, MS), 5 * S + MS);
	assert_int_equal(fib_tick_timer_next(&b, 5 * S, 0), INT64_MAX);
	fib_tick_timer_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_beat_sets_one_timer_and_never_the_next_to_expire),
		cmocka_unit_test(test_beat_that_is_late_begins_anew),
		cmocka_unit_test(test_beat_comes_in_time_when_pauses_change),
		cmocka_unit_test(test_beat_is_heard_by_poll_and_not_before_its_time),
		cmocka_unit_test(test_beat_rests),
		cmocka_unit_test(test_beat_leaves_a_timer_of_the_program_alone),
		cmocka_unit_test(test_beat_without_its_descriptors_still_says_when),
		cmocka_unit_test(test_beat_begins_without_descriptors),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
