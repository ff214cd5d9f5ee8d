/* SPDX-License-Identifier: MIT */
/* test_cmd_act.c - fibers are cancelled and woken by number, where allowed, and audited */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <sched.h>

#include <fiber.h>

#include "service/answer.h"
#include "service/audit.h"
#include "talk.h"
#include "tests/harness/off_stack.h"
#include "tests/harness/watchdog.h"

static struct fiber_runtime *rt;
static struct fib_wire_acted acted;
static struct fib_wire_error error;

static int setup(void **state)
{
	struct fiber_runtime_options o = {.size = sizeof o, .carriers = 1, .control_path = ""};

	(void)state;
	fib_audit_forget();
	return fiber_runtime_start(&o, &rt);
}

static int teardown(void **state)
{
	(void)state;
	return fiber_runtime_finish(rt, FIBER_FOREVER);
}

/* Ask and store the answer in `acted`. Returns 0, or the error of the answer. */
static int ask(uint64_t id, uint32_t what, enum fib_wire_mode mode)
{
	const struct fib_wire_act request = {.id = id, .what = what};
	const void *payload;
	struct talk t;
	size_t length;

	fib_answer_introduce("unit", mode);
	error = (struct fib_wire_error){0};
	talk_begin(&t);
	t.peer.who.pid = 99;
	talk_request(&t, FIB_WIRE_ACT, &request, sizeof request);
	talk_run(&t);
	payload = talk_find(&t, FIB_WIRE_ACTED, &length);
	if (payload)
		memcpy(&acted, payload, sizeof acted);
	t.at = 0;
	if (!payload && (payload = talk_find(&t, FIB_WIRE_ERROR, &length)))
		memcpy(&error, payload, sizeof error);
	talk_end(&t);
	return payload ? error.error : -EIO;
}

static void *parks(void *arg)
{
	(void)arg;
	return (void *)(intptr_t)fiber_park(FIBER_FOREVER);
}

static void *sleeps(void *arg)
{
	(void)arg;
	return (void *)(intptr_t)fiber_sleep(INT64_C(3600000000000));
}

static struct fiber *spawn(fiber_fn *fn, const char *name)
{
	const struct fiber_attr attr = {.size = sizeof attr, .name = name};
	struct fiber *fiber;

	assert_int_equal(fiber_runtime_spawn(rt, &attr, fn, NULL, &fiber), 0);
	harness_off_stack(fiber, FIBER_SUSPENDED);
	return fiber;
}

static intptr_t joined(struct fiber *fiber)
{
	struct fiber_result result = {0};

	assert_int_equal(fiber_join(fiber, &result, FIBER_FOREVER), 0);
	return (intptr_t)result.value;
}

static void assert_noted(uint64_t serial, uint32_t what, uint64_t fiber, int result)
{
	const struct fib_wire_audit_entry *e = fib_audit_entry(serial);

	assert_non_null(e);
	assert_int_equal(e->what, what);
	assert_int_equal(e->fiber, fiber);
	assert_int_equal(e->result, result);
	assert_int_equal(e->pid, 99);
	assert_int_equal(fib_audit_total(), serial);
}

static void test_act_cancels_a_fiber_and_says_what_it_waited_for(void **state)
{
	struct fiber *fiber = spawn(sleeps, "sleeper");
	const uint64_t id = fiber_id(fiber);

	(void)state;
	assert_int_equal(ask(id, FIB_WIRE_ACT_CANCEL, FIB_WIRE_ADMIN), 0);
	assert_int_equal(acted.id, id);
	assert_int_equal(acted.what, FIB_WIRE_ACT_CANCEL);
	assert_int_equal(acted.ended_wait, 1);
	assert_int_equal(acted.state, FIBER_SUSPENDED);
	assert_int_equal(acted.wait_kind, FIB_WAIT_SLEEP);
	assert_string_equal(acted.name, "sleeper");
	assert_noted(1, FIB_WIRE_AUDIT_CANCEL, id, 0);
	assert_int_equal(joined(fiber), -ECANCELED);
}

