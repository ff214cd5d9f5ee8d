/* SPDX-License-Identifier: MIT */
/* test_chan_list.c - the list has each channel with a buffer once, until it is freed */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "sync/chan_list.h"
#include "tests/harness/watchdog.h"

#define CHANS 100u

static struct fiber_chan *chans[CHANS], *bare;
static unsigned seen[CHANS], strange;

static int count(const struct fiber_chan *chan, void *arg)
{
	unsigned i;

	for (i = 0; i < CHANS && chans[i] != chan; i++)
		;
	if (i < CHANS)
		seen[i]++;
	strange += chan == bare;
	return ++*(unsigned *)arg == 7 ? 7 : 0;
}

static int walk(unsigned from)
{
	int rc;

	fib_chan_list_lock();
	rc = fib_chan_list_each(count, &from);
	fib_chan_list_unlock();
	return rc;
}

static void test_chan_list_has_each_channel_with_a_buffer_once(void **state)
{
	(void)state;
	assert_int_equal(fiber_chan_new(8, 0, &bare), 0);
	for (unsigned i = 0; i < CHANS; i++)
		assert_int_equal(fiber_chan_new(8, 1 + i, &chans[i]), 0);
	assert_int_equal(walk(1000), 0);
	for (unsigned i = 0; i < CHANS; i++) {
		assert_int_equal(seen[i], 1);
		if (i % 2)
			fiber_chan_unref(chans[i]);
	}
	assert_int_equal(walk(1000), 0);
	for (unsigned i = 0; i < CHANS; i++) {
		assert_int_equal(seen[i], i % 2 ? 1 : 2);
		if (i % 2 == 0 && i > 40)
			fiber_chan_unref(chans[i]);
	}
	assert_int_equal(strange, 0);
	assert_int_equal(walk(0), 7);
	for (unsigned i = 0; i <= 40; i += 2)
		fiber_chan_unref(chans[i]);
	fiber_chan_unref(bare);
	assert_int_equal(walk(0), 0);
}

static void test_chan_list_that_is_locked_is_not_locked_again(void **state)
{
	(void)state;
	fib_chan_list_lock();
	assert_false(fib_chan_list_try());
	fib_chan_list_unlock();
	assert_true(fib_chan_list_try());
	assert_false(fib_chan_list_try());
	fib_chan_list_unlock();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chan_list_has_each_channel_with_a_buffer_once),
		cmocka_unit_test(test_chan_list_that_is_locked_is_not_locked_again),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
