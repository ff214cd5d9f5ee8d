/* SPDX-License-Identifier: MIT */
/* test_libc.c - clocks, sleeps and random bytes of the program are those of the schedule */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include <fiber.h>
#include <fiber/test.h>

#define SECOND INT64_C(1000000000)

/* Also outside a schedule. */
static int64_t now_of(clockid_t clock)
{
	struct timespec t;

	fiber_test_assert(clock_gettime(clock, &t) == 0);
	return (int64_t)t.tv_sec * SECOND + t.tv_nsec;
}

static void expect_passed(fiber_test_fn *fn, int64_t slack)
{
	const struct fiber_test_options options = {
		.size = sizeof options, .schedules = 50, .slack = slack};
	struct fiber_test_result result = {.size = sizeof result};

	fiber_test_explore(fn, NULL, &options, &result);
	assert_string_equal(result.message, "");
	assert_int_equal(result.verdict, FIBER_TEST_PASSED);
}

static void read_clocks(void *arg)
{
	const int64_t wall = now_of(CLOCK_REALTIME), mono = now_of(CLOCK_MONOTONIC);
	struct timeval tv;

	(void)arg;
	fiber_test_assert(mono == fiber_now());
	fiber_test_assert(mono == SECOND);
	fiber_sleep(3600 * SECOND);
	fiber_test_assert(now_of(CLOCK_MONOTONIC) == mono + 3600 * SECOND);
	fiber_test_assert(now_of(CLOCK_BOOTTIME) == mono + 3600 * SECOND);
	fiber_test_assert(now_of(CLOCK_REALTIME) == wall + 3600 * SECOND);
	fiber_test_assert(time(NULL) == (time_t)(wall / SECOND) + 3600);
	fiber_test_assert(gettimeofday(&tv, NULL) == 0 && tv.tv_sec == time(NULL));
	fiber_test_assert(clock_gettime(9999, &(struct timespec){0, 0}) == -1 && errno == EINVAL);
}

static void test_clocks_are_virtual_in_a_schedule(void **state)
{
	const int64_t before = now_of(CLOCK_MONOTONIC);

	(void)state;
	expect_passed(read_clocks, -1);
	assert_true(now_of(CLOCK_MONOTONIC) >= before);
	assert_true(now_of(CLOCK_MONOTONIC) - before < 3600 * SECOND);
	assert_true(time(NULL) > 1700000000);
}

static int order[3], slept;

static void *sleep_an_hour(void *arg)
{
	const int64_t before = fiber_now();

	fiber_test_assert(sleep(3600) == 0);
	fiber_test_assert(fiber_now() == before + 3600 * SECOND);
	order[slept++] = 1;
	return arg;
}

static void *sleep_a_minute(void *arg)
{
	const struct timespec minute = {60, 0};
	const int64_t before = fiber_now();

	fiber_test_assert(nanosleep(&minute, NULL) == 0);
	fiber_test_assert(fiber_now() == before + 60 * SECOND);
	order[slept++] = 2;
	return arg;
}

static void *sleep_half_a_second(void *arg)
{
	const int64_t before = fiber_now();
	struct timespec until = {(time_t)(before / SECOND), 500000000};

	fiber_test_assert(usleep(250000) == 0);
	fiber_test_assert(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == 0);
	fiber_test_assert(fiber_now() == before + SECOND / 2);
	order[slept++] = 3;
	return arg;
}

static void sleep_in_fibers(void *arg)
{
	struct fiber *fibers[3];
	int i;

	(void)arg;
	slept = 0;
	fiber_spawn(sleep_an_hour, NULL, &fibers[0]);
	fiber_spawn(sleep_a_minute, NULL, &fibers[1]);
	fiber_spawn(sleep_half_a_second, NULL, &fibers[2]);
	for (i = 0; i < 3; i++)
		fiber_join(fibers[i], NULL, FIBER_FOREVER);
	fiber_test_assert(order[0] == 3 && order[1] == 2 && order[2] == 1);
}

