/* SPDX-License-Identifier: MIT */
/* test_runtime.c - a runtime starts, takes fibers from outside, finishes with the last */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fenv.h>
#include <sched.h>
#include <string.h>

#include <fiber.h>

#include "base/check.h"
#include "core/registry.h"
#include "life/live_count.h"
#include "life/spawn.h"
#include "runtime/runtime.h"
#include "tests/harness/watchdog.h"
#include "watch/tick.h"

#define MS INT64_C(1000000)

static struct fiber_runtime *start(const char *name, unsigned carriers)
{
	const struct fiber_runtime_options options = {
		.size = sizeof options, .name = name, .carriers = carriers, .control_path = ""};
	struct fiber_runtime *rt = NULL;

	assert_int_equal(fiber_runtime_start(&options, &rt), 0);
	assert_non_null(rt);
	return rt;
}

static void finish(struct fiber_runtime *rt)
{
	assert_int_equal(fiber_runtime_finish(rt, FIBER_FOREVER), 0);
}

static void *give(void *arg)
{
	return arg;
}

static void *park(void *arg)
{
	fiber_park(FIBER_FOREVER);
	return arg;
}

static void *where(void *arg)
{
	(void)arg;
	return fiber_runtime_self();
}

static void test_runtime_without_fibers_is_done_and_finishes(void **state)
{
	struct fiber_runtime *rt = start(NULL, 2);

	(void)state;
	assert_true(fiber_runtime_done(rt));
	assert_int_equal(fib_tick_carriers(), 2);
	assert_int_equal(fiber_runtime_finish(rt, 0), 0);
	assert_int_equal(fib_tick_carriers(), 0);
}

static void test_runtime_spawn_runs_a_fiber_that_can_be_joined(void **state)
{
	struct fiber_runtime *rt = start(NULL, 2);
	struct fiber_result result = {NULL, 1};
	struct fiber *fiber;

	(void)state;
	assert_int_equal(fiber_runtime_spawn(rt, NULL, where, NULL, &fiber), 0);
	assert_int_equal(fiber_join(fiber, &result, FIBER_FOREVER), 0);
	assert_ptr_equal(result.value, rt);
	assert_int_equal(result.error, 0);
	finish(rt);
}

static void test_runtime_finish_past_its_deadline_leaves_everything_running(void **state)
{
	struct fiber_runtime *rt = start(NULL, 2);
	struct fiber_result result = {NULL, 1};
	struct fiber *fiber, *other;
	int64_t deadline;

	(void)state;
	assert_int_equal(fiber_runtime_spawn(rt, NULL, park, rt, &fiber), 0);
	assert_false(fiber_runtime_done(rt));
	assert_int_equal(fiber_runtime_finish(rt, 0), -ETIMEDOUT);
	deadline = fiber_after(2 * MS);
	assert_int_equal(fiber_runtime_finish(rt, deadline), -ETIMEDOUT);
	assert_true(fiber_now() >= deadline);
	assert_false(fiber_runtime_done(rt));
	assert_int_equal(fiber_runtime_spawn(rt, NULL, give, rt, &other), 0);
	assert_int_equal(fiber_join(other, NULL, FIBER_FOREVER), 0);
	fiber_unpark(fiber);
	assert_int_equal(fiber_join(fiber, &result, FIBER_FOREVER), 0);
	assert_ptr_equal(result.value, rt);
	assert_true(fiber_runtime_done(rt));
	finish(rt);
}

static void *finish_own(void *arg)
{
	(void)arg;
	return (void *)(intptr_t)fiber_runtime_finish(fiber_runtime_self(), FIBER_FOREVER);
}

static void test_runtime_finish_by_one_of_its_fibers_is_refused(void **state)
{
	struct fiber_runtime *rt = start(NULL, 2);
	struct fiber_result result = {NULL, 1};
	struct fiber *fiber;

	(void)state;
	assert_int_equal(fiber_runtime_spawn(rt, NULL, finish_own, NULL, &fiber), 0);
	assert_int_equal(fiber_join(fiber, &result, FIBER_FOREVER), 0);
	assert_int_equal((intptr_t)result.value, -EPERM);
	finish(rt);
}

