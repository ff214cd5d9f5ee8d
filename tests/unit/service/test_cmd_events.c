/* SPDX-License-Identifier: MIT */
/* test_cmd_events.c - the events of both rings, with their stacks, from the requested number on */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>

#include <fiber.h>

#include "service/answer.h"
#include "talk.h"
#include "tests/harness/watchdog.h"
#include "wait/pinned.h"
#include "watch/longrun_ring.h"
#include "watch/tick.h"

#define MS INT64_C(1000000)

static struct fiber_runtime *rt;
static struct talk t;
static struct fib_wire_event events[600];
static unsigned count;
static struct fib_wire_end end;
static bool told; /* the process was identified */

static int setup(void **state)
{
	struct fiber_runtime_options o = {.size = sizeof o,
					  .carriers = 1,
					  .control_path = "",
					  .pinned_policy = FIBER_PINNED_ERROR,
					  .long_run_ns = -1};

	(void)state;
	fib_tick_lock();
	fib_longrun_forget();
	fib_tick_unlock();
	/* This thread answers in place of the service thread, which must not use its pipe meanwhile. */
	if (fiber_runtime_start(&o, &rt) < 0)
		return -1;
	fib_longrun_set_pipe(NULL);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	return fiber_runtime_finish(rt, FIBER_FOREVER);
}

/* Returns 0 with the answer parsed, or the error of the answer. */
static int ask(uint32_t ring, uint32_t bare, uint64_t from)
{
	struct fib_wire_events request = {.ring = ring, .bare = bare, .from = from};
	struct fib_wire_error e = {0};
	const void *payload;
	size_t length;
	unsigned type;

	count = 0;
	told = false;
	memset(&end, 0, sizeof end);
	fib_answer_introduce("unit", FIB_WIRE_RO);
	talk_begin(&t);
	talk_request(&t, FIB_WIRE_EVENTS, &request, sizeof request);
	talk_run(&t);
	while ((type = talk_frame(&t, &payload, &length))) {
		told |= type == FIB_WIRE_LAYOUT;
		if (type == FIB_WIRE_END)
			memcpy(&end, payload, sizeof end);
		if (type == FIB_WIRE_ERROR)
			memcpy(&e, payload, sizeof e);
		if (type != FIB_WIRE_EVENT)
			continue;
		assert_true(length >= sizeof events[0] && count < 600);
		memcpy(&events[count], payload, sizeof events[0]);
		assert_int_equal(length, sizeof events[0] + events[count].stack_size);
		count++;
	}
	talk_end(&t);
	if (!e.error)
		assert_int_equal(end.shown, count);
	return e.error;
}

/* A sleep whose time is over before it has begun is no wait, so it is a long one: none of them waits. */
static void *refused(void *arg)
{
	unsigned i;

	fiber_pin();
	for (i = 0; i < (uintptr_t)arg; i++)
		fiber_sleep(INT64_C(3600) * 1000 * MS);
	fiber_unpin();
	return (void *)(uintptr_t)fiber_id(fiber_self());
}

static uint64_t refuse(unsigned times)
{
	const struct fiber_attr attr = {.size = sizeof attr, .name = "refused"};
	struct fiber_result result;
	struct fiber *fiber;

	assert_int_equal(fiber_runtime_spawn(rt, &attr, refused, (void *)(uintptr_t)times, &fiber),
			 0);
	assert_int_equal(fiber_join(fiber, &result, FIBER_FOREVER), 0);
	return (uint64_t)(uintptr_t)result.value;
}

static void test_pinned_waits_are_told_with_their_stacks(void **state)
{
	uint64_t id = refuse(3);
	unsigned i;

	(void)state;
	assert_int_equal(ask(FIB_WIRE_RING_PINNED, 0, 0), 0);
	assert_true(told);
	assert_int_equal(count, 3);
	assert_int_equal(end.total, 3);
	for (i = 0; i < count; i++) {
		assert_int_equal(events[i].number, i);
		assert_int_equal(events[i].fiber, id);
		assert_string_equal(events[i].name, "refused");
		assert_int_equal(events[i].doing, FIB_WIRE_DOING_WAITS);
		assert_int_equal(events[i].wait_kind, FIB_WAIT_SLEEP);
		assert_int_equal(events[i].flags, FIB_WIRE_EVENT_REFUSED);
		assert_int_equal(events[i].lack, FIB_WIRE_LACK_NOTHING);
		assert_true(events[i].stack_size && events[i].stack_size <= events[i].stack_all);
	}
}

