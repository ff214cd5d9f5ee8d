/* SPDX-License-Identifier: MIT */
/*
 * test_cmd_events_profile.c - requests for samples of a profile: who may send them, and the answers
 *
 * The service thread takes the samples, and the test answers in its place.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <sched.h>

#include <fiber.h>

#include "base/atomic.h"
#include "service/answer.h"
#include "service/audit.h"
#include "talk.h"
#include "tests/harness/process.h"
#include "tests/harness/watchdog.h"
#include "watch/longrun.h"
#include "watch/profile.h"
#include "watch/tick.h"

#define LIMIT_S 60

static struct fiber_runtime *rt;
static struct fiber *computer;
static _Atomic int enough;

/* What a client has received so far. */
struct client {
	uint64_t from; /* the next number */
	uint64_t first, count, lost;
	uint64_t of_computer; /* samples of that fiber, with a stack */
	int64_t cpu;
};

static void *computes(void *arg)
{
	while (!fib_load(&enough))
		;
	return arg;
}

static int setup(void **state)
{
	struct fiber_runtime_options o = {
		.size = sizeof o, .carriers = 1, .control_path = "", .long_run_ns = -1};
	const struct fiber_attr attr = {.size = sizeof attr, .name = "computer"};

	(void)state;
	fib_store(&enough, 0);
	if (fiber_runtime_start(&o, &rt) < 0)
		return -1;
	fib_audit_forget();
	return fiber_runtime_spawn(rt, &attr, computes, NULL, &computer);
}

static int teardown(void **state)
{
	(void)state;
	fib_store(&enough, 1);
	return fiber_join(computer, NULL, FIBER_FOREVER) < 0 ||
	       fiber_runtime_finish(rt, FIBER_FOREVER) < 0;
}

static void take(struct client *c, const void *payload, size_t length)
{
	struct fib_wire_event e;

	memcpy(&e, payload, sizeof e);
	assert_int_equal(length, sizeof e + e.stack_size);
	assert_true(e.number >= c->from);
	if (!c->count++)
		c->first = e.number;
	else
		c->lost += e.number - c->from;
	c->from = e.number + 1;
	c->cpu += e.duration;
	if (e.fiber != fiber_id(computer))
		return;
	assert_int_equal(e.doing, FIB_WIRE_DOING_COMPUTES);
	assert_int_equal(e.lack, FIB_WIRE_LACK_NOTHING);
	assert_int_equal(e.stack_size, e.stack_all);
	assert_string_equal(e.name, "computer");
	c->of_computer++;
}

/* Returns 0 with the answer in *c, or the error of the answer. */
static int ask(struct client *c, uint32_t hz, enum fib_wire_mode mode, size_t size)
{
	const struct fib_wire_events request = {
		.ring = FIB_WIRE_RING_PROFILE, .bare = 1, .from = c->from, .hz = hz};
	struct fib_wire_error e = {0};
	struct fib_wire_end end = {0};
	const void *payload;
	struct talk t;
	size_t length;
	unsigned type;

	fib_answer_introduce("unit", mode);
	talk_begin(&t);
	talk_request(&t, FIB_WIRE_EVENTS, &request, size);
	talk_run(&t);
	while ((type = talk_frame(&t, &payload, &length))) {
		if (type == FIB_WIRE_END)
			memcpy(&end, payload, sizeof end);
		if (type == FIB_WIRE_ERROR)
			memcpy(&e, payload, sizeof e);
		if (type == FIB_WIRE_EVENT)
			take(c, payload, length);
	}
	talk_end(&t);
	if (!e.error && c->from == UINT64_MAX)
		c->from = end.total;
	return e.error;
}

static bool has_ten(void *arg)
{
	struct client *c = arg;

	sched_yield();
	assert_int_equal(ask(c, 100, FIB_WIRE_RW, sizeof(struct fib_wire_events)), 0);
	return c->of_computer >= 10;
}

static void test_two_clients_get_the_same_samples(void **state)
{
	struct client a = {.from = UINT64_MAX}, b;
	uint64_t from;

	(void)state;
	assert_int_equal(ask(&a, 100, FIB_WIRE_RW, sizeof(struct fib_wire_events)), 0);
	assert_int_equal(a.count, 0); /* only new ones are wanted */
	from = a.from;
	assert_true(harness_until(has_ten, &a, LIMIT_S));
	b = (struct client){.from = from};
	assert_true(harness_until(has_ten, &b, LIMIT_S));
	assert_int_equal(a.first, from);
	assert_int_equal(b.first, from);
	assert_int_equal(a.lost + b.lost, 0);
	assert_true(a.cpu > 0);
}

static void test_a_profile_needs_the_right_and_its_start_is_in_the_audit(void **state)
{
	const size_t size = sizeof(struct fib_wire_events);
	const struct fib_wire_audit_entry *e;
	struct client c = {.from = UINT64_MAX};

	(void)state;
	assert_int_equal(ask(&c, 100, FIB_WIRE_RO, size), -EPERM);
	assert_int_equal(fib_profile_ends(), INT64_MAX);
	assert_int_equal(ask(&c, 50, FIB_WIRE_RW, size), 0);
	assert_int_equal(ask(&c, 100, FIB_WIRE_RW, size), 0);
	assert_int_equal(fib_audit_total(), 2);
	e = fib_audit_entry(1);
	assert_int_equal(e->what, FIB_WIRE_AUDIT_PROFILE);
	assert_int_equal(e->result, -EPERM);
	e = fib_audit_entry(2);
	assert_int_equal(e->result, 0);
	assert_int_equal(e->before, 0);
	assert_int_equal(e->after, 50);
}

static void test_a_rate_that_there_is_not_is_refused(void **state)
{
	const size_t size = sizeof(struct fib_wire_events);
	struct client c = {.from = UINT64_MAX};

	(void)state;
	assert_int_equal(ask(&c, 0, FIB_WIRE_RW, size), -EINVAL);
	assert_int_equal(ask(&c, 101, FIB_WIRE_RW, size), -EINVAL);
	/* A request of an older tool has no rate. */
	assert_int_equal(ask(&c, 100, FIB_WIRE_RW, offsetof(struct fib_wire_events, hz)), -EINVAL);
	assert_int_equal(fib_profile_ends(), INT64_MAX);
}

static void test_the_lease_ends_while_every_carrier_sleeps(void **state)
{
	struct client c = {.from = UINT64_MAX};

	(void)state;
	assert_int_equal(ask(&c, 100, FIB_WIRE_RW, sizeof(struct fib_wire_events)), 0);
	fib_store(&enough, 1);
	while (fib_profile_ends() != INT64_MAX)
		sched_yield();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_two_clients_get_the_same_samples, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			test_a_profile_needs_the_right_and_its_start_is_in_the_audit, setup,
			teardown),
		cmocka_unit_test_setup_teardown(test_a_rate_that_there_is_not_is_refused, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_the_lease_ends_while_every_carrier_sleeps,
						setup, teardown),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
