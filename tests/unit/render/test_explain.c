/* SPDX-License-Identifier: MIT */
/* test_explain.c - the sentence follows a wait to the end of the chain or around the cycle */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/inspect/head.h"
#include "inspect/render/explain.h"
#include "inspect/waits/waiters.h"
#include "tests/harness/inspect/rows.h"

#define SECOND INT64_C(1000000000)

static struct ins_table *table;
static struct ins_fiber fiber;
static char text[INS_EXPLAIN_SIZE];

/* A waiting fiber; add() enters it into the table. */
static void make(uint64_t id, const char *name, unsigned kind)
{
	fiber = rows_fiber(id, name);
	fiber.row.wait_kind = (uint8_t)kind;
	fiber.row.wait_arg = FIB_ROW_UNKNOWN;
	fiber.row.age = 3 * SECOND;
}

static void add(void)
{
	assert_int_equal(ins_table_add(table, &fiber), 0);
}

static void add_mutex(uint64_t id, const char *name, const char *object, uint64_t holder)
{
	make(id, name, FIB_WAIT_MUTEX);
	snprintf(fiber.row.object_name, sizeof fiber.row.object_name, "%s", object);
	fiber.row.wait_object = 0x5000;
	fiber.row.holder = holder;
	add();
}

static void add_join(uint64_t id, uint64_t target)
{
	make(id, "", FIB_WAIT_JOIN);
	fiber.row.wait_arg = target;
	add();
}

static const char *explain(const struct ins_fiber *asked, char *buf, size_t size)
{
	struct ins_graph *graph;

	assert_int_equal(ins_graph_new(table, &graph), 0);
	ins_explain(graph, NULL, asked, buf, size);
	ins_graph_free(graph);
	return buf;
}

static const char *why(uint64_t id)
{
	ssize_t at = ins_table_find(table, id);
	struct ins_fiber asked;

	assert_true(at >= 0);
	ins_table_get(table, (size_t)at, &asked);
	return explain(&asked, text, sizeof text);
}

static void test_the_holder_of_a_mutex_is_told_and_what_he_waits_for(void **state)
{
	(void)state;
	add_mutex(7, "reader", "cfg", 88);
	make(88, "writer", FIB_WAIT_FD);
	fiber.row.wait_arg = UINT64_C(1) << 32 | 17;
	fiber.row.age = 134 * SECOND;
	add();
	assert_string_equal(why(7),
			    "It has waited 3s for the mutex \"cfg\", which fiber 88 \"writer\" "
			    "holds; fiber 88 itself has waited 2m14s for fd 17 read.");
	assert_string_equal(why(88), "It has waited 2m14s for fd 17 read.");
}

static void test_who_was_cancelled_and_goes_on_is_told_so(void **state)
{
	(void)state;
	add_join(7, 41);
	make(41, "deaf", FIB_WAIT_NONE);
	fiber.row.state = FIBER_RUNNING;
	fiber.row.carrier = 0;
	fiber.row.cancelled = 1;
	add();
	make(42, "late", FIB_WAIT_SLEEP);
	fiber.row.cancelled = 1;
	add();
	make(43, "gone", FIB_WAIT_NONE);
	fiber.row.state = FIBER_DEAD;
	fiber.row.cancelled = 1;
	add();
	assert_string_equal(why(7),
			    "It has waited 3s to join fiber 41 \"deaf\"; fiber 41 was asked to "
			    "end (cancelled), and has run on carrier 0 for 3s.");
	assert_string_equal(why(41),
			    "It was asked to end (cancelled), and has run on carrier 0 for 3s.");
	assert_string_equal(why(42), "It was asked to end (cancelled), and has slept for 3s.");
	/* It has exited, so the cancellation is not mentioned. */
	assert_string_equal(why(43), "It exited 3s ago and waits to be joined.");
}

static void test_who_is_joined_is_told_and_what_he_does(void **state)
{
	(void)state;
	add_join(7, 41);
	make(41, "busy", FIB_WAIT_NONE);
	fiber.row.state = FIBER_RUNNING;
	fiber.row.carrier = 0;
	fiber.row.age = 3000000;
	add();
	assert_string_equal(why(7), "It has waited 3s to join fiber 41 \"busy\"; fiber 41 has run "
				    "on carrier 0 for 3ms.");
	assert_string_equal(why(41), "It has run on carrier 0 for 3ms.");
}

static void test_two_that_hold_what_the_other_wants_are_a_deadlock(void **state)
{
	(void)state;
	add_mutex(1, "a", "left", 2);
	add_mutex(2, "b", "right", 1);
	add_join(3, 1); /* leads into the cycle */
	assert_string_equal(
		why(1),
		"It has waited 3s for the mutex \"left\", which fiber 2 \"b\" holds; fiber 2 "
		"itself has waited 3s for the mutex \"right\", which fiber 1 \"a\" holds: a "
		"deadlock, see the command 'deadlock'.");
	assert_non_null(strstr(why(3), ": a deadlock, see"));
}