static void test_runtime_submit_takes_a_created_fiber_once(void **state)
{
	struct fiber_runtime *rt = start(NULL, 2);
	struct fiber *fiber;

	(void)state;
	assert_int_equal(fiber_create(NULL, park, NULL, &fiber), 0);
	assert_int_equal(fiber_state(fiber), FIBER_CREATED);
	assert_true(fiber_runtime_done(rt));
	assert_int_equal(fiber_submit(NULL, fiber), -EPERM);
	assert_int_equal(fiber_submit(rt, fiber), 0);
	assert_int_equal(fiber_submit(rt, fiber), -EINVAL);
	assert_false(fiber_runtime_done(rt));
	fiber_unpark(fiber);
	assert_int_equal(fiber_join(fiber, NULL, FIBER_FOREVER), 0);
	finish(rt);
}

/*
 * Only the first step of fiber_runtime_finish, so that the runtime still exists to refuse callers.
 */
static void test_runtime_that_is_closed_takes_nothing(void **state)
{
	struct fiber_runtime *rt = start(NULL, 1);
	struct fiber *fiber, *none = NULL;

	(void)state;
	assert_int_equal(fiber_create(NULL, give, NULL, &fiber), 0);
	assert_true(fib_close(&rt->sched));
	assert_int_equal(fiber_submit(rt, fiber), -ESHUTDOWN);
	assert_int_equal(fiber_state(fiber), FIBER_CREATED);
	assert_int_equal(fiber_detach(fiber), 0);
	assert_int_equal(fiber_runtime_spawn(rt, NULL, give, NULL, NULL), -ESHUTDOWN);
	assert_int_equal(fiber_runtime_spawn(rt, NULL, give, NULL, &none), -ESHUTDOWN);
	assert_true(fiber_runtime_done(rt));
	assert_int_equal(fib_tick_fibers(), 0);
	finish(rt);
}

static void test_runtime_spawn_that_fails_leaves_nothing(void **state)
{
	struct fiber_runtime *rt = start(NULL, 1);
	const struct fiber_attr wrong[] = {
		{.size = 0},
		{.size = sizeof wrong[0], .flags = 1024},
		{.size = sizeof wrong[0], .stack_size = (size_t)1 << 40},
		{.size = sizeof wrong[0], .stack = rt, .stack_size = 16},
		{.size = sizeof wrong[0], .nlocals = 1},
	};
	struct fiber *fiber = NULL;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
		assert_int_equal(fiber_runtime_spawn(rt, &wrong[i], give, NULL, &fiber), -EINVAL);
	assert_int_equal(fiber_runtime_spawn(rt, NULL, NULL, NULL, &fiber), -EINVAL);
	assert_null(fiber);
	assert_true(fiber_runtime_done(rt));
	assert_int_equal(fib_tick_fibers(), 0);
	finish(rt);
}

static void test_runtime_spawn_without_a_handle_is_detached(void **state)
{
	/* The attributes of a newer program: longer, with zeros in the unknown part. */
	struct {
		struct fiber_attr attr;
		char more[32];
	} newer = {.attr = {.size = sizeof newer, .name = "newer"}};
	const struct fiber_attr named = {.size = sizeof named, .name = "named"};
	const struct fiber_attr *const attrs[] = {NULL, &named, &newer.attr};
	struct fiber_runtime *rt = start(NULL, 2);
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++)
		assert_int_equal(fiber_runtime_spawn(rt, attrs[i], give, NULL, NULL), 0);
	finish(rt);
	assert_int_equal(fib_tick_fibers(), 0);
}

static void test_runtime_policy_is_what_was_asked_for_and_set(void **state)
{
	const struct fiber_runtime_options options = {.size = sizeof options,
						      .carriers = 1,
						      .pinned_policy = FIBER_PINNED_ERROR,
						      .control_path = ""};
	struct fiber_runtime *rt;

	(void)state;
	assert_int_equal(fiber_runtime_start(&options, &rt), 0);
	assert_int_equal(fiber_pinned_policy(rt), FIBER_PINNED_ERROR);
	assert_int_equal(fiber_set_pinned_policy(rt, FIBER_PINNED_SILENT), 0);
	assert_int_equal(fiber_pinned_policy(rt), FIBER_PINNED_SILENT);
	assert_int_equal(fiber_set_pinned_policy(rt, (enum fiber_pinned_policy)3), -EINVAL);
	assert_int_equal(fiber_set_pinned_policy(rt, (enum fiber_pinned_policy) - 1), -EINVAL);
	assert_int_equal(fiber_pinned_policy(rt), FIBER_PINNED_SILENT);
	finish(rt);
}

