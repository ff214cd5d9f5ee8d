/* SPDX-License-Identifier: MIT */
/*
 * test_rule_signal.c - who waits for a signal of a fiber that has ended, and who only seems to
 *
 * Readings are made by hand, as in test_rules.c.
 */
#include <errno.h>
#include <string.h>

#include "inspect/why/rules.h"
#include "tests/harness/inspect/waiting.h"

#define S	INT64_C(1000000000)
#define TOUCHER 90u

static struct ins_look look;
static struct ins_source source;
static struct ins_findings findings;
static struct waiting before, after;

/* No stack can be read. */
static int read_nothing(struct ins_source *s, const struct ins_request *request, ins_fiber_fn *fn,
			void *context, struct ins_summary *ret, struct ins_error *error)
{
	(void)s, (void)request, (void)fn, (void)context, (void)ret;
	return ins_error_set(error, -ENODATA, "no stacks");
}

static const struct ins_source_ops ops = {.read = read_nothing};

static int begin(void **state)
{
	(void)state;
	memset(&look, 0, sizeof look);
	memset(&source, 0, sizeof source);
	rows_layout(&source.layout);
	source.ops = &ops;
	findings = (struct ins_findings){0};
	before = waiting_new();
	after = waiting_new();
	look.source = &source;
	return 0;
}

static int end(void **state)
{
	(void)state;
	ins_findings_drop(&findings);
	waiting_free(&before);
	waiting_free(&after);
	return 0;
}

static void stays(const struct ins_fiber *fiber)
{
	waiting_put(&before, fiber);
	waiting_put(&after, fiber);
}

/* A fiber that has waited for an object that only TOUCHER has signalled. */
static struct ins_fiber waiter(uint64_t id, unsigned kind, int64_t age)
{
	struct ins_fiber fiber = waiting_for(id, kind, 7, 0);

	fiber.row.age = age;
	fiber.row.toucher = TOUCHER;
	return fiber;
}

static size_t found(void)
{
	waiting_graph(&before);
	waiting_graph(&after);
	if (!look.single)
		look.earlier = (struct ins_confirmed){.table = before.table, .graph = before.graph};
	look.last = (struct ins_confirmed){.table = after.table, .graph = after.graph, .at = S};
	assert_int_equal(ins_rule_signal.find(&look, &findings), 0);
	ins_findings_sort(&findings);
	return findings.count;
}

static void three_wait(void)
{
	struct ins_fiber fiber = waiter(1, FIB_WAIT_COND, 2 * S);

	stays(&fiber);
	fiber = waiter(2, FIB_WAIT_COND, 41 * S);
	stays(&fiber);
	fiber = waiter(3, FIB_WAIT_COND, S);
	stays(&fiber);
}

static void test_signal_of_a_fiber_that_has_ended_is_one_finding_an_object(void **state)
{
	struct ins_fiber fiber = waiter(4, FIB_WAIT_SEM, S);

	(void)state;
	three_wait();
	fiber.row.wait_object = 0x8000;
	stays(&fiber);
	assert_int_equal(found(), 2);
	assert_int_equal(findings.all[0].fibers, 3);
	assert_int_equal(findings.all[0].severity, INS_SLOW);
	assert_int_equal(findings.all[0].subject, 1); /* the longest */
	assert_int_equal(findings.all[1].fibers, 1);
	assert_int_equal(findings.all[1].subject, 3);
}

static void test_signal_says_who_waits_for_what_and_who_has_ended(void **state)
{
	(void)state;
	three_wait();
	assert_int_equal(found(), 1);
	ins_rule_signal.say(&look, &findings.all[0]);
	assert_string_equal(findings.all[0].headline,
			    "3 fibers wait for cond \"o7\", longest 41s: only fiber 90 ever "
			    "signalled it, and fiber 90 has ended");
	assert_non_null(strstr(findings.all[0].evidence[0], "fiber 2 \"f2\" has waited for"));
	assert_int_equal(findings.all[0].ids.count, 3);
	assert_int_equal(findings.all[0].ids.id[2], 3);
	assert_int_equal(findings.all[0].more_id[0], 2);
}

static void test_signal_says_the_name_of_one_that_is_not_joined_yet(void **state)
{
	struct ins_fiber fiber = waiter(1, FIB_WAIT_SEM, 3 * S);

	(void)state;
	stays(&fiber);
	fiber = waiting_for(TOUCHER, FIB_WAIT_NONE, 0, 0);
	fiber.row.state = FIBER_DEAD;
	stays(&fiber);
	assert_int_equal(found(), 1);
	ins_rule_signal.say(&look, &findings.all[0]);
	assert_string_equal(findings.all[0].headline,
			    "1 fiber waits for sem \"o7\" for 3s: only fiber 90 \"f90\" ever "
			    "posted it, and fiber 90 has ended");
}

static void test_signal_is_not_lost_while_its_sender_lives(void **state)
{
	struct ins_fiber fiber = waiting_for(TOUCHER, FIB_WAIT_SLEEP, 0, 0);

	(void)state;
	three_wait();
	stays(&fiber);
	assert_int_equal(found(), 0);
}