static void test_a_circle_with_a_deadline_in_it_is_no_deadlock_yet(void **state)
{
	(void)state;
	add_mutex(1, "a", "left", 2);
	make(2, "b", FIB_WAIT_MUTEX);
	fiber.row.holder = 1;
	fiber.row.wait_object = 0x5000;
	fiber.row.deadline = fiber.now + 2 * SECOND;
	add();
	assert_null(strstr(why(1), "deadlock"));
	assert_non_null(strstr(text, "a cycle, until"));
	assert_non_null(strstr(text, "itself has waited 3s for the mutex at 0x5000, which fiber 1 "
				     "\"a\" holds, and times out in 2s: a cycle"));
}

static void test_a_deadline_before_the_circle_does_not_end_it(void **state)
{
	(void)state;
	make(9, "", FIB_WAIT_JOIN);
	fiber.row.wait_arg = 1;
	fiber.row.deadline = fiber.now + SECOND;
	add();
	add_mutex(1, "a", "left", 2);
	add_mutex(2, "b", "right", 1);
	assert_non_null(strstr(why(9), ": a deadlock, see"));
}

static void test_who_waits_for_himself_is_a_deadlock(void **state)
{
	(void)state;
	add_mutex(1, "me", "m", 1);
	assert_string_equal(why(1), "It has waited 3s for the mutex \"m\", which fiber 1 \"me\" "
				    "holds: a deadlock, see the command 'deadlock'.");
}

static void expect_end(const char *end)
{
	if (strlen(text) < strlen(end) || strcmp(text + strlen(text) - strlen(end), end) != 0)
		print_error("'%s' does not end with '%s'\n", text, end);
	assert_true(strlen(text) >= strlen(end));
	assert_string_equal(text + strlen(text) - strlen(end), end);
}

static void test_a_long_chain_is_told_in_part_and_where_it_ends(void **state)
{
	const char *at;
	uint64_t id;
	int links = 0;

	(void)state;
	for (id = 1; id <= 100; id++)
		add_join(id, id + 1);
	make(101, "", FIB_WAIT_PARK);
	add();
	why(1);
	/* Fibers 1 to 12 are listed, 13 to 101 summed up. */
	expect_end("; and so on to fiber 101 after 89 more, which has been parked for 3s and "
		   "waits for fiber_unpark().");
	for (at = text; (at = strstr(at, "itself")); at++)
		links++;
	assert_int_equal(links, INS_EXPLAIN_LINKS - 1);
}

static void test_a_long_chain_that_does_not_end_is_a_circle(void **state)
{
	uint64_t id;

	(void)state;
	for (id = 1; id < 1000; id++)
		add_join(id, id + 1);
	add_join(1000, 900); /* far from the start */
	why(1);
	expect_end("; and so on, into a cycle: see the command 'deadlock'.");
	why(950);
	expect_end("; and so on, into a cycle: see the command 'deadlock'.");
	/* A chain that ends with a fiber that does not exist. */
	for (id = 2000; id < 2020; id++)
		add_join(id, id + 1);
	why(2000);
	expect_end("; and so on to fiber 2020 after 9 more, which no longer exists.");
}

static void test_who_is_not_there_any_more_and_who_is_no_fiber(void **state)
{
	(void)state;
	add_join(1, 500);
	assert_string_equal(why(1),
			    "It has waited 3s to join fiber 500; fiber 500 no longer exists.");
	add_mutex(2, "", "m", FIB_HOLDER_THREAD | 12);
	assert_string_equal(why(2), "It has waited 3s for the mutex \"m\", which thread 12 (not "
				    "a fiber) holds.");
}

static void test_who_could_run_is_behind_others(void **state)
{
	(void)state;
	make(1, "", FIB_WAIT_YIELD);
	fiber.row.state = FIBER_RUNNABLE;
	fiber.row.age = 12000000;
	add();
	assert_string_equal(why(1),
			    "It is runnable and has waited 12ms for a carrier; no other fiber has "
			    "waited longer.");
	for (unsigned i = 2; i < 6; i++) {
		make(i, "", FIB_WAIT_NONE);
		fiber.row.state = FIBER_RUNNABLE;
		fiber.row.age = i * 5000000;
		add();
	}
	make(9, "hog", FIB_WAIT_NONE);
	fiber.row.state = FIBER_RUNNING;
	fiber.row.carrier = 1;
	add();
	make(10, "fresh", FIB_WAIT_NONE);
	fiber.row.state = FIBER_RUNNING;
	fiber.row.carrier = 0;
	fiber.row.age = 1;
	add();
	assert_string_equal(why(1),
			    "It is runnable and has waited 12ms for a carrier; 3 other fibers have "
			    "waited longer; fiber 9 \"hog\" has run longest, on carrier 1 for 3s.");
}

