/* SPDX-License-Identifier: MIT */
/* test_confirm.c - how often a source is read until deadlocks are certain, over a fake source */
#include <errno.h>

#include <fiber/fiber.h>

#include "inspect/model/running.h"
#include "inspect/waits/confirm.h"
#include "tests/harness/inspect/waiting.h"

/* A fake source: the fibers of each reading. */
static struct {
	struct ins_source source;
	const struct waiting *readings[3];
	unsigned read;
	int fails; /* error of the second reading, or 0 */
	enum ins_doing doing[3];
	unsigned asked;
} fake;

static int fake_read(struct ins_source *source, const struct ins_request *request, ins_fiber_fn *fn,
		     void *context, struct ins_summary *ret, struct ins_error *error)
{
	const struct waiting *w = fake.readings[fake.read++];
	struct ins_fiber fiber;
	int rc = 0;

	(void)source;
	assert_false(request->stacks || request->labels || request->modules || request->id);
	if (fake.read == 2 && fake.fails)
		return ins_error_set(error, fake.fails, "it went away");
	ret->sampled_ns = 10;
	for (size_t i = 0; rc == 0 && i < ins_table_count(w->table); i++) {
		ins_table_get(w->table, i, &fiber);
		rc = fn(context, &fiber);
	}
	return rc;
}

/* What the pinned fiber does after each reading. */
static int fake_running(struct ins_source *source, struct ins_running *ret)
{
	(void)source;
	ret->doing = fake.doing[fake.asked++];
	return 0;
}

static void fake_close(struct ins_source *source)
{
	(void)source;
}

static int begin(void **state)
{
	static const struct ins_source_ops ops = {
		.read = fake_read, .running = fake_running, .close = fake_close};

	(void)state;
	memset(&fake, 0, sizeof fake);
	fake.source.ops = &ops;
	rows_layout(&fake.source.layout);
	return 0;
}

/* Make two fibers that wait for each other, with this sequence number. */
static struct waiting ring(uint64_t seq)
{
	struct waiting w = waiting_new();

	for (uint64_t id = 1; id <= 2; id++) {
		struct ins_fiber fiber = waiting_for(id, FIB_WAIT_MUTEX, id, 3 - id);

		fiber.row.seq = seq;
		waiting_put(&w, &fiber);
	}
	return w;
}

/* Expect this many deadlocks in this many readings. */
static void expect(bool still, size_t lasting, unsigned readings)
{
	struct ins_confirmed c;
	struct ins_error error = {""};

	fake.read = 0;
	assert_int_equal(ins_confirm_deadlocks(&fake.source, 0, still, &c, &error), 0);
	assert_int_equal(ins_deadlocks_lasting(c.found), lasting);
	assert_int_equal(c.readings, readings);
	assert_int_equal(fake.read, readings);
	assert_int_equal(c.sampled_ns, 10 * readings);
	assert_ptr_equal(ins_deadlocks_graph(c.found), c.graph);
	assert_ptr_equal(ins_graph_table(c.graph), c.table);
	ins_confirmed_free(&c);
}

static void test_confirm_reads_once_where_nothing_is_suspicious(void **state)
{
	struct waiting w = waiting_new();

	(void)state;
	waiting_free_one(&w, 1, 0);
	fake.readings[0] = &w;
	expect(false, 0, 1);
	waiting_free(&w);
}

static void test_confirm_reads_again_and_keeps_what_did_not_move(void **state)
{
	struct waiting w = ring(4), moved = ring(6);

	(void)state;
	fake.readings[0] = fake.readings[1] = &w;
	expect(false, 1, 2);
	fake.readings[1] = &moved;
	expect(false, 0, 2);
	waiting_free(&w);
	waiting_free(&moved);
}

static void test_confirm_reads_once_where_nothing_moves(void **state)
{
	struct waiting w = ring(4);

	(void)state;
	fake.readings[0] = &w;
	expect(true, 1, 1);
	waiting_free(&w);
}

static void test_confirm_frees_what_it_has_when_a_reading_fails(void **state)
{
	struct waiting w = ring(4);
	struct ins_confirmed c;
	struct ins_error error = {""};

	(void)state;
	fake.readings[0] = fake.readings[1] = &w;
	fake.fails = -ECONNRESET;
	assert_int_equal(ins_confirm_deadlocks(&fake.source, 0, false, &c, &error), -ECONNRESET);
	assert_string_equal(error.text, "it went away");
	ins_confirmed_free(&c);
	waiting_free(&w);
}

/* A pinned fiber that waits for a mutex that it holds. */
static struct waiting pinned(uint32_t pinned_waits)
{
	struct waiting w = waiting_new();
	struct ins_fiber fiber = waiting_for(1, FIB_WAIT_MUTEX, 1, 1);

	fiber.row.seq = 3;
	fiber.row.state = FIBER_RUNNING;
	fiber.row.carrier = 0;
	fiber.row.pins = 1;
	fiber.row.pinned_waits = pinned_waits;
	waiting_put(&w, &fiber);
	return w;
}

/* Its switch count is the same whenever it waits. */
static void test_confirm_tells_one_wait_of_a_pinned_fiber_from_the_next(void **state)
{
	struct waiting w = pinned(5), next = pinned(6);

	(void)state;
	fake.doing[0] = fake.doing[1] = fake.doing[2] = INS_DOING_CALLS;
	fake.readings[0] = fake.readings[1] = fake.readings[2] = &w;
	expect(false, 1, 3);
	fake.asked = 0;
	fake.readings[2] = &next;
	expect(false, 0, 3);
	waiting_free(&w);
	waiting_free(&next);
}

/* It has been handed the lock, and has no CPU yet. */
static void test_confirm_wants_a_pinned_fiber_asleep_after_each_reading(void **state)
{
	struct waiting w = pinned(5);

	(void)state;
	fake.readings[0] = fake.readings[1] = fake.readings[2] = &w;
	for (unsigned awake = 0; awake < 3; awake++) {
		fake.asked = 0;
		for (unsigned i = 0; i < 3; i++)
			fake.doing[i] = i == awake ? INS_DOING_COMPUTES : INS_DOING_CALLS;
		expect(false, 0, awake + 1);
	}
	waiting_free(&w);
}

#define CONFIRM_TEST(name) cmocka_unit_test_setup(name, begin)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CONFIRM_TEST(test_confirm_reads_once_where_nothing_is_suspicious),
		CONFIRM_TEST(test_confirm_reads_again_and_keeps_what_did_not_move),
		CONFIRM_TEST(test_confirm_reads_once_where_nothing_moves),
		CONFIRM_TEST(test_confirm_tells_one_wait_of_a_pinned_fiber_from_the_next),
		CONFIRM_TEST(test_confirm_wants_a_pinned_fiber_asleep_after_each_reading),
		CONFIRM_TEST(test_confirm_frees_what_it_has_when_a_reading_fails),
	};

	harness_watchdog(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
