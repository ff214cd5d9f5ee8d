/* SPDX-License-Identifier: MIT */
/* test_objects.c - what many fibers wait for, looked at together, is what is seen one by one. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "os/os.h"
#include "records.h"
#include "service/sample.h"
#include "tests/harness/watchdog.h"

#define MANY FIB_SAMPLE_OBJECTS

static struct fiber *all[MANY];
static struct fiber_mutex locks[MANY];
static struct fib_row rows[MANY];
static int rcs[MANY];

static int setup(void **state)
{
	unsigned i;

	(void)state;
	for (i = 0; i < MANY; i++) {
		all[i] = record_make("waiter", 0, 0);
		snprintf(locks[i].name, sizeof locks[i].name, "lock-%u", i);
		fib_store(&locks[i].owner, 100 + i);
		all[i]->wait_object = (uint64_t)(uintptr_t)&locks[i];
		fib_store(&all[i]->wait_kind, FIB_WAIT_MUTEX);
	}
	return 0;
}

static int teardown(void **state)
{
	unsigned i;

	(void)state;
	for (i = MANY; i-- > 0;)
		record_end(all[i]);
	return 0;
}

static void sample(void)
{
	unsigned i;

	for (i = 0; i < MANY; i++)
		assert_true(fib_sample_row(record_index(all[i]), fib_os_now(), &rows[i]));
	fib_sample_objects(rows, MANY, rcs);
}

static void assert_seen(unsigned i)
{
	char name[32];

	snprintf(name, sizeof name, "lock-%u", i);
	assert_int_equal(rcs[i], 0);
	assert_string_equal(rows[i].object_name, name);
	assert_int_equal(rows[i].holder, 100 + i);
}

static void test_objects_of_all_are_named_with_their_holders(void **state)
{
	unsigned i;

	(void)state;
	sample();
	for (i = 0; i < MANY; i++)
		assert_seen(i);
}

static void test_objects_that_are_gone_fail_alone(void **state)
{
	unsigned i;

	(void)state;
	for (i = 0; i < MANY; i += 3)
		all[i]->wait_object = 16;
	sample();
	for (i = 0; i < MANY; i++) {
		if (i % 3) {
			assert_seen(i);
			continue;
		}
		assert_int_equal(rcs[i], -EFAULT);
		assert_string_equal(rows[i].object_name, "");
		assert_int_equal(rows[i].holder, 0);
	}
}

static void test_objects_that_say_nothing_are_not_looked_at(void **state)
{
	(void)state;
	fib_store(&all[0]->wait_kind, FIB_WAIT_SLEEP);
	all[0]->wait_object = 16;
	all[1]->wait_object = 0;
	sample();
	assert_int_equal(rcs[0], 0);
	assert_string_equal(rows[0].object_name, "");
	assert_int_equal(rcs[1], 0);
	assert_seen(2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_objects_of_all_are_named_with_their_holders,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_objects_that_are_gone_fail_alone, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_objects_that_say_nothing_are_not_looked_at,
						setup, teardown),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