static void test_who_is_bound_waits_for_its_carrier(void **state)
{
	(void)state;
	make(1, "", FIB_WAIT_YIELD);
	fiber.row.state = FIBER_RUNNABLE;
	fiber.row.age = 12000000;
	fiber.row.bound = 2;
	add();
	assert_string_equal(
		why(1), "It is runnable and has waited 12ms for carrier 1, to which it is bound.");
	for (unsigned carrier = 0; carrier < 2; carrier++) {
		make(8 + carrier, "hog", FIB_WAIT_NONE);
		fiber.row.state = FIBER_RUNNING;
		fiber.row.carrier = (uint16_t)carrier;
		add();
	}
	assert_string_equal(
		why(1), "It is runnable and has waited 12ms for carrier 1, to which it is bound; "
			"fiber 9 \"hog\" has run there for 3s.");
}

static void test_each_state_and_wait_has_its_words(void **state)
{
	static const struct {
		unsigned state, kind;
		int64_t deadline;
		const char *text;
	} cases[] = {
		{FIBER_CREATED, 0, 0, "It was created 3s ago and has not started."},
		{FIBER_DEAD, 0, 0, "It exited 3s ago and waits to be joined."},
		{FIBER_SUSPENDED, FIB_WAIT_SLEEP, 2, "It has slept for 3s, and wakes in 2s."},
		{FIBER_SUSPENDED, FIB_WAIT_SLEEP, -1,
		 "It has slept for 3s, and its deadline has passed."},
		{FIBER_SUSPENDED, FIB_WAIT_PARK, 0,
		 "It has been parked for 3s and waits for fiber_unpark()."},
		{FIBER_SUSPENDED, FIB_WAIT_TIMER, 2,
		 "It has waited 3s for the timer, which expires in 2s."},
		{FIBER_SUSPENDED, FIB_WAIT_COND, 2,
		 "It has waited 3s for the condition variable, and times out in 2s."},
		{FIBER_SUSPENDED, FIB_WAIT_CHAN_SEND, 0,
		 "It has waited 3s for space in the channel."},
		{FIBER_SUSPENDED, FIB_WAIT_NONE, 0,
		 "It has been suspended for 3s for an unknown reason."},
		{FIBER_SUSPENDED, 200, 0, "It has waited 3s for unknown."},
		{99, 0, 0, "It is in an unknown state."},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		make(1, "", cases[i].kind);
		fiber.row.state = (uint8_t)cases[i].state;
		if (cases[i].deadline)
			fiber.row.deadline = fiber.now + cases[i].deadline * SECOND;
		assert_string_equal(explain(&fiber, text, sizeof text), cases[i].text);
	}
}

static void test_a_select_of_descriptors_says_how_many(void **state)
{
	(void)state;
	make(1, "", FIB_WAIT_SELECT);
	fiber.row.wait_arg = UINT64_C(2) << 32 | 2;
	assert_string_equal(explain(&fiber, text, sizeof text),
			    "It has waited 3s for one of 2 descriptors.");
	strcpy(fiber.row.object_name, "25 read, 26 write");
	assert_string_equal(explain(&fiber, text, sizeof text),
			    "It has waited 3s for one of 2 descriptors: 25 read, 26 write.");
	fiber.row.object_name[0] = 0;
	fiber.row.wait_arg = UINT64_C(1) << 32 | 2;
	assert_string_equal(explain(&fiber, text, sizeof text),
			    "It has waited 3s for one of the cases of its select.");
}

static void put_rwlock(uint64_t id, const char *name, unsigned kind, uint64_t readers)
{
	make(id, name, kind);
	snprintf(fiber.row.object_name, sizeof fiber.row.object_name, "t");
	fiber.row.wait_object = 0x5000;
	fiber.row.readers = readers;
	add();
}

static void test_all_readers_and_the_writer_before_a_reader_are_told(void **state)
{
	struct ins_waiters waiters;
	struct ins_graph *graph;

	(void)state;
	make(1, "get", FIB_WAIT_SLEEP);
	fiber.row.reads[0] = 0x5000;
	fiber.row.reading = 1;
	add();
	/* Three read it: one has a row, and of two not even the numbers are known. */
	put_rwlock(2, "put", FIB_WAIT_RWLOCK_WRITE, UINT64_C(0x1234567800000003));
	put_rwlock(3, "", FIB_WAIT_RWLOCK_READ, UINT64_C(0x1234567800000003));
	assert_string_equal(
		why(3), "It has waited 3s for a read lock on the rwlock \"t\", behind fiber 2 "
			"\"put\", which waits to write; fiber 2 itself has waited 3s for the "
			"write lock on the rwlock \"t\", which fiber 1 \"get\" and 2 others hold "
			"for reading; fiber 1 has slept for 3s.");
	assert_int_equal(ins_graph_new(table, &graph), 0);
	ins_waiters_find(graph, 1, &waiters);
	assert_int_equal(waiters.wanting, 1);
	assert_int_equal(waiters.ids.id[0], 2);
	ins_waiters_find(graph, 2, &waiters);
	assert_int_equal(waiters.wanting, 1);
	assert_int_equal(waiters.ids.id[0], 3);
	ins_graph_free(graph);
}

