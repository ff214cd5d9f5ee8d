/* SPDX-License-Identifier: MIT */
/*
 * test_unwind.c - what an unwound fiber asks of the unwinder, and how the fiber ends
 *
 * This file is the unwinder: it reports as many frames as the test wants. A C++ program with a real
 * unwinder is tests/strangers/unwinds.cc.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <unwind.h>

#include <fiber.h>

#include "life/unwind.h"
#include "sched/sched.h"
#include "tests/harness/watchdog.h"
#include "tests/unit/sched/misuse.h"

static struct {
	bool refuses;	     /* the unwinder cannot start */
	bool swallowed;	     /* a catch (...) does not rethrow */
	uintptr_t frames[4]; /* stack pointers, the innermost first; 0: the end of the stack */
	void (*destructor)(void);
	int walks;
} unwinder;

uintptr_t _Unwind_GetCFA(struct _Unwind_Context *context)
{
	return (uintptr_t)context;
}

_Unwind_Reason_Code _Unwind_ForcedUnwind(struct _Unwind_Exception *e, _Unwind_Stop_Fn stop,
					 void *arg)
{
	const _Unwind_Action actions = _UA_FORCE_UNWIND | _UA_CLEANUP_PHASE;

	unwinder.walks++;
	if (unwinder.refuses)
		return _URC_FATAL_PHASE2_ERROR;
	if (unwinder.swallowed)
		e->exception_cleanup(_URC_FOREIGN_EXCEPTION_CAUGHT, e);
	for (int i = 0; i < 4 && unwinder.frames[i]; i++) {
		stop(1, actions, e->exception_class, e, (void *)unwinder.frames[i], arg);
		if (unwinder.destructor)
			unwinder.destructor();
	}
	stop(1, actions | _UA_END_OF_STACK, e->exception_class, e, (void *)UINTPTR_MAX, arg);
	return _URC_FATAL_PHASE2_ERROR;
}

static char told[64];

static void tell(void *arg)
{
	strncat(told, arg, sizeof told - strlen(told) - 1);
}

static void tell_ending(struct fib_ending *ending)
{
	(void)ending;
	tell("e");
}

static int run(fiber_fn *fn, bool unwind)
{
	const struct fiber_runtime_options options = {
		.size = sizeof options, .carriers = 1, .control_path = "", .unwind = unwind};
	struct fiber_result result = {NULL, 1};

	told[0] = 0;
	unwinder.walks = 0;
	return fiber_run(fn, NULL, &options, &result) < 0 ? 1 : result.error;
}

static void *leave(void *arg)
{
	fiber_at_exit(tell, "X");
	(void)arg;
	fiber_fail(-EIO, "on purpose");
}

static void *leave_with_flag(void *arg)
{
	const struct fiber_attr attr = {.size = sizeof attr, .flags = FIBER_UNWIND};
	struct fiber *fiber;

	fiber_spawn_attr(&attr, leave, NULL, &fiber);
	fiber_join(fiber, NULL, FIBER_FOREVER);
	return arg;
}

static void *come_back(void *arg)
{
	fiber_at_exit(tell, "X");
	return arg;
}

static void test_unwind_is_asked_for_by_flag_or_option_and_for_an_early_end_only(void **state)
{
	(void)state;
	assert_int_equal(run(leave, false), -EIO);
	assert_int_equal(unwinder.walks, 0);
	assert_int_equal(run(leave, true), -EIO);
	assert_int_equal(unwinder.walks, 1);
	assert_string_equal(told, "X");
	assert_int_equal(run(leave_with_flag, false), 0);
	assert_int_equal(unwinder.walks, 1);
	assert_int_equal(run(come_back, true), 0);
	assert_int_equal(unwinder.walks, 0);
	assert_string_equal(told, "X");
}

static void test_unwind_that_cannot_begin_ends_the_fiber_all_the_same(void **state)
{
	(void)state;
	unwinder.refuses = true;
	assert_int_equal(run(leave, true), -EIO);
	unwinder.refuses = false;
	assert_int_equal(unwinder.walks, 1);
	assert_string_equal(told, "X");
}

