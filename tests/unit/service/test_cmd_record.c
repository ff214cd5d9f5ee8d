/* SPDX-License-Identifier: MIT */
/*
 * test_cmd_record.c - requests to the recorder: who may send them, and the answers
 *
 * There is no service thread: the test plays it.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>

#include "layout/event.h"
#include "service/answer.h"
#include "service/audit.h"
#include "talk.h"
#include "tests/harness/watchdog.h"
#include "tests/unit/sched/carriers.h"
#include "wire/record.h"

static struct fib_sched s;
static struct fib_wire_record_is is;
static struct fib_wire_end end;
static unsigned rings, spawns, exits, outside;
static uint64_t events, lost;

static int setup(void **state)
{
	(void)state;
	carriers_start(&s, 2);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	carriers_stop(&s);
	return 0;
}

static void count(const void *payload, size_t length)
{
	struct fib_wire_recorded head;
	struct fib_event e;
	uint32_t i;

	memcpy(&head, payload, sizeof head);
	assert_int_equal(head.event_size, sizeof e);
	assert_int_equal(length, sizeof head + head.count * sizeof e);
	assert_int_equal(head.runtime, s.serial);
	rings++;
	outside += head.carrier == FIB_EVENT_OUTSIDE;
	events += head.count;
	lost += head.lost;
	for (i = 0; i < head.count; i++) {
		memcpy(&e, (const char *)payload + sizeof head + i * sizeof e, sizeof e);
		spawns += e.type == FIB_EVENT_SPAWN;
		exits += e.type == FIB_EVENT_EXIT;
	}
}

/* Returns 0 with the answer in the variables, or the error of the answer. */
static int ask(enum fib_wire_record_what what, uint32_t ring, uint64_t id, enum fib_wire_mode mode)
{
	const struct fib_wire_record request = {what, ring, id};
	struct fib_wire_error e = {0};
	const void *payload;
	struct talk t;
	size_t length;

	rings = spawns = exits = outside = 0;
	events = lost = 0;
	fib_answer_introduce("unit", mode);
	talk_begin(&t);
	talk_request(&t, FIB_WIRE_RECORD, &request, sizeof request);
	talk_run(&t);
	payload = talk_find(&t, FIB_WIRE_ERROR, &length);
	if (payload) {
		memcpy(&e, payload, sizeof e);
		talk_end(&t);
		return e.error;
	}
	t.at = 0;
	payload = talk_find(&t, FIB_WIRE_RECORD_IS, &length);
	assert_non_null(payload);
	memcpy(&is, payload, sizeof is);
	t.at = 0;
	while ((payload = talk_find(&t, FIB_WIRE_RECORDED, &length)))
		count(payload, length);
	t.at = 0;
	payload = talk_find(&t, FIB_WIRE_END, &length);
	assert_non_null(payload);
	memcpy(&end, payload, sizeof end);
	assert_int_equal(end.shown, events);
	talk_end(&t);
	return 0;
}

static void *nothing(void *arg)
{
	return arg;
}

static void run(unsigned n)
{
	while (n--)
		assert_int_equal(
			fiber_join(carriers_spawn(&s, NULL, nothing, NULL), NULL, FIBER_FOREVER),
			0);
}

static void test_record_gives_every_event_once(void **state)
{
	(void)state;
	assert_int_equal(ask(FIB_WIRE_RECORD_START, 4096, 0, FIB_WIRE_RW), 0);
	assert_int_equal(is.events, 4096);
	assert_int_equal(is.runtimes, 1);
	assert_int_equal(rings, 0);
	run(100); /* each carrier notices the recording */
	assert_int_equal(ask(FIB_WIRE_RECORD_READ, 0, is.id, FIB_WIRE_RW), 0);
	assert_int_equal(spawns, 100);
	run(100);
	assert_int_equal(ask(FIB_WIRE_RECORD_READ, 0, is.id, FIB_WIRE_RW), 0);
	assert_int_equal(rings, 3); /* one frame each */
	assert_int_equal(outside, 1);
	assert_int_equal(spawns, 100);
	assert_int_equal(exits, 100);
	run(10);
	assert_int_equal(ask(FIB_WIRE_RECORD_READ, 0, is.id, FIB_WIRE_RW), 0);
	assert_int_equal(spawns, 10);
	assert_int_equal(exits, 10);
	assert_int_equal(lost, 0);
	assert_int_equal(ask(FIB_WIRE_RECORD_STOP, 0, is.id, FIB_WIRE_RW), 0);
	assert_int_equal(ask(FIB_WIRE_RECORD_READ, 0, is.id, FIB_WIRE_RW), -ESRCH);
}

static void test_record_says_how_many_events_were_lost(void **state)
{
	(void)state;
	assert_int_equal(ask(FIB_WIRE_RECORD_START, 256, 0, FIB_WIRE_RW), 0);
	run(1000); /* a spawn each, in the ring for outside threads */
	assert_int_equal(ask(FIB_WIRE_RECORD_READ, 0, is.id, FIB_WIRE_RW), 0);
	assert_in_range(spawns, 1, 256);
	assert_true(lost >= 1000 - 256);
	assert_int_equal(fiber_registry.recording_lost, lost);
	assert_int_equal(ask(FIB_WIRE_RECORD_STOP, 0, is.id, FIB_WIRE_RW), 0);
}

static void test_record_needs_the_right_and_is_in_the_audit(void **state)
{
	const struct fib_wire_audit_entry *e;

	(void)state;
	fib_audit_forget();
	assert_int_equal(ask(FIB_WIRE_RECORD_START, 256, 0, FIB_WIRE_RO), -EPERM);
	assert_int_equal(ask(FIB_WIRE_RECORD_START, 256, 0, FIB_WIRE_RW), 0);
	assert_int_equal(ask(FIB_WIRE_RECORD_START, 512, 0, FIB_WIRE_RW), -EBUSY);
	assert_int_equal(ask(FIB_WIRE_RECORD_READ, 0, is.id, FIB_WIRE_RW), 0);
	assert_int_equal(ask(FIB_WIRE_RECORD_READ, 0, is.id, FIB_WIRE_RO), -EPERM);
	assert_int_equal(ask(FIB_WIRE_RECORD_STOP, 0, is.id, FIB_WIRE_RW), 0);
	assert_int_equal(ask(3, 0, 0, FIB_WIRE_RW), -EINVAL);
	assert_int_equal(fib_audit_total(), 4);
	e = fib_audit_entry(1);
	assert_int_equal(e->what, FIB_WIRE_AUDIT_RECORD);
	assert_int_equal(e->result, -EPERM);
	e = fib_audit_entry(2);
	assert_int_equal(e->before, 0);
	assert_int_equal(e->after, 256);
	assert_int_equal(e->result, 0);
	assert_int_equal(fib_audit_entry(3)->result, -EBUSY);
	e = fib_audit_entry(4);
	assert_int_equal(e->before, 256);
	assert_int_equal(e->after, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_record_gives_every_event_once, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_record_says_how_many_events_were_lost, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_record_needs_the_right_and_is_in_the_audit,
						setup, teardown),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
