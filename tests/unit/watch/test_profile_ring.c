/* SPDX-License-Identifier: MIT */
/* test_profile_ring.c - samples come back as they were added, and the oldest make room */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "tests/harness/watchdog.h"
#include "watch/longrun.h"
#include "watch/profile_ring.h"

#define ROOM 65536u

static struct fib_profile_ring ring;

static int start(void **state)
{
	(void)state;
	ring = (struct fib_profile_ring){0};
	return fib_profile_ring_open(&ring, ROOM);
}

static int stop(void **state)
{
	(void)state;
	fib_profile_ring_close(&ring);
	return 0;
}

/* The stack of sample `number` has this size, and this byte everywhere. */
static uint32_t size_of(uint64_t number, uint32_t most)
{
	return (uint32_t)(number * 2654435761u % (most + 1));
}

static int byte_of(uint64_t number)
{
	return (int)(number % 251 + 1);
}

static void add(uint32_t size)
{
	static unsigned char stack[FIB_LONGRUN_STACK];
	const struct fib_profile_sample sample = {.fiber = 1000 + ring.next, .stack_size = size};

	memset(stack, byte_of(ring.next), size);
	fib_profile_ring_add(&ring, &sample, stack);
}

/* Check every sample that is there, and return their number. */
static uint64_t check(uint32_t most)
{
	uint64_t n;
	uint32_t i;

	for (n = ring.first; n < ring.next; n++) {
		const struct fib_profile_sample *s = fib_profile_ring_at(&ring, n);
		const unsigned char *stack = (const unsigned char *)(s + 1);

		assert_int_equal(s->number, n);
		assert_int_equal(s->fiber, 1000 + n);
		assert_int_equal(s->stack_size, size_of(n, most));
		for (i = 0; i < s->stack_size; i++)
			assert_int_equal(stack[i], byte_of(n));
	}
	return ring.next - ring.first;
}

static void test_samples_come_back_as_they_were_added(void **state)
{
	unsigned i;

	(void)state;
	assert_null(fib_profile_ring_at(&ring, 0));
	for (i = 0; i < 20; i++)
		add(size_of(i, 2000));
	assert_int_equal(check(2000), 20);
	assert_null(fib_profile_ring_at(&ring, 20));
}

/* Stacks of many sizes wrap at many places; after each the ring must be whole and nearly full. */
static void test_the_oldest_samples_make_room(void **state)
{
	const uint32_t mosts[] = {0, 100, 2000, FIB_LONGRUN_STACK};
	unsigned m, i;

	(void)state;
	for (m = 0; m < sizeof mosts / sizeof mosts[0]; m++) {
		const uint32_t longest = (uint32_t)sizeof(struct fib_profile_sample) + mosts[m] + 8;

		fib_profile_ring_close(&ring);
		ring = (struct fib_profile_ring){0};
		assert_int_equal(fib_profile_ring_open(&ring, ROOM), 0);
		for (i = 0; i < 3000; i++) {
			add(size_of(i, mosts[m]));
			if (i < 100 || i % 100 == 0)
				/* One is lost at the end of the memory, one where the next begins. */
				assert_true(check(mosts[m]) >= (ROOM - 2 * longest) / longest ||
					    ring.first == 0);
		}
		assert_non_null(fib_profile_ring_at(&ring, 2999));
		assert_null(fib_profile_ring_at(&ring, 0));
		assert_null(fib_profile_ring_at(&ring, ring.first - 1));
	}
}

static void test_numbers_go_on_when_the_ring_is_opened_again(void **state)
{
	(void)state;
	add(100);
	add(200);
	fib_profile_ring_close(&ring);
	assert_null(fib_profile_ring_at(&ring, 1));
	assert_int_equal(fib_profile_ring_open(&ring, ROOM), 0);
	assert_null(fib_profile_ring_at(&ring, 1));
	add(300);
	assert_int_equal(ring.first, 2);
	assert_int_equal(fib_profile_ring_at(&ring, 2)->stack_size, 300);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_samples_come_back_as_they_were_added, start,
						stop),
		cmocka_unit_test_setup_teardown(test_the_oldest_samples_make_room, start, stop),
		cmocka_unit_test_setup_teardown(test_numbers_go_on_when_the_ring_is_opened_again,
						start, stop),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
