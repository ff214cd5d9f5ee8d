/* SPDX-License-Identifier: MIT */
/* test_account_waits.c - the rows of waits, and that their sums are the sum of all waits */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/harness/inspect/accounted.h"
#include "tests/harness/watchdog.h"

#define MS 1000000

/* Check that the sums over the rows equal the totals. */
static void sums_agree(void)
{
	int64_t ns = 0, sampled = 0, stood = 0;
	uint64_t waits = 0;
	size_t i;

	for (i = 0; i < a->waiteds; i++) {
		if (a->waited[i].pinned)
			continue;
		ns += a->waited[i].ns;
		sampled += a->waited[i].sampled;
		waits += a->waited[i].waits;
	}
	assert_int_equal(ns, a->all.waiting);
	assert_int_equal(waits, a->all.waits);
	for (i = 0, waits = 0; i < a->stack_waits_count; i++) {
		stood += a->stack_waits[i].ns;
		waits += a->stack_waits[i].waits;
	}
	assert_int_equal(stood, a->sampled);
	assert_int_equal(sampled, a->sampled);
	assert_int_equal(waits, a->sampled_waits);
}

enum { MANY = 1000 };

/*
 * Fiber i waits MANY + i - 0.5 ms for descriptor i. All but the last ten are sampled, at one of two
 * places.
 */
static void test_descriptors_are_a_row_for_each_way_and_place(void **state)
{
	struct made m = made_begin("fds.rec", 3 * MANY * (int64_t)MS);
	static struct fib_event e[3 * MANY];
	unsigned i, n = 0;

	(void)state;
	for (i = 0; i < MANY; i++) {
		const int64_t at = (int64_t)i * MS;

		e[n++] = made_run(at, i + 1, FIB_EVENT_NOBODY, 0, 0);
		e[n] = made_run(at + MS / 2, 0, FIBER_SUSPENDED, FIB_WAIT_FD, 0);
		e[n].flags = i % 4 == 3 ? FIB_EVENT_WRITE : FIB_EVENT_READ;
		e[n++].arg = i;
	}
	made_ring(&m, 0, 0, e, n);
	for (i = n = 0; i < MANY; i++)
		e[n++] = made_wake((MANY + 2 * i) * (int64_t)MS, i + 1, 0, FIB_WAIT_FD);
	made_ring(&m, 1, 0, e, n);
	for (i = 0; i < MANY - 10; i++)
		made_sample(&m, i + 1, i % 2 + 1, i * (int64_t)MS + MS * 3 / 4,
			    i * (int64_t)MS + MS / 2, FIB_WAIT_FD, i);
	ins_recording_put_text(m.w, FIB_RECORDING_SHAPES, 1, "even");
	ins_recording_put_text(m.w, FIB_RECORDING_SHAPES, 2, "odd");
	accounted(made_end(&m));
	/* Fibers at "even" read; fibers at "odd" and without a place read and write. */
	assert_int_equal(a->waiteds, 5);
	assert_string_equal(a->waited[0].stack, "even");
	assert_int_equal(a->waited[0].ways, FIB_EVENT_READ);
	assert_int_equal(a->waited[0].objects, (MANY - 10) / 2);
	assert_int_equal(a->waited[0].waits, (MANY - 10) / 2);
	/* The wait of fiber i lasts MANY + i - 0.5 ms. */
	assert_int_equal(a->waited[0].median, (MANY + (MANY - 10) / 2 - 1) * (int64_t)MS - MS / 2);
	assert_int_equal(a->waited[0].most, (MANY + MANY - 12) * (int64_t)MS - MS / 2);
	assert_string_equal(a->waited[1].stack, "odd");
	assert_string_equal(a->waited[2].stack, "odd");
	assert_int_equal(a->waited[1].ways + a->waited[2].ways, FIB_EVENT_READ + FIB_EVENT_WRITE);
	assert_null(a->waited[3].stack);
	assert_null(a->waited[4].stack);
	assert_int_equal(a->waited[3].waits + a->waited[4].waits, 10);
	assert_int_equal(a->stack_waits_count, 2);
	assert_int_equal(a->stack_waits[0].fibers, (MANY - 10) / 2);
	sums_agree();
	accounted_end();
}