static void test_sleeps_let_others_run_and_time_pass(void **state)
{
	(void)state;
	expect_passed(sleep_in_fibers, -1);
}

static void sleep_wrongly(void *arg)
{
	const struct timespec wrong = {0, SECOND};

	(void)arg;
	fiber_test_assert(nanosleep(&wrong, NULL) == -1 && errno == EINVAL);
	fiber_test_assert(clock_nanosleep(CLOCK_REALTIME, 0, &wrong, NULL) == EINVAL);
}

static void test_a_sleep_of_no_time_is_refused(void **state)
{
	(void)state;
	expect_passed(sleep_wrongly, -1);
}

static void *sleep_on_thread(void *arg)
{
	sleep(1000);
	return arg;
}

static int runs;

static void *run_beside(void *arg)
{
	const int64_t end = fiber_now() + SECOND;

	/* No other fiber runs while fn sleeps. */
	while (runs++ < 3)
		fiber_yield();
	fiber_test_assert(fiber_now() < end || fiber_now() == 1001 * SECOND);
	return arg;
}

static void block_and_sleep(void *arg)
{
	struct fiber *fiber;

	(void)arg;
	runs = 0;
	fiber_spawn(run_beside, NULL, &fiber);
	fiber_test_assert(fiber_block(sleep_on_thread, NULL, NULL, FIBER_FOREVER) == 0);
	fiber_test_assert(fiber_now() == 1001 * SECOND);
	fiber_join(fiber, NULL, FIBER_FOREVER);
}

static void test_a_sleep_in_a_blocking_call_takes_virtual_time(void **state)
{
	(void)state;
	expect_passed(block_and_sleep, -1);
}

/* A loop until it is late, beside a deadline that is only there to catch a hang. */
static void *wait_for_late(void *arg)
{
	const int64_t end = fiber_now() + SECOND / 100;

	while (now_of(CLOCK_MONOTONIC) < end)
		;
	fiber_test_assert(fiber_now() < end + SECOND / 100);
	return arg;
}

static void read_until_late(void *arg)
{
	struct fiber *fiber;

	(void)arg;
	fiber_spawn(wait_for_late, NULL, &fiber);
	fiber_test_assert(fiber_join(fiber, NULL, fiber_now() + 5 * SECOND) == 0);
}

static void test_a_loop_that_reads_the_clock_ends(void **state)
{
	(void)state;
	expect_passed(read_until_late, 0);
}

static unsigned char first[40];

static void draw_bytes(void *arg)
{
	unsigned char bytes[257];

	(void)arg;
	fiber_test_assert(getrandom(bytes, 20, 0) == 20 && getentropy(bytes + 20, 20) == 0);
	if (!first[0] && !first[1])
		memcpy(first, bytes, sizeof first);
	fiber_test_assert(memcmp(first, bytes, sizeof first) == 0);
	fiber_test_assert(getentropy(bytes, 257) == -1 && errno == EIO);
	fiber_test_assert(getrandom(bytes, 1, 0x1000) == -1 && errno == EINVAL);
}

static void test_random_bytes_are_the_same_in_each_schedule(void **state)
{
	unsigned char a[16], b[16];

	(void)state;
	expect_passed(draw_bytes, 0);
	assert_int_equal(getrandom(a, sizeof a, 0), sizeof a);
	assert_int_equal(getentropy(b, sizeof b), 0);
	assert_memory_not_equal(a, b, sizeof a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clocks_are_virtual_in_a_schedule),
		cmocka_unit_test(test_sleeps_let_others_run_and_time_pass),
		cmocka_unit_test(test_a_sleep_of_no_time_is_refused),
		cmocka_unit_test(test_a_sleep_in_a_blocking_call_takes_virtual_time),
		cmocka_unit_test(test_a_loop_that_reads_the_clock_ends),
		cmocka_unit_test(test_random_bytes_are_the_same_in_each_schedule),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
