/* SPDX-License-Identifier: MIT */
/* test_row.c - a record's bytes become a fiber's row, by offset and size alone */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <stdio.h>

#include <fiber/fiber.h>

#include "layout/row.h"
#include "row_record.h"
#include "tests/harness/watchdog.h"

static void test_row_has_every_field_of_the_record(void **state)
{
	(void)state;
	assert_true(decode());
	assert_int_equal(row.id, 7741);
	assert_int_equal(row.parent, 88);
	assert_int_equal(row.record, ADDRESS);
	assert_int_equal(row.seq, 20);
	assert_int_equal(row.switches, 10);
	assert_int_equal(row.sp, LOW + SIZE - 4096);
	assert_int_equal(row.fp, 0x7777);
	assert_int_equal(row.pc, 0x4444);
	assert_int_equal(row.age, 1000);
	assert_int_equal(row.state, FIBER_SUSPENDED);
	assert_int_equal(row.wait_kind, FIB_WAIT_MUTEX);
	assert_int_equal(row.wait_object, 0x5f00);
	assert_int_equal(row.wait_arg, 0x5f01);
	assert_int_equal(row.deadline, NOW + 1);
	assert_int_equal(row.flags, FIBER_DETACHED | FIB_ROW_MASKED);
	assert_int_equal(row.pins, 0x102);
	assert_int_equal(row.cancelled, 1);
	assert_int_equal(row.cpu, 500);
	assert_int_equal(row.stack_low, LOW);
	assert_int_equal(row.stack_size, SIZE);
	assert_int_equal(row.stack_used, 4096);
	assert_int_equal(row.spawn_pc, 0x8888);
	assert_int_equal(row.entry, 0x9999);
	assert_string_equal(row.name, "req-7741");
	assert_int_equal(row.labels, 0xaaaa);
	/* Values that a suspended fiber does not have, or that were not looked up. */
	assert_int_equal(row.carrier, FIB_ROW_CARRIER_NONE);
	assert_true(row.stack_high_water == FIB_ROW_UNKNOWN);
	assert_true(fib_row_walkable(&row));
}

/* The fiber naps meanwhile, and `since` is the start of the nap. */
static void test_row_of_a_wait_for_a_predicate_has_the_age_of_the_wait(void **state)
{
	(void)state;
	put(FIB_FIELD_WAIT_KIND, FIB_WAIT_PREDICATE);
	put(FIB_FIELD_WAIT_ARG, (uint64_t)NOW - 77000);
	assert_true(decode());
	assert_int_equal(row.age, 77000);
	assert_int_equal(row.wait_arg, 0);
	put(FIB_FIELD_WAIT_ARG, (uint64_t)NOW + 1);
	assert_true(decode());
	assert_int_equal(row.age, 0);
}

static void test_row_of_a_free_record_is_none(void **state)
{
	(void)state;
	put(FIB_FIELD_ID, 0);
	assert_false(decode());
}

static void test_row_of_a_running_fiber_shows_its_carrier_and_no_stack(void **state)
{
	(void)state;
	/* The sequence number decides: the state may be out of date. */
	put(FIB_FIELD_SEQ, 21);
	put(FIB_FIELD_PINS, 0);
	assert_true(decode());
	assert_int_equal(row.state, FIBER_RUNNING);
	assert_int_equal(row.carrier, 3);
	assert_int_equal(row.switches, 11);
	assert_int_equal(row.stack_used, 0);
	assert_int_equal(row.wait_kind, FIB_WAIT_NONE);
	assert_int_equal(row.wait_object, 0);
	assert_true(row.deadline == INT64_MAX);
	/* The time since the fiber started to run is CPU time that is not recorded yet. */
	assert_int_equal(row.cpu, 1500);
	assert_false(fib_row_walkable(&row));
}

static void test_row_of_a_pinned_fiber_runs_and_waits_at_once(void **state)
{
	(void)state;
	put(FIB_FIELD_SEQ, 21);
	put(FIB_FIELD_PINS, 1);
	assert_true(decode());
	assert_int_equal(row.state, FIBER_RUNNING);
	assert_int_equal(row.wait_kind, FIB_WAIT_MUTEX);
	assert_int_equal(row.wait_object, 0x5f00);
}

