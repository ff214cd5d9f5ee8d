/* SPDX-License-Identifier: MIT */
/* test_maps.c - one peer at a time reads the mappings, and a stalled one loses them */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "service/kept.h"
#include "service/maps.h"
#include "tests/harness/watchdog.h"

#define SECOND INT64_C(1000000000)

static struct fib_peer first, second;

static int set_up(void **state)
{
	(void)state;
	memset(&first, 0, sizeof first);
	memset(&second, 0, sizeof second);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	fib_maps_leave(&first);
	fib_maps_leave(&second);
	fib_kept_close();
	return 0;
}

static ssize_t read_some(struct fib_peer *peer, int64_t now)
{
	char text[512];
	ssize_t n = fib_maps_read(peer, text, sizeof text, peer->cursor.mapped, now);

	if (n > 0)
		peer->cursor.mapped += (size_t)n;
	return n;
}

static void test_maps_are_read_to_their_end(void **state)
{
	(void)state;
	while (read_some(&first, 0) > 0)
		;
	assert_true(first.cursor.mapped > 512);
	assert_int_equal(read_some(&first, 0), 0);
}

static void test_maps_of_one_peer_are_waited_for_by_the_next(void **state)
{
	(void)state;
	assert_int_equal(fib_maps_until(&second), 0);
	assert_true(read_some(&first, 0) > 0);
	assert_int_equal(read_some(&second, SECOND), -EAGAIN);
	assert_int_equal(fib_maps_until(&second), INT64_MAX);
	assert_int_equal(fib_maps_until(&first), 0);
	fib_maps_leave(&second); /* has no effect: it does not hold the mappings */
	assert_int_equal(read_some(&second, SECOND), -EAGAIN);
	fib_maps_leave(&first);
	assert_int_equal(fib_maps_until(&second), 0);
	assert_true(read_some(&second, SECOND) > 0);
}

static void test_maps_of_a_peer_that_takes_nothing_go_to_the_next(void **state)
{
	(void)state;
	assert_true(read_some(&first, 0) > 0);
	first.writing = true;
	first.spoke = 10 * SECOND;
	assert_int_equal(read_some(&second, first.spoke), -EAGAIN);
	assert_true(fib_maps_until(&second) > first.spoke);
	assert_true(fib_maps_until(&second) <= first.spoke + SECOND);
	assert_true(read_some(&second, fib_maps_until(&second)) > 0);
	/* The first peer continues from its place when it can. */
	first.writing = false;
	assert_int_equal(read_some(&first, 20 * SECOND), -EAGAIN);
	fib_maps_leave(&second);
	assert_true(first.cursor.mapped > 0);
	assert_true(read_some(&first, 20 * SECOND) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_maps_are_read_to_their_end, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_maps_of_one_peer_are_waited_for_by_the_next,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			test_maps_of_a_peer_that_takes_nothing_go_to_the_next, set_up, tear_down),
	};

	harness_watchdog(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
