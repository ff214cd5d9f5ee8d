/* SPDX-License-Identifier: MIT */
/* test_cmd_carriers.c - every runtime of the process, each with its carriers */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fiber.h>

#include "service/answer.h"
#include "talk.h"
#include "tests/harness/watchdog.h"

static struct talk t;

static struct fiber_runtime *start(unsigned carriers)
{
	struct fiber_runtime_options o = {
		.size = sizeof o, .carriers = carriers, .control_path = ""};
	struct fiber_runtime *rt;

	assert_int_equal(fiber_runtime_start(&o, &rt), 0);
	return rt;
}

static void ask(void)
{
	fib_answer_introduce("unit", FIB_WIRE_RO);
	talk_begin(&t);
	talk_request(&t, FIB_WIRE_CARRIERS, NULL, 0);
	talk_run(&t);
}

/* Expect some carriers of a runtime, in order, starting with number `first`. Returns how many. */
static unsigned expect_some(unsigned first, unsigned all, uint64_t *serial)
{
	const struct fib_wire_runtime *r;
	struct fib_wire_carrier c;
	const void *payload;
	size_t length;
	unsigned i;

	assert_int_equal(talk_frame(&t, &payload, &length), FIB_WIRE_RUNTIME);
	r = payload;
	assert_int_equal(r->all, all);
	assert_int_equal(r->first, first);
	assert_in_range(r->carriers, 1, all - first);
	assert_int_equal(length, sizeof *r + r->carriers * r->carrier_size);
	assert_true(r->poller[0]);
	for (i = 0; i < r->carriers; i++) {
		memcpy(&c, (const char *)(r + 1) + i * r->carrier_size, sizeof c);
		assert_int_equal(c.index, first + i);
		assert_in_range(c.state, FIB_WIRE_CARRIER_POLLING, FIB_WIRE_CARRIER_RUNNING);
	}
	assert_true(!first || r->serial == *serial);
	*serial = r->serial;
	return r->carriers;
}

/* Expect the next runtime in the answer, with so many carriers, all of them present. */
static uint64_t expect_runtime(unsigned carriers)
{
	uint64_t serial = 0;
	unsigned n = 0;

	while (n < carriers)
		n += expect_some(n, carriers, &serial);
	return serial;
}

static void expect_end(uint64_t carriers)
{
	const struct fib_wire_end *end;
	const void *payload;
	size_t length;

	assert_int_equal(talk_frame(&t, &payload, &length), FIB_WIRE_END);
	end = payload;
	assert_int_equal(end->total, carriers);
	assert_int_equal(end->shown, carriers);
	talk_end(&t);
}

static void test_carriers_of_every_runtime_are_told(void **state)
{
	struct fiber_runtime *few = start(1), *many = start(256), *some = start(2);
	uint64_t serial;

	(void)state;
	ask();
	serial = expect_runtime(1);
	assert_int_equal(expect_runtime(256), serial + 1);
	assert_int_equal(expect_runtime(2), serial + 2);
	expect_end(259);
	assert_int_equal(fiber_runtime_finish(many, FIBER_FOREVER), 0);
	ask();
	assert_int_equal(expect_runtime(1), serial);
	assert_int_equal(expect_runtime(2), serial + 2);
	expect_end(3);
	assert_int_equal(fiber_runtime_finish(few, FIBER_FOREVER), 0);
	assert_int_equal(fiber_runtime_finish(some, FIBER_FOREVER), 0);
}

static void test_carriers_of_a_process_without_a_runtime_are_none(void **state)
{
	(void)state;
	ask();
	expect_end(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_carriers_of_every_runtime_are_told),
		cmocka_unit_test(test_carriers_of_a_process_without_a_runtime_are_none),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