static void test_row_of_a_woken_fiber_waits_for_nothing_but_its_turn(void **state)
{
	(void)state;
	put(FIB_FIELD_STATE, FIBER_RUNNABLE);
	assert_true(decode());
	assert_int_equal(row.wait_kind, FIB_WAIT_NONE);
	assert_int_equal(row.wait_object, 0);
	assert_true(row.deadline == INT64_MAX);
	assert_true(fib_row_walkable(&row));
	put(FIB_FIELD_WAIT_KIND, FIB_WAIT_YIELD);
	assert_true(decode());
	assert_int_equal(row.wait_kind, FIB_WAIT_YIELD);
	/* The record still has the values of the previous wait. */
	assert_int_equal(row.wait_object, 0);
	assert_true(row.deadline == INT64_MAX);
}

static void test_row_of_a_dead_fiber_has_no_stack_to_walk(void **state)
{
	(void)state;
	put(FIB_FIELD_STATE, FIBER_DEAD);
	assert_true(decode());
	assert_int_equal(row.wait_kind, FIB_WAIT_NONE);
	assert_false(fib_row_walkable(&row));
}

static void test_row_does_not_believe_a_stack_pointer_outside_the_stack(void **state)
{
	static const uint64_t wrong[] = {0, LOW - 1, LOW + SIZE + 1, UINT64_MAX};
	size_t i;

	(void)state;
	for (i = 0; i < 4; i++) {
		put(FIB_FIELD_SP, wrong[i]);
		assert_true(decode());
		assert_int_equal(row.stack_used, 0);
		assert_false(fib_row_walkable(&row));
	}
	put(FIB_FIELD_SP, LOW);
	assert_true(decode());
	assert_int_equal(row.stack_used, SIZE);
}

static void test_row_keeps_its_numbers_possible_whatever_the_clock_says(void **state)
{
	static const int64_t since[] = {NOW + 1, INT64_MAX, INT64_MIN, INT64_MIN + 1, -1};
	size_t i;

	(void)state;
	for (i = 0; i < 5; i++) {
		put(FIB_FIELD_SINCE, (uint64_t)since[i]);
		assert_true(decode());
		assert_true(row.age >= 0);
		put(FIB_FIELD_SEQ, UINT64_MAX); /* odd, so running: the age is CPU time too */
		put(FIB_FIELD_CPU, UINT64_MAX);
		assert_true(decode());
		assert_int_equal(row.state, FIBER_RUNNING);
		put(FIB_FIELD_SEQ, 20);
	}
}

static void test_row_ignores_a_wait_kind_it_does_not_know(void **state)
{
	(void)state;
	put(FIB_FIELD_WAIT_KIND, FIB_WAIT_COUNT);
	assert_true(decode());
	assert_int_equal(row.wait_kind, FIB_WAIT_NONE);
	put(FIB_FIELD_WAIT_KIND, 255);
	assert_true(decode());
	assert_int_equal(row.wait_kind, FIB_WAIT_NONE);
}

static void test_row_ends_a_name_that_fills_its_field(void **state)
{
	(void)state;
	put_text(FIB_FIELD_NAME, "0123456789012345678901234567890123456789");
	assert_true(decode());
	assert_string_equal(row.name, "0123456789012345678901234567890");
	/* A longer field of a newer library is cut. No byte beyond a shorter field is read. */
	l.fields[FIB_FIELD_NAME].size = 4;
	assert_true(decode());
	assert_string_equal(row.name, "0123");
}

/* -- the wait object -- */

static unsigned char object[64];
static uint64_t base, asked;
static int refusal;

static int read_object(void *reader, uint64_t address, void *buf, size_t size)
{
	assert_ptr_equal(reader, &base);
	asked++;
	if (address < base || size > sizeof object || address - base > sizeof object - size)
		return -EFAULT;
	if (refusal)
		return refusal;
	memcpy(buf, object + (address - base), size);
	return 0;
}

static void prepare_object(uint64_t holder)
{
	struct fib_layout_object *o = &l.objects[FIB_WAIT_MUTEX];

	o->name = (struct fib_layout_field){4, 32};
	o->holder = (struct fib_layout_field){40, 8};
	base = 0x5f00;
	asked = 0;
	refusal = 0;
	memset(object, 0, sizeof object);
	strcpy((char *)object + 4, "cfg");
	memcpy(object + 40, &holder, sizeof holder);
	decode();
}

