/* SPDX-License-Identifier: MIT */
/* test_time.c - sleeping and yielding in a fiber */
#include "outcome.h"

#include <time.h>

static void *do_nanosleep(void *arg)
{
	const struct timespec t = {0, 20 * MS};

	return outcome(arg, nanosleep(&t, NULL));
}

static void *do_usleep(void *arg)
{
	return outcome(arg, usleep(20000));
}

static void *do_clock_relative(void *arg)
{
	const struct timespec t = {0, 20 * MS};

	return outcome(arg, clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL));
}

static void *until(clockid_t clock, void *arg)
{
	struct timespec t;

	clock_gettime(clock, &t);
	t.tv_nsec += 20 * MS;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return outcome(arg, clock_nanosleep(clock, TIMER_ABSTIME, &t, NULL));
}

static void *do_until_monotonic(void *arg)
{
	return until(CLOCK_MONOTONIC, arg);
}

static void *do_until_realtime(void *arg)
{
	return until(CLOCK_REALTIME, arg);
}

static void test_sleeps_end_not_before_their_time(void **state)
{
	fiber_fn *const sleeps[] = {do_nanosleep, do_usleep, do_clock_relative, do_until_monotonic,
				    do_until_realtime};

	(void)state;
	for (size_t i = 0; i < sizeof sleeps / sizeof sleeps[0]; i++) {
		struct call c = {0};
		const int64_t began = fiber_now();

		both_give(sleeps[i], &c, 0, 0);
		assert_true(fiber_now() - began >= 40 * MS);
	}
}

static void *sleeps_long(void *arg)
{
	const struct timespec t = {3600, 0};
	struct timespec left = {0, 0};
	struct call *c = arg;
	const int rc = nanosleep(&t, &left);

	c->size = (size_t)left.tv_sec;
	return outcome(c, rc);
}

static void *sleeps_seconds(void *arg)
{
	return outcome(arg, sleep(3600));
}

static void test_cancelled_sleep_says_what_is_left(void **state)
{
	struct call c = {0};
	struct fiber *f;

	(void)state;
	f = inside_suspended(sleeps_long, &c);
	assert_int_equal(fiber_cancel(f), 0);
	assert_int_equal(inside_join_cancelled(f), -1);
	assert_int_equal(c.error, ECANCELED);
	assert_in_range(c.size, 3500, 3600);
	f = inside_suspended(sleeps_seconds, &c);
	assert_int_equal(fiber_cancel(f), 0);
	assert_in_range(inside_join_cancelled(f), 3500, 3600);
}

static void *sleeps_wrongly(void *arg)
{
	const struct timespec t = {0, 1000000000};

	return outcome(arg, nanosleep(&t, NULL));
}

static void *sleeps_by_cpu_time(void *arg)
{
	const struct timespec t = {0, 0};

	return outcome(arg, clock_nanosleep(CLOCK_PROCESS_CPUTIME_ID, 0, &t, NULL));
}

static void test_times_and_clocks_are_those_of_the_system(void **state)
{
	struct call c = {0};

	(void)state;
	both_give(sleeps_wrongly, &c, -1, EINVAL);
	both_give(sleeps_by_cpu_time, &c, 0, 0);
}

/* sched_yield(2) is declared as a function that changes no variable of this file. */
static volatile int turn;

static void *takes_turns(void *arg)
{
	const int mine = (int)(intptr_t)arg;
	int i;

	for (i = 0; i < 100; i++) {
		while (turn % 2 != mine)
			sched_yield();
		turn++;
	}
	return NULL;
}

static void *starts_two(void *arg)
{
	struct fiber *f[2];

	for (intptr_t i = 0; i < 2; i++)
		fiber_spawn(takes_turns, (void *)i, &f[i]);
	fiber_join(f[0], NULL, FIBER_FOREVER);
	fiber_join(f[1], NULL, FIBER_FOREVER);
	return arg;
}

static void test_sched_yield_lets_the_other_fiber_run(void **state)
{
	const struct fiber_runtime_options one = {
		.size = sizeof one, .carriers = 1, .control_path = ""};

	(void)state;
	turn = 0;
	assert_int_equal(fiber_run(starts_two, NULL, &one, NULL), 0);
	assert_int_equal(turn, 200);
}

static void *sleeps_for_no_time_at_all(void *arg)
{
	struct call *c = arg;
	const struct timespec *volatile none = NULL;

	if (clock_nanosleep(CLOCK_MONOTONIC, 0, none, NULL) != EFAULT)
		return NULL;
	return outcome(c, nanosleep(none, NULL));
}

static void test_sleep_without_a_time_is_efault(void **state)
{
	struct call c = {0};

	(void)state;
	both_give(sleeps_for_no_time_at_all, &c, -1, EFAULT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sleeps_end_not_before_their_time),
		cmocka_unit_test(test_cancelled_sleep_says_what_is_left),
		cmocka_unit_test(test_times_and_clocks_are_those_of_the_system),
		cmocka_unit_test(test_sched_yield_lets_the_other_fiber_run),
		cmocka_unit_test(test_sleep_without_a_time_is_efault),
	};

	OUTCOME_MAIN(tests);
}