static void test_runtime_two_at_once_keep_their_fibers_apart(void **state)
{
	struct fiber_runtime *one = start("first", 1), *two = start("second", 2);
	struct fiber_result result;
	struct fiber *fiber;

	(void)state;
	assert_int_equal(fib_tick_carriers(), 3);
	assert_string_equal(fiber_registry.program, "first");
	assert_int_equal(fiber_runtime_spawn(one, NULL, park, NULL, &fiber), 0);
	assert_true(fiber_runtime_done(two));
	finish(two);
	assert_int_equal(fiber_state(fiber) == FIBER_DEAD, 0);
	fiber_unpark(fiber);
	assert_int_equal(fiber_join(fiber, &result, FIBER_FOREVER), 0);
	finish(one);
	finish(start("third", 1));
	assert_string_equal(fiber_registry.program, "third");
}

static void *asks_for_the_descriptor(void *arg)
{
	*(int *)arg = fiber_runtime_fd(NULL) - fiber_runtime_fd(fiber_runtime_self());
	return NULL;
}

static void test_runtime_fd_is_known_to_fibers_and_whoever_has_the_runtime(void **state)
{
	struct fiber_runtime *rt = start(NULL, 1);
	struct fiber *f;
	int difference = 1;

	(void)state;
	assert_int_equal(fiber_runtime_fd(NULL), -EPERM);
	assert_true(fiber_runtime_fd(rt) >= 0);
	assert_int_equal(fiber_runtime_spawn(rt, NULL, asks_for_the_descriptor, &difference, &f),
			 0);
	assert_int_equal(fiber_join(f, NULL, FIBER_FOREVER), 0);
	assert_int_equal(difference, 0);
	finish(rt);
}

static void *look_at_rounding(void *arg)
{
	*(int *)arg = fegetround();
	return arg;
}

/* The other fiber has this one's first mode, and runs after this one has changed its own. */
static void *round_upward_beside_another(void *arg)
{
	struct fiber *other;

	fib_check(fiber_create(NULL, look_at_rounding, arg, &other) == 0);
	fesetround(FE_UPWARD);
	fib_check(fiber_submit(fiber_runtime_self(), other) == 0);
	fiber_join(other, NULL, FIBER_FOREVER);
	fib_check(fegetround() == FE_UPWARD);
	fesetround(FE_TONEAREST);
	return arg;
}

/* Returns the mode that the other one has seen. */
static int rounding_beside_upward(bool shared)
{
	const struct fiber_runtime_options options = {
		.size = sizeof options, .carriers = 1, .control_path = "", .shared_fpu = shared};
	int seen = -1;

	assert_int_equal(fiber_run(round_upward_beside_another, &seen, &options, NULL), 0);
	assert_int_equal(fegetround(), FE_TONEAREST);
	return seen;
}

static void test_runtime_fibers_have_fpu_control_words_of_their_own_unless_shared(void **state)
{
	(void)state;
	assert_int_equal(rounding_beside_upward(false), FE_TONEAREST);
	/* A port that cannot omit the words keeps them. */
	assert_int_equal(rounding_beside_upward(true),
			 strcmp(fib_arch_name, "x86_64") ? FE_TONEAREST : FE_UPWARD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runtime_without_fibers_is_done_and_finishes),
		cmocka_unit_test(test_runtime_spawn_runs_a_fiber_that_can_be_joined),
		cmocka_unit_test(test_runtime_finish_past_its_deadline_leaves_everything_running),
		cmocka_unit_test(test_runtime_finish_by_one_of_its_fibers_is_refused),
		cmocka_unit_test(test_runtime_submit_takes_a_created_fiber_once),
		cmocka_unit_test(test_runtime_that_is_closed_takes_nothing),
		cmocka_unit_test(test_runtime_spawn_that_fails_leaves_nothing),
		cmocka_unit_test(test_runtime_spawn_without_a_handle_is_detached),
		cmocka_unit_test(test_runtime_fd_is_known_to_fibers_and_whoever_has_the_runtime),
		cmocka_unit_test(test_runtime_policy_is_what_was_asked_for_and_set),
		cmocka_unit_test(test_runtime_two_at_once_keep_their_fibers_apart),
		cmocka_unit_test(
			test_runtime_fibers_have_fpu_control_words_of_their_own_unless_shared),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