static void test_row_resolves_the_name_and_the_holder_of_its_object(void **state)
{
	(void)state;
	prepare_object(88 | FIB_HOLDER_CONTENDED);
	assert_int_equal(fib_row_resolve(&l, &row, read_object, &base), 0);
	assert_string_equal(row.object_name, "cfg");
	assert_int_equal(row.holder, 88);
	prepare_object(4711 | FIB_HOLDER_THREAD);
	assert_int_equal(fib_row_resolve(&l, &row, read_object, &base), 0);
	assert_true(row.holder == (4711 | FIB_HOLDER_THREAD));
}

static void test_row_does_not_read_past_an_objects_name_nor_trust_its_end(void **state)
{
	(void)state;
	prepare_object(0);
	memset(object, 'n', sizeof object);
	l.objects[FIB_WAIT_MUTEX].name.size = UINT16_MAX;
	l.objects[FIB_WAIT_MUTEX].holder.size = 4; /* unknown size: ignored */
	assert_int_equal(fib_row_resolve(&l, &row, read_object, &base), 0);
	assert_int_equal(strlen(row.object_name), sizeof row.object_name - 1);
	assert_int_equal(row.holder, 0);
}

/* n descriptors, the first ones of `polled`. */
static void put_polled(const struct pollfd *polled, uint32_t n)
{
	base = 0x5f00;
	asked = 0;
	refusal = 0;
	memset(object, 0, sizeof object);
	memcpy(object, polled, 3 * sizeof *polled);
	put(FIB_FIELD_WAIT_KIND, FIB_WAIT_SELECT);
	put(FIB_FIELD_STATE, FIBER_SUSPENDED);
	put(FIB_FIELD_WAIT_OBJECT, 0);
	put(FIB_FIELD_WAIT_ARG, (uint64_t)n << 32 | n);
	put(FIB_FIELD_POLLED, base);
	assert_true(decode());
}

static void test_row_names_the_first_descriptors_that_a_call_polls(void **state)
{
	static const struct {
		struct pollfd polled[3];
		uint32_t n;
		const char *name;
	} cases[] = {
		{{{7, POLLIN, 0}}, 1, "7 read"},
		{{{25, POLLIN, 0}, {26, POLLIN | POLLOUT, 0}}, 2, "25 read, 26 read|write"},
		{{{1, POLLOUT, 0}, {2, POLLPRI, 0}, {3, 0, 0}}, 3, "1 write, 2 priority, 3 errors"},
		{{{1, POLLIN, 0}, {2, POLLIN, 0}, {3, POLLIN, 0}},
		 4,
		 "1 read, 2 read, 3 read, ..."},
		{{{-1, POLLIN, 0}, {2, 0, 0}, {3, POLLIN, 0}},
		 9000,
		 "-1 read, 2 errors, 3 read, ..."},
		{{{12345, POLLIN, 0}, {12346, POLLIN, 0}, {7, 0, 0}},
		 3,
		 "12345 read, 12346 read, ..."},
		{{{INT32_MIN, POLLIN | POLLOUT, 0}, {7, POLLIN | POLLOUT, 0}},
		 3,
		 "-2147483648 read|write, ..."},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		put_polled(cases[i].polled, cases[i].n);
		assert_int_equal(row.polled, base);
		assert_true(fib_row_has_object(&row));
		assert_int_equal(fib_row_resolve(&l, &row, read_object, &base), 0);
		assert_string_equal(row.object_name, cases[i].name);
	}
	refusal = -EFAULT;
	assert_true(decode());
	assert_int_equal(fib_row_resolve(&l, &row, read_object, &base), -EFAULT);
	assert_string_equal(row.object_name, "");
}

/* The field is what a fiber that has exited returned, and a select with channels has none. */
static void test_row_has_polled_descriptors_only_in_such_a_wait(void **state)
{
	static const struct pollfd polled[3] = {{7, POLLIN, 0}};

	(void)state;
	put_polled(polled, 1);
	put(FIB_FIELD_WAIT_ARG, UINT64_C(1) << 32 | 2);
	assert_true(decode());
	assert_int_equal(row.polled, 0);
	put(FIB_FIELD_WAIT_KIND, FIB_WAIT_FD);
	assert_true(decode());
	assert_int_equal(row.polled, 0);
	put_polled(polled, 1);
	put(FIB_FIELD_STATE, FIBER_DEAD);
	assert_true(decode());
	assert_int_equal(row.polled, 0);
	put_polled(polled, 1);
	l.fields[FIB_FIELD_POLLED].size = 0; /* an older program */
	assert_true(decode());
	assert_int_equal(row.polled, 0);
	assert_int_equal(fib_row_resolve(&l, &row, read_object, &base), 0);
	assert_string_equal(row.object_name, "");
}

