/* SPDX-License-Identifier: MIT */
/* test_cmd_counters.c - the process's counters are sent after a walk in pieces */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "records.h"
#include "service/answer.h"
#include "service/command.h"
#include "talk.h"
#include "tests/harness/watchdog.h"

#define MANY 3000u

static struct talk t;

/* The counters in the answer, after checking the frames around them. */
static struct fib_wire_counters ask(void)
{
	struct fib_wire_counters c;
	const struct fib_wire_process *p;
	const struct fib_wire_end *end;
	const void *payload;
	size_t length;

	talk_begin(&t);
	talk_request(&t, FIB_WIRE_COUNTERS, NULL, 0);
	talk_run(&t);
	assert_int_equal(talk_frame(&t, &payload, &length), FIB_WIRE_PROCESS);
	p = payload;
	assert_int_equal(talk_frame(&t, &payload, &length), FIB_WIRE_LAYOUT);
	assert_int_equal(talk_frame(&t, &payload, &length), FIB_WIRE_COUNTERS_ARE);
	assert_int_equal(length, sizeof c);
	memcpy(&c, payload, sizeof c);
	assert_int_equal(p->fibers, c.fibers);
	assert_int_equal(talk_frame(&t, &payload, &length), FIB_WIRE_END);
	end = payload;
	assert_int_equal(end->total, c.fibers);
	assert_int_equal(end->shown, c.fibers);
	talk_end(&t);
	return c;
}

static void test_counters_are_of_all_fibers(void **state)
{
	static struct fiber *f[MANY];
	struct fib_wire_counters c;
	unsigned i;

	(void)state;
	c = ask();
	assert_int_equal(c.fibers, 0);
	for (i = 0; i < MANY; i++)
		f[i] = record_make("f", 0, 0);
	c = ask();
	assert_int_equal(c.fibers, MANY);
	assert_int_equal(c.states[FIBER_SUSPENDED], MANY);
	assert_int_equal(c.waits[FIB_WAIT_PARK], MANY);
	assert_true(c.records >= MANY);
	assert_int_equal(c.record_size, sizeof(struct fiber));
	for (i = 0; i < MANY; i++)
		record_end(f[i]);
	assert_int_equal(ask().fibers, 0);
}

static void test_counters_come_in_pieces(void **state)
{
	static struct fiber *f[MANY];
	struct fib_cursor *cursor = &t.peer.cursor;
	unsigned i, steps = 1;

	(void)state;
	for (i = 0; i < MANY; i++)
		f[i] = record_make("f", 0, 0);
	talk_begin(&t);
	memset(cursor, 0, sizeof *cursor);
	assert_true(fib_cmd_counters.begin(&t.peer, NULL, 0));
	for (; !fib_cmd_counters.step(&t.peer, t.now); steps++)
		assert_in_range(cursor->next, 1, steps * 1024);
	assert_true(steps > MANY / 1024);
	talk_end(&t);
	for (i = 0; i < MANY; i++)
		record_end(f[i]);
}

static void test_counters_of_memory_and_of_the_thread_are_there(void **state)
{
	int64_t before = fib_os_now();
	struct fib_wire_counters c;

	(void)state;
	fib_answer_introduce("unit", FIB_WIRE_RO);
	c = ask();
	assert_in_range(c.service_began, before, fib_os_now());
	assert_in_range(c.now, c.service_began, fib_os_now());
	assert_true(c.service_cpu > 0);
	assert_true(c.resident >= fib_os_page_size() && c.resident % fib_os_page_size() == 0);
	assert_true(c.stacks_free <= c.stacks);
	assert_int_equal(c.watched, 0);
	assert_int_equal(c.slow, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counters_are_of_all_fibers),
		cmocka_unit_test(test_counters_come_in_pieces),
		cmocka_unit_test(test_counters_of_memory_and_of_the_thread_are_there),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
