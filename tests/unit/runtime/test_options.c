/* SPDX-License-Identifier: MIT */
/* test_options.c - programs older and newer than the library are understood or refused */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "os/os.h"
#include "runtime/runtime.h"
#include "tests/harness/watchdog.h"

static struct fiber_runtime_options got;

static int ask(const struct fiber_runtime_options *options)
{
	memset(&got, 0x5a, sizeof got);
	return fib_options_complete(options, &got);
}

static int do_nothing(void *arg, int64_t deadline)
{
	(void)arg;
	(void)deadline;
	return 0;
}

static void expect_defaults(void)
{
	assert_int_equal(got.size, sizeof got);
	assert_string_equal(got.name, "test_options");
	assert_int_equal(got.carriers, fib_os_cpus());
	assert_int_equal(got.carriers_max, fib_os_cpus());
	assert_int_equal(got.stack_size, 256 << 10);
	assert_int_equal(got.pinned_policy, FIBER_PINNED_WARN);
	assert_int_equal(got.long_run_ns, 20000000);
	assert_null(got.control_path);
	assert_int_equal(got.relock_policy, FIBER_RELOCK_ABORT);
	assert_int_equal(got.held_policy, FIBER_HELD_WARN);
	assert_false(got.unwind);
	assert_false(got.shared_fpu);
}

static void test_options_none_give_every_default(void **state)
{
	const struct fiber_runtime_options zeroed = {.size = sizeof zeroed};

	(void)state;
	assert_int_equal(ask(NULL), 0);
	expect_defaults();
	assert_int_equal(ask(&zeroed), 0);
	expect_defaults();
}

static void test_options_given_are_kept(void **state)
{
	const struct fiber_runtime_options given = {.size = sizeof given,
						    .name = "shop",
						    .carriers = 3,
						    .stack_size = 65536,
						    .pinned_policy = FIBER_PINNED_SILENT,
						    .long_run_ns = -1,
						    .control_path = "/tmp/shop.sock",
						    .idle = do_nothing,
						    .idle_arg = &got,
						    .guard_size = 1 << 20,
						    .carriers_max = 9};

	(void)state;
	assert_int_equal(ask(&given), 0);
	assert_memory_equal(&got, &given, sizeof got);
}

static void test_options_without_size_are_refused(void **state)
{
	struct fiber_runtime_options o = {0};

	(void)state;
	assert_int_equal(ask(&o), -EINVAL);
	o.size = 1;
	assert_int_equal(ask(&o), -EINVAL);
	o.size = SIZE_MAX;
	assert_int_equal(ask(&o), -EINVAL);
}

/* Bytes beyond the given size are not read. */
static void test_options_of_an_older_program_are_shorter(void **state)
{
	struct fiber_runtime_options o;

	(void)state;
	memset(&o, 0xff, sizeof o);
	o.size = offsetof(struct fiber_runtime_options, stack_size);
	o.name = "old";
	o.carriers = 2;
	assert_int_equal(ask(&o), 0);
	assert_string_equal(got.name, "old");
	assert_int_equal(got.carriers, 2);
	assert_int_equal(got.stack_size, 256 << 10);
	assert_int_equal(got.guard_size, 64 << 10);
	assert_null(got.idle);
}

static void test_options_of_a_newer_program_may_be_longer_if_they_ask_for_nothing(void **state)
{
	struct {
		struct fiber_runtime_options o;
		char more[64];
	} newer = {.o = {.size = sizeof newer, .carriers = 2}};

	(void)state;
	assert_int_equal(ask(&newer.o), 0);
	assert_int_equal(got.carriers, 2);
	assert_int_equal(got.size, sizeof got);
	newer.more[63] = 1;
	assert_int_equal(ask(&newer.o), -EINVAL);
}

static void test_options_say_how_many_carriers_there_are_at_most(void **state)
{
	struct fiber_runtime_options o = {.size = sizeof o, .carriers = 3};

	(void)state;
	assert_int_equal(ask(&o), 0);
	assert_int_equal(got.carriers_max, 3);
	o.carriers_max = 2;
	assert_int_equal(ask(&o), -EINVAL);
	o = (struct fiber_runtime_options){.size = sizeof o, .carriers_max = 1};
	assert_int_equal(ask(&o), 0);
	assert_int_equal(got.carriers, 1);
	assert_int_equal(got.carriers_max, 1);
}

static void test_options_out_of_range_are_refused(void **state)
{
	const struct fiber_runtime_options wrong[] = {
		{.size = sizeof wrong[0], .carriers = FIB_CARRIERS_MAX + 1},
		{.size = sizeof wrong[0], .carriers_max = FIB_CARRIERS_MAX + 1},
		{.size = sizeof wrong[0], .stack_size = FIB_STACK_MAX + 1},
		{.size = sizeof wrong[0], .guard_size = FIB_GUARD_MAX + 1},
		{.size = sizeof wrong[0], .guard_size = SIZE_MAX},
		{.size = sizeof wrong[0], .pinned_policy = (enum fiber_pinned_policy)3},
		{.size = sizeof wrong[0], .pinned_policy = (enum fiber_pinned_policy) - 1},
		{.size = sizeof wrong[0], .relock_policy = (enum fiber_relock_policy)3},
		{.size = sizeof wrong[0], .held_policy = (enum fiber_held_policy)3},
	};
	const struct fiber_runtime_options most = {.size = sizeof most,
						   .carriers = FIB_CARRIERS_MAX,
						   .stack_size = FIB_STACK_MAX,
						   .guard_size = FIB_GUARD_MAX};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
		assert_int_equal(ask(&wrong[i]), -EINVAL);
	assert_int_equal(ask(&most), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_options_none_give_every_default),
		cmocka_unit_test(test_options_given_are_kept),
		cmocka_unit_test(test_options_without_size_are_refused),
		cmocka_unit_test(test_options_of_an_older_program_are_shorter),
		cmocka_unit_test(
			test_options_of_a_newer_program_may_be_longer_if_they_ask_for_nothing),
		cmocka_unit_test(test_options_say_how_many_carriers_there_are_at_most),
		cmocka_unit_test(test_options_out_of_range_are_refused),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