static void test_row_stays_unresolved_when_its_object_is_gone(void **state)
{
	(void)state;
	prepare_object(88);
	refusal = -EFAULT;
	assert_int_equal(fib_row_resolve(&l, &row, read_object, &base), -EFAULT);
	assert_string_equal(row.object_name, "");
	assert_int_equal(row.holder, 0);
}

static void test_row_resolves_the_thread_that_runs_its_call(void **state)
{
	(void)state;
	prepare_object(4711 | FIB_HOLDER_THREAD);
	row.wait_kind = FIB_WAIT_OFFLOAD;
	row.wait_arg = base + 36;
	/* The program does not say what the argument is. */
	assert_int_equal(fib_row_resolve(&l, &row, read_object, &base), 0);
	assert_int_equal(row.holder, 0);
	l.worker = (struct fib_layout_field){4, 8};
	assert_int_equal(fib_row_resolve(&l, &row, read_object, &base), 0);
	assert_true(row.holder == (4711 | FIB_HOLDER_THREAD));
	memset(object + 40, 0x11, sizeof(uint64_t)); /* no thread */
	assert_int_equal(fib_row_resolve(&l, &row, read_object, &base), 0);
	assert_int_equal(row.holder, 0);
	row.wait_arg = 0; /* not queued yet */
	assert_int_equal(fib_row_resolve(&l, &row, read_object, &base), 0);
	assert_int_equal(row.holder, 0);
	row.wait_arg = base - 1000;
	assert_int_equal(fib_row_resolve(&l, &row, read_object, &base), -EFAULT);
	assert_int_equal(row.holder, 0);
}

static void test_row_has_the_locks_that_it_reads(void **state)
{
	static const uint64_t reads[2] = {0x5f00, 0x6f00};

	(void)state;
	memcpy(record + l.fields[FIB_FIELD_READS].offset, reads, sizeof reads);
	put(FIB_FIELD_READS_MORE, 5);
	assert_true(decode());
	assert_int_equal(row.reads[0], 0x5f00);
	assert_int_equal(row.reads[1], 0x6f00);
	assert_int_equal(row.reads[2], 0); /* this registry has two slots */
	assert_int_equal(row.reading, 7);
	l.fields[FIB_FIELD_READS].size = l.fields[FIB_FIELD_READS_MORE].size = 0;
	assert_true(decode());
	assert_int_equal(row.reads[0], 0);
	assert_int_equal(row.reading, 0);
}

static void test_row_resolves_the_readers_of_a_rwlock(void **state)
{
	const uint64_t readers = UINT64_C(0x1234567800000002);
	const uint64_t gone = UINT64_C(0x1234567800000000); /* only the XOR of those that left */

	(void)state;
	prepare_object(0);
	memcpy(object + 48, &readers, sizeof readers);
	l.readers = (struct fib_layout_field){48, 8};
	assert_int_equal(fib_row_resolve(&l, &row, read_object, &base), 0);
	assert_int_equal(row.readers, 0); /* it waits for a mutex */
	row.wait_kind = FIB_WAIT_RWLOCK_WRITE;
	assert_int_equal(fib_row_resolve(&l, &row, read_object, &base), 0);
	assert_true(row.readers == readers);
	memcpy(object + 48, &gone, sizeof gone);
	assert_int_equal(fib_row_resolve(&l, &row, read_object, &base), 0);
	assert_int_equal(row.readers, 0);
	l.readers.size = 0;
	memcpy(object + 48, &readers, sizeof readers);
	assert_int_equal(fib_row_resolve(&l, &row, read_object, &base), 0);
	assert_int_equal(row.readers, 0);
}

static void test_row_waits_for_an_object_that_has_forgotten_it(void **state)
{
	const uint64_t waiter = 0x7f00;

	(void)state;
	prepare_object(0);
	assert_int_equal(fib_row_resolve(&l, &row, read_object, &base), 0);
	assert_false(row.flags & FIB_ROW_FORGOTTEN); /* it is not published */
	l.waiters[FIB_WAIT_MUTEX] = (struct fib_layout_field){48, 8};
	assert_int_equal(fib_row_resolve(&l, &row, read_object, &base), 0);
	assert_true(row.flags & FIB_ROW_FORGOTTEN);
	memcpy(object + 48, &waiter, sizeof waiter);
	assert_int_equal(fib_row_resolve(&l, &row, read_object, &base), 0);
	assert_false(row.flags & FIB_ROW_FORGOTTEN);
}