static void test_only_what_is_newer_is_told_to_who_asks_for_that(void **state)
{
	uint64_t before;

	(void)state;
	assert_int_equal(ask(FIB_WIRE_RING_PINNED, 1, 0), 0);
	before = end.total;
	assert_int_equal(count, 0); /* no events of a finished runtime */
	refuse(2);
	assert_int_equal(ask(FIB_WIRE_RING_PINNED, 1, before + 1), 0);
	assert_false(told);
	assert_int_equal(count, 1);
	assert_int_equal(events[0].number, before + 1);
	assert_int_equal(end.total, before + 2);
}

static void test_pinned_waits_are_told_the_oldest_that_is_there_first(void **state)
{
	uint64_t before;
	unsigned i;

	(void)state;
	assert_int_equal(ask(FIB_WIRE_RING_PINNED, 1, 0), 0);
	before = end.total;
	refuse(FIB_PINNED_EVENTS + 44);
	assert_int_equal(ask(FIB_WIRE_RING_PINNED, 0, 0), 0);
	assert_int_equal(end.total, before + FIB_PINNED_EVENTS + 44);
	assert_int_equal(count, FIB_PINNED_EVENTS);
	for (i = 0; i < count; i++)
		assert_int_equal(events[i].number, before + 44 + i);
	/* The ring is full, with not one event more. */
	refuse(2 * FIB_PINNED_EVENTS - 44);
	assert_int_equal(ask(FIB_WIRE_RING_PINNED, 1, 0), 0);
	assert_int_equal(count, FIB_PINNED_EVENTS);
	for (i = 0; i < count; i++)
		assert_int_equal(events[i].number, before + 2 * FIB_PINNED_EVENTS + i);
}

static void test_events_of_all_runtimes_are_told(void **state)
{
	struct fiber_runtime *first = rt, *second;
	uint64_t mine, other;

	setup(state);
	second = rt;
	mine = refuse(1);
	rt = first;
	other = refuse(300);
	assert_int_equal(ask(FIB_WIRE_RING_PINNED, 0, 0), 0);
	assert_int_equal(count, 257);
	assert_int_equal(events[256].fiber, mine);
	assert_int_equal(events[0].fiber, other);
	assert_int_equal(fiber_runtime_finish(second, FIBER_FOREVER), 0);
}

static void test_long_runs_are_told_the_oldest_that_is_there_first(void **state)
{
	unsigned i;

	(void)state;
	fib_tick_lock();
	for (i = 0; i < FIB_LONGRUN_EVENTS + 5; i++) {
		struct fib_longrun_event *e = fib_longrun_ring_add();

		e->fiber = 1000 + i;
		e->stack_size = i;
		e->lasts = i % 2;
		e->lack = FIB_LONGRUN_SIGNAL;
	}
	fib_tick_unlock();
	assert_int_equal(ask(FIB_WIRE_RING_SLOW, 0, 0), 0);
	assert_true(told);
	assert_int_equal(count, FIB_LONGRUN_EVENTS);
	assert_int_equal(end.total, FIB_LONGRUN_EVENTS + 5);
	for (i = 0; i < count; i++) {
		assert_int_equal(events[i].number, i + 5);
		assert_int_equal(events[i].fiber, 1005 + i);
		assert_int_equal(events[i].flags, i % 2 ? 0 : FIB_WIRE_EVENT_LASTS);
		assert_int_equal(events[i].lack, FIB_WIRE_LACK_SIGNAL);
	}
	assert_int_equal(ask(FIB_WIRE_RING_SLOW, 1, FIB_LONGRUN_EVENTS + 4), 0);
	assert_int_equal(count, 1);
	assert_int_equal(ask(FIB_WIRE_RING_SLOW, 1, UINT64_MAX), 0);
	assert_int_equal(count, 0);
}

static void test_a_ring_that_does_not_exist_is_refused(void **state)
{
	(void)state;
	assert_int_equal(ask(FIB_WIRE_RING_PROFILE + 1, 0, 0), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_pinned_waits_are_told_with_their_stacks, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			test_only_what_is_newer_is_told_to_who_asks_for_that, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_pinned_waits_are_told_the_oldest_that_is_there_first, setup, teardown),
		cmocka_unit_test_setup_teardown(test_events_of_all_runtimes_are_told, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			test_long_runs_are_told_the_oldest_that_is_there_first, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_ring_that_does_not_exist_is_refused, setup,
						teardown),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