static void test_a_pinned_fiber_runs_and_waits(void **state)
{
	(void)state;
	make(5, "holder", FIB_WAIT_SLEEP);
	add();
	make(1, "", FIB_WAIT_MUTEX);
	fiber.row.state = FIBER_RUNNING;
	fiber.row.carrier = 3;
	fiber.row.holder = 5;
	strcpy(fiber.row.object_name, "m");
	add();
	assert_string_equal(why(1), "It is pinned and blocks carrier 3: it has waited 3s "
				    "for the mutex \"m\", which fiber 5 \"holder\" holds; fiber 5 "
				    "has slept for 3s.");
}

static void test_no_name_leaves_its_quotes_and_no_sentence_its_buffer(void **state)
{
	char small[40];
	uint64_t id;
	char *at;

	(void)state;
	for (id = 1; id < 30; id++)
		add_mutex(id, "\x1b\x1b\"\\\x1b\x1b\x1b\x1b\x1b\n", "\n\n\n\"\x1b\x1b\xff\xff",
			  id + 1);
	for (at = (char *)why(1); *at; at++)
		assert_true(*at >= 0x20 && *at < 0x7f);
	expect_end(" more, which no longer exists.");
	make(1, "", FIB_WAIT_JOIN);
	fiber.row.wait_arg = 2;
	explain(&fiber, small, sizeof small);
	assert_int_equal(strlen(small), sizeof small - 1);
}

static void test_those_who_wait_for_a_fiber_are_counted_and_the_lowest_named(void **state)
{
	struct ins_waiters waiters;
	struct ins_graph *graph;
	uint64_t id;

	(void)state;
	for (id = 100; id < 120; id++)
		add_join(id, 5);
	add_mutex(7, "", "m", 5);
	add_mutex(8, "", "m", 6);
	make(9, "", FIB_WAIT_NONE); /* it runs, so its holder is ignored */
	fiber.row.holder = 5;
	add();
	assert_int_equal(ins_graph_new(table, &graph), 0);
	ins_waiters_find(graph, 5, &waiters);
	assert_int_equal(waiters.joining, 20);
	assert_int_equal(waiters.wanting, 1);
	assert_int_equal(waiters.ids.count, INS_SAMPLE);
	assert_int_equal(waiters.ids.id[0], 7);
	assert_int_equal(waiters.ids.id[1], 100);
	assert_int_equal(waiters.ids.id[7], 106);
	ins_waiters_find(graph, 12345, &waiters);
	assert_int_equal(waiters.joining + waiters.wanting + waiters.ids.count, 0);
	ins_graph_free(graph);
}

static int begin(void **state)
{
	(void)state;
	return ins_table_new(&table);
}

static int end(void **state)
{
	(void)state;
	ins_table_free(table);
	return 0;
}

#define WHY_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WHY_TEST(test_the_holder_of_a_mutex_is_told_and_what_he_waits_for),
		WHY_TEST(test_who_was_cancelled_and_goes_on_is_told_so),
		WHY_TEST(test_who_is_joined_is_told_and_what_he_does),
		WHY_TEST(test_two_that_hold_what_the_other_wants_are_a_deadlock),
		WHY_TEST(test_a_circle_with_a_deadline_in_it_is_no_deadlock_yet),
		WHY_TEST(test_a_deadline_before_the_circle_does_not_end_it),
		WHY_TEST(test_who_waits_for_himself_is_a_deadlock),
		WHY_TEST(test_a_long_chain_is_told_in_part_and_where_it_ends),
		WHY_TEST(test_a_long_chain_that_does_not_end_is_a_circle),
		WHY_TEST(test_who_is_not_there_any_more_and_who_is_no_fiber),
		WHY_TEST(test_who_could_run_is_behind_others),
		WHY_TEST(test_who_is_bound_waits_for_its_carrier),
		WHY_TEST(test_each_state_and_wait_has_its_words),
		WHY_TEST(test_a_select_of_descriptors_says_how_many),
		WHY_TEST(test_all_readers_and_the_writer_before_a_reader_are_told),
		WHY_TEST(test_a_pinned_fiber_runs_and_waits),
		WHY_TEST(test_no_name_leaves_its_quotes_and_no_sentence_its_buffer),
		WHY_TEST(test_those_who_wait_for_a_fiber_are_counted_and_the_lowest_named),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