static void test_row_has_the_only_fiber_that_signalled_its_object(void **state)
{
	const uint32_t toucher = 7;

	(void)state;
	prepare_object(0);
	memcpy(object + 48, &toucher, sizeof toucher);
	row.toucher = 1;
	assert_int_equal(fib_row_resolve(&l, &row, read_object, &base), 0);
	assert_int_equal(row.toucher, 0); /* it is not published */
	l.touchers[FIB_WAIT_MUTEX] = (struct fib_layout_field){48, 8};
	assert_int_equal(fib_row_resolve(&l, &row, read_object, &base), 0);
	assert_int_equal(row.toucher, 0); /* not as this reader knows it */
	l.touchers[FIB_WAIT_MUTEX].size = 4;
	assert_int_equal(fib_row_resolve(&l, &row, read_object, &base), 0);
	assert_int_equal(row.toucher, 7);
	l.touchers[FIB_WAIT_MUTEX].offset = UINT16_MAX;
	assert_true(fib_row_resolve(&l, &row, read_object, &base) < 0);
}

static void test_row_has_failed_with_an_error_of_its_own(void **state)
{
	(void)state;
	put(FIB_FIELD_STATE, FIBER_DEAD);
	put(FIB_FIELD_ERROR, (uint32_t)-EIO);
	assert_true(decode());
	assert_true(row.flags & FIB_ROW_FAILED);
	put(FIB_FIELD_ERROR, (uint32_t)-ECANCELED);
	assert_true(decode());
	assert_false(row.flags & FIB_ROW_FAILED);
	put(FIB_FIELD_ERROR, (uint32_t)-EIO);
	put(FIB_FIELD_STATE, FIBER_SUSPENDED); /* of an earlier fiber */
	assert_true(decode());
	assert_false(row.flags & FIB_ROW_FAILED);
}

static void test_row_has_the_lock_that_it_took_last(void **state)
{
	(void)state;
	put(FIB_FIELD_HELD, 0x5f01);
	put(FIB_FIELD_HELD_AT, 0x401234);
	assert_true(decode());
	assert_int_equal(row.held, 0x5f01);
	assert_int_equal(row.held_at, 0x401234);
	put(FIB_FIELD_HELD, 0);
	assert_true(decode());
	assert_int_equal(row.held_at, 0);
}

static void test_row_has_the_runtime_if_the_program_records_it(void **state)
{
	(void)state;
	put(FIB_FIELD_RUNTIME, 0x7f0012345678);
	assert_true(decode());
	assert_int_equal(row.runtime, 0x7f0012345678);
	l.fields[FIB_FIELD_RUNTIME].size = 0; /* an older one */
	assert_true(decode());
	assert_int_equal(row.runtime, 0);
}

/* A fiber that is not pinned uses these bytes for something else. */
static void test_row_has_the_number_of_the_wait_of_a_pinned_fiber_only(void **state)
{
	(void)state;
	put(FIB_FIELD_PINNED_WAITS, 7);
	put(FIB_FIELD_WAIT_KIND, FIB_WAIT_MUTEX);
	put(FIB_FIELD_STATE, FIBER_SUSPENDED);
	put(FIB_FIELD_SEQ, 4);
	assert_true(decode());
	assert_int_equal(row.pinned_waits, 0);
	put(FIB_FIELD_SEQ, 5);
	put(FIB_FIELD_PINS, 1);
	assert_true(decode());
	assert_int_equal(row.pinned_waits, 7);
	put(FIB_FIELD_WAIT_KIND, FIB_WAIT_NONE);
	assert_true(decode());
	assert_int_equal(row.pinned_waits, 0);
}

static void test_row_of_a_bound_fiber_that_can_run_says_where(void **state)
{
	(void)state;
	put(FIB_FIELD_CARRIER, 3);
	put(FIB_FIELD_STATE, FIBER_RUNNABLE);
	put(FIB_FIELD_SEQ, 4);
	assert_true(decode());
	assert_int_equal(row.bound, 0);
	put(FIB_FIELD_FLAGS, FIBER_BOUND);
	assert_true(decode());
	assert_int_equal(row.bound, 4);
	assert_int_equal(row.carrier, FIB_ROW_CARRIER_NONE);
	put(FIB_FIELD_STATE, FIBER_SUSPENDED);
	assert_true(decode());
	assert_int_equal(row.bound, 0);
	put(FIB_FIELD_SEQ, 5);
	assert_true(decode());
	assert_int_equal(row.bound, 0);
	assert_int_equal(row.carrier, 3);
}