static void tell_frame(void)
{
	tell("f");
}

/*
 * Two unwind places: the first frame of the walk leaves the inner place, the third frame the outer
 * place.
 */
static void *leave_endings(void *arg)
{
	struct fib_ending places[2];
	struct fiber *const self = fiber_self();

	(void)arg;
	places[1] = (struct fib_ending){NULL, tell_ending};
	places[0] = (struct fib_ending){&places[1], tell_ending};
	self->endings = &places[0];
	unwinder.frames[0] = (uintptr_t)&places[1];
	unwinder.frames[1] = (uintptr_t)&places[1];
	unwinder.frames[2] = (uintptr_t)(&places[1] + 1);
	unwinder.destructor = tell_frame;
	fiber_at_exit(tell, "X");
	fiber_exit(NULL);
}

static void test_unwind_tells_an_ending_when_its_frame_is_left(void **state)
{
	(void)state;
	assert_int_equal(run(leave_endings, true), 0);
	assert_string_equal(told, "effefX");
	memset(&unwinder, 0, sizeof unwinder);
}

static void exit_in_destructor(void)
{
	tell("d");
	fiber_exit(NULL);
}

static void *leave_twice(void *arg)
{
	(void)arg;
	unwinder.frames[0] = unwinder.frames[1] = 1;
	unwinder.destructor = exit_in_destructor;
	fiber_at_exit(tell, "X");
	fiber_exit(NULL);
}

static void test_unwind_that_a_destructor_ends_skips_the_rest(void **state)
{
	(void)state;
	assert_int_equal(run(leave_twice, true), 0);
	assert_int_equal(unwinder.walks, 1);
	assert_string_equal(told, "dX");
	memset(&unwinder, 0, sizeof unwinder);
	/* The next fiber in that record is unwound like any other. */
	assert_int_equal(run(leave, true), -EIO);
	assert_int_equal(unwinder.walks, 1);
}

/* The second walk passes the handler's frames, and would then pass those of the first walk. */
static void exit_again(void *arg)
{
	tell(arg);
	unwinder.frames[0] = 1;
	unwinder.frames[1] = UINTPTR_MAX;
	unwinder.destructor = tell_frame;
	fiber_fail(-EPROTO, NULL);
}

static void *leave_with_handlers(void *arg)
{
	(void)arg;
	fiber_at_exit(tell, "X");
	fiber_at_exit(exit_again, "1");
	fiber_at_exit(exit_again, "2");
	fiber_exit(NULL);
}

static void test_unwind_of_a_handler_stops_at_the_handler(void **state)
{
	(void)state;
	assert_int_equal(run(leave_with_handlers, true), -EPROTO);
	assert_int_equal(unwinder.walks, 3);
	assert_string_equal(told, "2f1fX");
	memset(&unwinder, 0, sizeof unwinder);
}

static void swallow(void)
{
	unwinder.swallowed = true;
	run(leave, true);
}

static const struct misuse misuses[] = {{"swallow", swallow}};

static void test_unwind_that_is_not_rethrown_aborts(void **state)
{
	(void)state;
	assert_misuse("swallow",
		      "libfiber: fiber 1 \"\": a catch (...) caught the end of the fiber "
		      "and did not rethrow it");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_unwind_is_asked_for_by_flag_or_option_and_for_an_early_end_only),
		cmocka_unit_test(test_unwind_that_cannot_begin_ends_the_fiber_all_the_same),
		cmocka_unit_test(test_unwind_tells_an_ending_when_its_frame_is_left),
		cmocka_unit_test(test_unwind_that_a_destructor_ends_skips_the_rest),
		cmocka_unit_test(test_unwind_of_a_handler_stops_at_the_handler),
		cmocka_unit_test(test_unwind_that_is_not_rethrown_aborts),
	};

	if (argc > 1)
		return misuse_main(misuses, fib_countof(misuses), argv[1]);
	harness_watchdog(60);
	return cmocka_run_group_tests_name("unwind", tests, NULL, NULL);
}