/* Two of six locks have names. */
static void test_what_has_a_name_is_a_row_of_its_own(void **state)
{
	struct made m = made_begin("named.rec", 1000 * MS);
	static struct fib_event e[200];
	unsigned i, n = 0;

	(void)state;
	for (i = 0; i < 60; i++) {
		e[n++] = made_run((3 * i + 1) * MS, 1, FIB_EVENT_NOBODY, 0, 0);
		e[n++] = made_run((3 * i + 2) * MS, 0, FIBER_SUSPENDED, FIB_WAIT_MUTEX,
				  0x100 + i % 6);
		e[n++] = made_wake((3 * i + 3) * MS, 1, 0, FIB_WAIT_MUTEX);
	}
	made_ring(&m, 0, 0, e, n);
	ins_recording_put_text(m.w, FIB_RECORDING_OBJECTS, 0x100, "cfg");
	ins_recording_put_text(m.w, FIB_RECORDING_OBJECTS, 0x103, "stats");
	/* The first wait for each lock is sampled. */
	for (i = 0; i < 6; i++)
		made_sample(&m, 1, 1, (3 * i + 2) * MS + MS / 2, (3 * i + 2) * MS, FIB_WAIT_MUTEX,
			    0x100 + i);
	ins_recording_put_text(m.w, FIB_RECORDING_SHAPES, 1, "lock_it");
	accounted(made_end(&m));
	assert_int_equal(a->waiteds, 4);
	assert_null(a->waited[0].stack);
	assert_int_equal(a->waited[0].objects, 4);
	assert_int_equal(a->waited[0].waits, 36);
	assert_true(a->waited[1].named && a->waited[2].named);
	assert_int_equal(a->waited[1].object, 0x100);
	assert_int_equal(a->waited[2].object, 0x103);
	assert_int_equal(a->waited[1].waits, 10);
	assert_int_equal(a->waited[1].sampled, MS);
	assert_string_equal(a->waited[3].stack, "lock_it");
	assert_int_equal(a->waited[3].objects, 4);
	assert_int_equal(a->waited[3].waits, 4);
	assert_int_equal(a->stack_waits_count, 1);
	assert_int_equal(a->stack_waits[0].waits, 6);
	assert_int_equal(a->stack_waits[0].fibers, 1);
	sums_agree();
	accounted_end();
}

/* Several walks have the same text. */
static void test_places_of_the_same_text_are_one(void **state)
{
	struct made m = made_begin("same.rec", 100 * MS);
	const struct fib_event e[] = {
		made_run(5 * MS, 1, FIB_EVENT_NOBODY, 0, 0),
		made_run(10 * MS, 2, FIBER_SUSPENDED, FIB_WAIT_PARK, 0),
		made_run(20 * MS, 0, FIBER_SUSPENDED, FIB_WAIT_PARK, 0),
	};

	(void)state;
	made_ring(&m, 0, 0, e, 3);
	made_sample(&m, 1, 1, 50 * MS, 10 * MS, FIB_WAIT_PARK, 0);
	made_sample(&m, 2, 2, 50 * MS, 20 * MS, FIB_WAIT_PARK, 0);
	ins_recording_put_text(m.w, FIB_RECORDING_SHAPES, 1, "here");
	ins_recording_put_text(m.w, FIB_RECORDING_SHAPES, 2, "here");
	accounted(made_end(&m));
	assert_int_equal(a->stack_waits_count, 1);
	assert_int_equal(a->stack_waits[0].fibers, 2);
	assert_int_equal(a->stack_waits[0].at_end, 2);
	assert_int_equal(a->waiteds, 1);
	assert_int_equal(a->waited[0].objects, 0);
	assert_int_equal(a->waited[0].ns, 170 * MS);
	sums_agree();
	accounted_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_descriptors_are_a_row_for_each_way_and_place),
		cmocka_unit_test(test_what_has_a_name_is_a_row_of_its_own),
		cmocka_unit_test(test_places_of_the_same_text_are_one),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