static void test_row_without_an_object_asks_nobody(void **state)
{
	(void)state;
	prepare_object(88);
	row.wait_object = 0;
	assert_int_equal(fib_row_resolve(&l, &row, read_object, &base), 0);
	row.wait_object = 0x5f00;
	row.wait_kind = FIB_LAYOUT_WAITS;
	assert_int_equal(fib_row_resolve(&l, &row, read_object, &base), 0);
	row.wait_kind = FIB_WAIT_SLEEP; /* has neither name nor holder */
	assert_int_equal(fib_row_resolve(&l, &row, read_object, &base), 0);
	assert_int_equal(asked, 0);
}

/* -- the saved stack pointer -- */

static void test_row_is_astray_with_its_stack_pointer_outside_its_stack(void **state)
{
	struct fib_row stray = {
		.state = FIBER_SUSPENDED, .stack_low = 0x70000, .stack_size = 0x10000};
	const uint64_t inside[] = {0, 0x70000, 0x78000, 0x80000}, outside[] = {0x6ffff, 0x80001, 8};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof inside / sizeof inside[0]; i++) {
		stray.sp = inside[i];
		assert_false(fib_row_astray(&stray));
	}
	for (i = 0; i < sizeof outside / sizeof outside[0]; i++) {
		stray.sp = outside[i];
		stray.seq = 2;
		assert_true(fib_row_astray(&stray));
		stray.seq = 3; /* it runs, so the saved pointer is out of date */
		assert_false(fib_row_astray(&stray));
	}
	stray.seq = 2;
	stray.state = FIBER_DEAD;
	assert_false(fib_row_astray(&stray));
	stray.state = FIBER_RUNNABLE;
	assert_true(fib_row_astray(&stray));
	stray.stack_low = 0; /* not started, or not published by this library */
	assert_false(fib_row_astray(&stray));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROW_TEST(test_row_has_every_field_of_the_record),
		ROW_TEST(test_row_of_a_wait_for_a_predicate_has_the_age_of_the_wait),
		ROW_TEST(test_row_of_a_free_record_is_none),
		ROW_TEST(test_row_of_a_running_fiber_shows_its_carrier_and_no_stack),
		ROW_TEST(test_row_of_a_pinned_fiber_runs_and_waits_at_once),
		ROW_TEST(test_row_of_a_woken_fiber_waits_for_nothing_but_its_turn),
		ROW_TEST(test_row_of_a_dead_fiber_has_no_stack_to_walk),
		ROW_TEST(test_row_does_not_believe_a_stack_pointer_outside_the_stack),
		ROW_TEST(test_row_is_astray_with_its_stack_pointer_outside_its_stack),
		ROW_TEST(test_row_keeps_its_numbers_possible_whatever_the_clock_says),
		ROW_TEST(test_row_ignores_a_wait_kind_it_does_not_know),
		ROW_TEST(test_row_ends_a_name_that_fills_its_field),
		ROW_TEST(test_row_resolves_the_name_and_the_holder_of_its_object),
		ROW_TEST(test_row_does_not_read_past_an_objects_name_nor_trust_its_end),
		ROW_TEST(test_row_names_the_first_descriptors_that_a_call_polls),
		ROW_TEST(test_row_has_polled_descriptors_only_in_such_a_wait),
		ROW_TEST(test_row_stays_unresolved_when_its_object_is_gone),
		ROW_TEST(test_row_resolves_the_thread_that_runs_its_call),
		ROW_TEST(test_row_has_the_locks_that_it_reads),
		ROW_TEST(test_row_resolves_the_readers_of_a_rwlock),
		ROW_TEST(test_row_waits_for_an_object_that_has_forgotten_it),
		ROW_TEST(test_row_has_the_only_fiber_that_signalled_its_object),
		ROW_TEST(test_row_has_failed_with_an_error_of_its_own),
		ROW_TEST(test_row_has_the_lock_that_it_took_last),
		ROW_TEST(test_row_has_the_runtime_if_the_program_records_it),
		ROW_TEST(test_row_has_the_number_of_the_wait_of_a_pinned_fiber_only),
		ROW_TEST(test_row_of_a_bound_fiber_that_can_run_says_where),
		ROW_TEST(test_row_without_an_object_asks_nobody),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