/* It has just ended, or has just started. */
static void test_signal_is_not_lost_while_its_sender_lives_in_one_reading(void **state)
{
	const struct ins_fiber fiber = waiting_for(TOUCHER, FIB_WAIT_SLEEP, 0, 0);

	(void)state;
	three_wait();
	waiting_put(&before, &fiber);
	assert_int_equal(found(), 0);
	end(NULL);
	begin(NULL);
	three_wait();
	waiting_put(&after, &fiber);
	assert_int_equal(found(), 0);
}

/* Its only sender was born, sent it and ended between the readings: another may come. */
static void test_signal_is_not_lost_if_its_sender_was_in_no_reading(void **state)
{
	struct ins_fiber fiber = waiter(1, FIB_WAIT_COND, 2 * S);

	(void)state;
	waiting_put(&after, &fiber);
	fiber.row.toucher = 0;
	waiting_put(&before, &fiber);
	assert_int_equal(found(), 0);
}

static void test_signal_is_not_lost_where_nobody_or_several_sent_it(void **state)
{
	struct ins_fiber fiber = waiter(1, FIB_WAIT_COND, S);

	(void)state;
	fiber.row.toucher = 0;
	stays(&fiber);
	fiber = waiter(2, FIB_WAIT_COND, S);
	fiber.row.toucher = FIB_TOUCHER_SEVERAL;
	stays(&fiber);
	assert_int_equal(found(), 0);
}

static void test_signal_is_not_lost_for_one_that_has_a_deadline_or_is_young_or_was_woken(
	void **state)
{
	struct ins_fiber fiber = waiter(1, FIB_WAIT_COND, S);

	(void)state;
	fiber.row.deadline = 90 * S;
	stays(&fiber);
	fiber = waiter(2, FIB_WAIT_COND, S - 1);
	stays(&fiber);
	fiber = waiter(3, FIB_WAIT_COND, S);
	waiting_put(&before, &fiber);
	fiber.row.seq += 2;
	waiting_put(&after, &fiber);
	/* The age of a pinned fiber is that of its run. */
	fiber = waiter(4, FIB_WAIT_COND, S);
	fiber.row.state = FIBER_RUNNING;
	fiber.row.pins = 1;
	fiber.row.carrier = 0;
	stays(&fiber);
	assert_int_equal(found(), 0);
}

static void test_signal_may_be_of_one_of_the_fibers_that_could_not_be_read(void **state)
{
	(void)state;
	three_wait();
	source.partial = true;
	assert_int_equal(found(), 0);
}

static void test_signal_needs_no_second_reading_of_a_core(void **state)
{
	(void)state;
	three_wait();
	look.single = true;
	assert_int_equal(found(), 1);
}

/* Of an id only the low half is recorded. */
static void test_signal_may_be_of_a_fiber_with_the_same_low_half(void **state)
{
	struct ins_fiber fiber = waiting_for((UINT64_C(3) << 32) + TOUCHER, FIB_WAIT_SLEEP, 0, 0);

	(void)state;
	three_wait();
	stays(&fiber);
	assert_int_equal(found(), 0);
}

static void test_signal_does_not_name_a_fiber_when_ids_are_long(void **state)
{
	struct ins_fiber fiber = waiter(1, FIB_WAIT_EVENT, S);

	(void)state;
	stays(&fiber);
	fiber = waiting_for((UINT64_C(3) << 32) + 1, FIB_WAIT_SLEEP, 0, 0);
	stays(&fiber);
	assert_int_equal(found(), 1);
	ins_rule_signal.say(&look, &findings.all[0]);
	assert_string_equal(
		findings.all[0].headline,
		"1 fiber waits for event \"o7\" for 1s: only one fiber ever set it, and "
		"that fiber has ended");
}

#define SIGNAL_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	struct CMUnitTest tests[] = {
		SIGNAL_TEST(test_signal_of_a_fiber_that_has_ended_is_one_finding_an_object),
		SIGNAL_TEST(test_signal_says_who_waits_for_what_and_who_has_ended),
		SIGNAL_TEST(test_signal_says_the_name_of_one_that_is_not_joined_yet),
		SIGNAL_TEST(test_signal_is_not_lost_while_its_sender_lives),
		SIGNAL_TEST(test_signal_is_not_lost_while_its_sender_lives_in_one_reading),
		SIGNAL_TEST(test_signal_is_not_lost_if_its_sender_was_in_no_reading),
		SIGNAL_TEST(test_signal_is_not_lost_where_nobody_or_several_sent_it),
		SIGNAL_TEST(
			test_signal_is_not_lost_for_one_that_has_a_deadline_or_is_young_or_was_woken),
		SIGNAL_TEST(test_signal_may_be_of_one_of_the_fibers_that_could_not_be_read),
		SIGNAL_TEST(test_signal_needs_no_second_reading_of_a_core),
		SIGNAL_TEST(test_signal_may_be_of_a_fiber_with_the_same_low_half),
		SIGNAL_TEST(test_signal_does_not_name_a_fiber_when_ids_are_long),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
