/* SPDX-License-Identifier: MIT */
/* test_row.c - a record's bytes become one fiber as the tools show it, by offset and size alone. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>

#include <fiber/fiber.h>

#include "layout/row.h"
#include "registry.h"
#include "tests/harness/watchdog.h"

#define ADDRESS UINT64_C(0x12340)
#define NOW	INT64_C(5000000000)
#define LOW	UINT64_C(0x700000)
#define SIZE	UINT64_C(0x10000)

static struct fib_layout l;
static unsigned char *record;
static struct fib_row row;

static void put(enum fib_layout_field_id id, uint64_t value)
{
	/* Little end first, as on every machine that has a port. */
	memcpy(record + l.fields[id].offset, &value, l.fields[id].size);
}

static void put_text(enum fib_layout_field_id id, const char *text)
{
	strncpy((char *)record + l.fields[id].offset, text, l.fields[id].size);
}

static bool decode(void)
{
	return fib_row_decode(&l, record, ADDRESS, NOW, &row);
}

/* A fiber suspended in a mutex, 4 KiB deep in its stack. */
static int setup(void **state)
{
	(void)state;
	make_layout(&l);
	if (!record)
		record = make_edge(RECORD_SIZE);
	memset(record, 0, RECORD_SIZE);
	put(FIB_FIELD_ID, 7741);
	put(FIB_FIELD_PARENT, 88);
	put(FIB_FIELD_SEQ, 20);
	put(FIB_FIELD_SP, LOW + SIZE - 4096);
	put(FIB_FIELD_FP, 0x7777);
	put(FIB_FIELD_PC, 0x4444);
	put(FIB_FIELD_SINCE, (uint64_t)NOW - 1000);
	put(FIB_FIELD_STATE, FIBER_SUSPENDED);
	put(FIB_FIELD_WAIT_KIND, FIB_WAIT_MUTEX);
	put(FIB_FIELD_FLAGS, FIBER_DETACHED);
	put(FIB_FIELD_LABELS, 0xaaaa);
	put(FIB_FIELD_CANCELLED, 6); /* by whom, and what came of it, is the library's */
	put(FIB_FIELD_CARRIER, 3);
	put(FIB_FIELD_PINS, 0x102);
	put(FIB_FIELD_WAIT_OBJECT, 0x5f00);
	put(FIB_FIELD_WAIT_ARG, 0x5f01);
	put(FIB_FIELD_DEADLINE, (uint64_t)NOW + 1);
	put(FIB_FIELD_CPU, 500);
	put(FIB_FIELD_STACK_LOW, LOW);
	put(FIB_FIELD_STACK_SIZE, SIZE);
	put(FIB_FIELD_SPAWN_PC, 0x8888);
	put(FIB_FIELD_ENTRY, 0x9999);
	put_text(FIB_FIELD_NAME, "req-7741");
	return 0;
}

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
	assert_int_equal(row.flags, FIBER_DETACHED);
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
	/* What a suspended fiber does not have, and what nobody looked at. */
	assert_int_equal(row.carrier, FIB_ROW_CARRIER_NONE);
	assert_true(row.stack_high_water == FIB_ROW_UNKNOWN);
	assert_true(fib_row_walkable(&row));
}

/* What the record counts goes up to its last change of state, and the time since then belongs to the state. */
static void test_row_has_its_times_in_all_states_until_now(void **state)
{
	static const uint8_t states[] = {FIBER_RUNNABLE, FIBER_RUNNING, FIBER_SUSPENDED,
					 FIBER_DEAD};

	(void)state;
	put(FIB_FIELD_RUNNABLE, 70);
	put(FIB_FIELD_WAITED, 30);
	put(FIB_FIELD_BORN, (uint64_t)NOW - 1600);
	for (size_t i = 0; i < 4; i++) {
		put(FIB_FIELD_STATE, states[i]);
		put(FIB_FIELD_SEQ, states[i] == FIBER_RUNNING ? 21 : 20);
		assert_true(decode());
		assert_int_equal(row.cpu, states[i] == FIBER_RUNNING ? 1500 : 500);
		assert_int_equal(row.runnable, states[i] == FIBER_RUNNABLE ? 1070 : 70);
		assert_int_equal(row.waited, states[i] == FIBER_SUSPENDED ? 1030 : 30);
		assert_int_equal(row.lived, row.cpu + row.runnable + row.waited);
	}
}

