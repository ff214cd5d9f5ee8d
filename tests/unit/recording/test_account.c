/* SPDX-License-Identifier: MIT */
/* test_account.c - where the time of a fully known recording went */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/harness/inspect/accounted.h"
#include "tests/harness/watchdog.h"

static void test_account_adds_up_what_fibers_did(void **state)
{
	(void)state;
	accounted(made_three());
	assert_int_equal(a->length, 1000);
	assert_int_equal(a->fibers, 3);
	assert_int_equal(a->all.running, 200 + 100 + 600 + 100);
	assert_int_equal(a->all.runnable, 100 + 100 + 100 + 100 + 50);
	assert_int_equal(a->all.runnable_most, 100);
	assert_int_equal(a->all.waiting, 200 + 400 + 450);
	assert_int_equal(a->all.waiting_most, 450);
	assert_int_equal(a->all.turns, 4);
	assert_int_equal(a->all.waits, 3);
	assert_int_equal(a->fiber[0].running, 300);
	assert_int_equal(a->fiber[1].runnable, 200);
	assert_int_equal(a->fiber[2].waiting, 850);
	assert_int_equal(a->counts.spawns, 1);
	assert_int_equal(a->counts.exits, 1);
	assert_int_equal(a->counts.wakes, 2);
	assert_int_equal(a->counts.steals, 1);
	assert_int_equal(a->counts.migrations, 1);
	assert_int_equal(a->counts.pinned, 0);
	accounted_end();
}

static void test_account_has_a_row_for_each_thing_that_is_waited_for(void **state)
{
	(void)state;
	accounted(made_three());
	assert_int_equal(a->waiteds, 3);
	assert_int_equal(a->waited[0].kind, FIB_WAIT_PARK);
	assert_int_equal(a->waited[0].ns, 450);
	assert_int_equal(a->waited[0].fibers, 1);
	assert_int_equal(a->waited[1].kind, FIB_WAIT_SLEEP);
	assert_int_equal(a->waited[1].fibers, 0);
	assert_int_equal(a->waited[2].kind, FIB_WAIT_MUTEX);
	assert_int_equal(a->waited[2].object, 0xabc);
	assert_int_equal(a->waited[2].ns, 200);
	assert_int_equal(a->waited[2].waits, 1);
	accounted_end();
}

static void test_account_has_rows_for_functions_stacks_and_carriers(void **state)
{
	(void)state;
	accounted(made_three());
	assert_int_equal(a->rans, 3);
	assert_int_equal(a->ran[0].entry, 0x20);
	assert_int_equal(a->ran[0].spent.running, 600);
	assert_int_equal(a->ran[1].entry, 0x10);
	assert_int_equal(a->ran[2].entry, 0x30);
	assert_int_equal(a->stack_waits_count, 1);
	assert_string_equal(a->stack_waits[0].stack, "run;nap;fiber_park");
	assert_int_equal(a->stack_waits[0].ns, 450);
	/* All waiting, with a stack and without. */
	assert_int_equal(a->sampled, 450);
	assert_int_equal(a->sampled_waits, 1);
	assert_int_equal(a->carrieds, 2);
	assert_int_equal(a->carried[0].running, 800);
	assert_int_equal(a->carried[0].turns, 2);
	assert_int_equal(a->carried[1].running, 200);
	accounted_end();
}

/* More named objects than the table starts with; each is waited for twice. */
static void test_account_tells_many_objects_apart(void **state)
{
	struct made m = made_begin("many.rec", 100000);
	static struct fib_event e[3000];
	unsigned i, n = 0;

	(void)state;
	for (i = 0; i < 1000; i++) {
		e[n++] = made_run(i * 40 + 10, 1, FIB_EVENT_NOBODY, 0, 0);
		e[n++] =
			made_run(i * 40 + 20, 0, FIBER_SUSPENDED, FIB_WAIT_MUTEX, 0x1000 + i % 500);
		e[n++] = made_wake(i * 40 + 30, 1, 0, 0);
	}
	made_ring(&m, 0, 0, e, n);
	for (i = 0; i < 500; i++)
		ins_recording_put_text(m.w, FIB_RECORDING_OBJECTS, 0x1000 + i, "lock");
	accounted(made_end(&m));
	assert_int_equal(a->waiteds, 500);
	for (i = 0; i < 500; i++) {
		assert_int_equal(a->waited[i].waits, 2);
		assert_int_equal(a->waited[i].ns, 20);
	}
	accounted_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_account_adds_up_what_fibers_did),
		cmocka_unit_test(test_account_has_a_row_for_each_thing_that_is_waited_for),
		cmocka_unit_test(test_account_has_rows_for_functions_stacks_and_carriers),
		cmocka_unit_test(test_account_tells_many_objects_apart),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