static void test_act_wakes_a_parked_fiber(void **state)
{
	struct fiber *fiber = spawn(parks, "parker");
	const uint64_t id = fiber_id(fiber);

	(void)state;
	assert_int_equal(ask(id, FIB_WIRE_ACT_WAKE, FIB_WIRE_ADMIN), 0);
	assert_int_equal(acted.wait_kind, FIB_WAIT_PARK);
	assert_noted(1, FIB_WIRE_AUDIT_WAKE, id, 0);
	assert_int_equal(joined(fiber), 0);
}

static void test_act_does_not_wake_from_any_other_wait(void **state)
{
	struct fiber *fiber = spawn(sleeps, "sleeper");
	const uint64_t id = fiber_id(fiber);

	(void)state;
	assert_int_equal(ask(id, FIB_WIRE_ACT_WAKE, FIB_WIRE_ADMIN), -EINVAL);
	assert_non_null(strstr(error.text, "(sleep)"));
	assert_non_null(strstr(error.text, "fiber_park"));
	assert_noted(1, FIB_WIRE_AUDIT_WAKE, id, -EINVAL);
	assert_int_equal(fiber_state(fiber), FIBER_SUSPENDED);
	fiber_cancel(fiber);
	assert_int_equal(joined(fiber), -ECANCELED);
}

static void test_act_is_refused_without_admin_and_that_is_noted(void **state)
{
	struct fiber *fiber = spawn(parks, "parker");
	const uint64_t id = fiber_id(fiber);

	(void)state;
	assert_int_equal(ask(id, FIB_WIRE_ACT_CANCEL, FIB_WIRE_RO), -EPERM);
	assert_noted(1, FIB_WIRE_AUDIT_CANCEL, id, -EPERM);
	assert_int_equal(ask(id, FIB_WIRE_ACT_WAKE, FIB_WIRE_RW), -EPERM);
	assert_noted(2, FIB_WIRE_AUDIT_WAKE, id, -EPERM);
	assert_non_null(strstr(error.text, "FIBER_CONTROL=admin"));
	assert_int_equal(fiber_state(fiber), FIBER_SUSPENDED);
	fiber_unpark(fiber);
	assert_int_equal(joined(fiber), 0);
}

static void test_act_on_nobody_or_in_no_way_is_refused(void **state)
{
	struct fiber *fiber = spawn(parks, "parker");
	const uint64_t id = fiber_id(fiber);

	(void)state;
	assert_int_equal(ask(0, FIB_WIRE_ACT_CANCEL, FIB_WIRE_ADMIN), -EINVAL);
	assert_int_equal(ask(id, 0, FIB_WIRE_ADMIN), -EINVAL);
	assert_int_equal(ask(id, 3, FIB_WIRE_ADMIN), -EINVAL);
	assert_int_equal(ask(id + 1000, FIB_WIRE_ACT_CANCEL, FIB_WIRE_ADMIN), -ESRCH);
	assert_noted(1, FIB_WIRE_AUDIT_CANCEL, id + 1000, -ESRCH);
	fiber_unpark(fiber);
	harness_off_stack(fiber, FIBER_DEAD);
	assert_int_equal(ask(id, FIB_WIRE_ACT_CANCEL, FIB_WIRE_ADMIN), -ESRCH);
	assert_non_null(strstr(error.text, "has ended"));
	assert_int_equal(joined(fiber), 0);
}

#define ACT_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ACT_TEST(test_act_cancels_a_fiber_and_says_what_it_waited_for),
		ACT_TEST(test_act_wakes_a_parked_fiber),
		ACT_TEST(test_act_does_not_wake_from_any_other_wait),
		ACT_TEST(test_act_is_refused_without_admin_and_that_is_noted),
		ACT_TEST(test_act_on_nobody_or_in_no_way_is_refused),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