/* Who makes it runnable was stopped between counting what it has waited and saying since when it does not. */
static void test_row_of_a_fiber_that_is_becoming_runnable_adds_up(void **state)
{
	(void)state;
	put(FIB_FIELD_STATE, FIBER_SUSPENDED);
	put(FIB_FIELD_SEQ, 20);
	put(FIB_FIELD_RUNNABLE, 70);
	put(FIB_FIELD_BORN, (uint64_t)NOW - 1600);
	put(FIB_FIELD_WAITED, 30 + 600);
	assert_true(decode());
	assert_int_equal(row.state, FIBER_RUNNABLE);
	assert_int_equal(row.wait_kind, FIB_WAIT_NONE);
	assert_int_equal(row.age, 400);
	assert_int_equal(row.waited, 630);
	assert_int_equal(row.runnable, 470);
	assert_int_equal(row.lived, 1600);
	assert_int_equal(row.lived, row.cpu + row.runnable + row.waited);
	/* What is later than now was counted by nobody. */
	put(FIB_FIELD_WAITED, 30 + 1001);
	assert_true(decode());
	assert_int_equal(row.state, FIBER_SUSPENDED);
	assert_int_equal(row.age, 1000);
}

static void test_row_of_a_fiber_that_was_not_submitted_has_not_lived(void **state)
{
	(void)state;
	put(FIB_FIELD_STATE, FIBER_CREATED);
	assert_true(decode());
	assert_int_equal(row.age, 1000);
	assert_int_equal(row.lived, 0);
	assert_int_equal(row.waited, 0);
}

static void test_row_of_an_older_registry_does_not_know_what_it_has_not(void **state)
{
	(void)state;
	l.fields[FIB_FIELD_BORN].size = l.fields[FIB_FIELD_CANCELLED].size = 0;
	assert_true(decode());
	assert_true(row.runnable == FIB_ROW_UNKNOWN);
	assert_true(row.waited == FIB_ROW_UNKNOWN);
	assert_true(row.lived == FIB_ROW_UNKNOWN);
	assert_int_equal(row.cancelled, 0);
	assert_int_equal(row.cpu, 500);
}

/* It naps in between, and `since` is that of the nap. */
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
	/* The sequence number decides: the state may be what it was a moment ago. */
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
	/* The time it has been running is CPU time not yet written down. */
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
	/* The record still has those of the wait before. */
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
		put(FIB_FIELD_SEQ, UINT64_MAX); /* odd: the age is CPU time too */
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
	/* A longer field of a younger library is cut, a shorter one is not read past. */
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
	l.objects[FIB_WAIT_MUTEX].holder.size = 4; /* not what this reader knows: left alone */
	assert_int_equal(fib_row_resolve(&l, &row, read_object, &base), 0);
	assert_int_equal(strlen(row.object_name), sizeof row.object_name - 1);
	assert_int_equal(row.holder, 0);
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

#define ROW_TEST(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROW_TEST(test_row_has_every_field_of_the_record),
		ROW_TEST(test_row_has_its_times_in_all_states_until_now),
		ROW_TEST(test_row_of_a_fiber_that_is_becoming_runnable_adds_up),
		ROW_TEST(test_row_of_a_fiber_that_was_not_submitted_has_not_lived),
		ROW_TEST(test_row_of_an_older_registry_does_not_know_what_it_has_not),
		ROW_TEST(test_row_of_a_wait_for_a_predicate_has_the_age_of_the_wait),
		ROW_TEST(test_row_of_a_free_record_is_none),
		ROW_TEST(test_row_of_a_running_fiber_shows_its_carrier_and_no_stack),
		ROW_TEST(test_row_of_a_pinned_fiber_runs_and_waits_at_once),
		ROW_TEST(test_row_of_a_woken_fiber_waits_for_nothing_but_its_turn),
		ROW_TEST(test_row_of_a_dead_fiber_has_no_stack_to_walk),
		ROW_TEST(test_row_does_not_believe_a_stack_pointer_outside_the_stack),
		ROW_TEST(test_row_keeps_its_numbers_possible_whatever_the_clock_says),
		ROW_TEST(test_row_ignores_a_wait_kind_it_does_not_know),
		ROW_TEST(test_row_ends_a_name_that_fills_its_field),
		ROW_TEST(test_row_resolves_the_name_and_the_holder_of_its_object),
		ROW_TEST(test_row_does_not_read_past_an_objects_name_nor_trust_its_end),
		ROW_TEST(test_row_stays_unresolved_when_its_object_is_gone),
		ROW_TEST(test_row_without_an_object_asks_nobody),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
