/* SPDX-License-Identifier: MIT */
/* test_fiber.c - conversions, creation, switches and deletion, as Windows documents and does them */
#include "win32_test.h"

#include <fenv.h>
#include <fiber.h>
#include <stdlib.h>
#include <unistd.h>

static LPVOID home, other;
static unsigned count;
static char data[] = "data";

static VOID CALLBACK visit(LPVOID parameter)
{
	count += parameter == data && GetFiberData() == data && GetCurrentFiber() == other;
	for (;;) {
		count++;
		SwitchToFiber(home);
	}
}

static int become_fiber(void **state)
{
	(void)state;
	count = 0;
	home = ConvertThreadToFiber(data);
	return home ? 0 : -1;
}

static int become_thread(void **state)
{
	(void)state;
	return ConvertFiberToThread() ? 0 : -1;
}

/* -- conversions -- */

static void test_fiber_thread_is_converted_once_and_back(void **state)
{
	(void)state;
	assert_int_equal(IsThreadAFiber(), FALSE);
	assert_null(GetCurrentFiber());
	assert_null(GetFiberData());
	SetLastError(MARK);
	home = ConvertThreadToFiber(data);
	assert_non_null(home);
	assert_int_equal(GetLastError(), MARK);
	assert_int_equal(IsThreadAFiber(), TRUE);
	assert_ptr_equal(GetCurrentFiber(), home);
	assert_ptr_equal(GetFiberData(), data);
	assert_null(ConvertThreadToFiber(NULL));
	assert_int_equal(GetLastError(), ERROR_ALREADY_FIBER);
	SetLastError(MARK);
	assert_null(ConvertThreadToFiberEx(NULL, 0));
	assert_int_equal(GetLastError(), ERROR_ALREADY_FIBER);
	assert_ptr_equal(GetFiberData(), data);
	assert_true(ConvertFiberToThread());
	assert_int_equal(IsThreadAFiber(), FALSE);
	assert_false(ConvertFiberToThread());
	assert_int_equal(GetLastError(), ERROR_ALREADY_THREAD);
	assert_non_null(ConvertThreadToFiberEx(NULL, FIBER_FLAG_FLOAT_SWITCH));
	assert_true(ConvertFiberToThread());
}

static void test_fiber_unknown_flags_and_no_function_are_refused(void **state)
{
	(void)state;
	assert_null(ConvertThreadToFiberEx(NULL, 2));
	assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
	SetLastError(MARK);
	assert_null(CreateFiberEx(0, 0, 2, visit, NULL));
	assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
	SetLastError(MARK);
	assert_null(CreateFiber(0, NULL, NULL));
	assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
	SetLastError(MARK);
	assert_null(CreateFiber((SIZE_T)1 << 30, visit, NULL));
	assert_int_equal(GetLastError(), ERROR_INVALID_PARAMETER);
}

/* -- creation and switches -- */

static void test_fiber_that_a_plain_thread_made_is_deleted_unrun(void **state)
{
	(void)state;
	count = 0;
	other = CreateFiber(0, visit, data);
	assert_non_null(other);
	DeleteFiber(other);
	assert_int_equal(count, 0);
}

static void test_fiber_runs_with_its_data_when_switched_to(void **state)
{
	(void)state;
	other = CreateFiber(0, visit, data);
	assert_int_equal(count, 0);
	SwitchToFiber(other);
	assert_int_equal(count, 2);
	assert_ptr_equal(GetCurrentFiber(), home);
	SwitchToFiber(other);
	assert_int_equal(count, 3);
	DeleteFiber(other);
	other = CreateFiberEx(0, 0, 0, visit, data);
	SwitchToFiber(other);
	assert_int_equal(count, 5);
	DeleteFiber(other);
	assert_int_equal(IsThreadAFiber(), TRUE);
}

static void test_fiber_switch_to_itself_does_nothing(void **state)
{
	(void)state;
	SwitchToFiber(home);
	assert_ptr_equal(GetCurrentFiber(), home);
}

static volatile char *deep;

static VOID CALLBACK use_stack(LPVOID parameter)
{
	volatile char bytes[3 << 20];

	bytes[0] = 1;
	deep = bytes;
	(void)parameter;
	count++;
	SwitchToFiber(home);
}

static void test_fiber_stack_is_as_large_as_the_larger_size(void **state)
{
	(void)state;
	other = CreateFiberEx(4 << 20, 1 << 20, 0, use_stack, NULL);
	SwitchToFiber(other);
	DeleteFiber(other);
	other = CreateFiberEx(4096, 4 << 20, 0, use_stack, NULL);
	SwitchToFiber(other);
	DeleteFiber(other);
	other = CreateFiber(4 << 20, use_stack, NULL);
	SwitchToFiber(other);
	DeleteFiber(other);
	assert_int_equal(count, 3);
}

static int rounding;

static VOID CALLBACK round_up(LPVOID parameter)
{
	(void)parameter;
	fesetround(FE_UPWARD);
	SwitchToFiber(home);
	rounding = fegetround();
	SwitchToFiber(home);
}

/* The flag keeps the control words of a fiber apart; without it they are the thread's. */
static void test_fiber_float_switch_keeps_the_rounding_of_each_fiber(void **state)
{
	(void)state;
	fesetround(FE_DOWNWARD);
	home = ConvertThreadToFiberEx(NULL, FIBER_FLAG_FLOAT_SWITCH);
	other = CreateFiberEx(0, 0, FIBER_FLAG_FLOAT_SWITCH, round_up, NULL);
	SwitchToFiber(other);
	assert_int_equal(fegetround(), FE_DOWNWARD);
	SwitchToFiber(other);
	assert_int_equal(rounding, FE_UPWARD);
	assert_int_equal(fegetround(), FE_DOWNWARD);
	DeleteFiber(other);
	assert_true(ConvertFiberToThread());
	fesetround(FE_TONEAREST);
}

/* -- the last error is the thread's, not the fiber's -- */

static VOID CALLBACK set_error(LPVOID parameter)
{
	(void)parameter;
	SetLastError(4711);
	SwitchToFiber(home);
}

static void test_fiber_last_error_belongs_to_the_thread(void **state)
{
	(void)state;
	other = CreateFiber(0, set_error, NULL);
	SetLastError(MARK);
	SwitchToFiber(other);
	assert_int_equal(GetLastError(), 4711);
	DeleteFiber(other);
}

/* -- many, and from fiber to fiber -- */

#define RING 50u

static LPVOID ring[RING];

static VOID CALLBACK pass_on(LPVOID parameter)
{
	const uintptr_t i = (uintptr_t)parameter;

	for (;;) {
		count++;
		SwitchToFiber(i + 1 < RING ? ring[i + 1] : home);
	}
}

static void test_fiber_ring_of_fibers_passes_on(void **state)
{
	uintptr_t i;

	(void)state;
	for (i = 0; i < RING; i++)
		ring[i] = CreateFiber(0, pass_on, (LPVOID)i);
	for (i = 0; i < 100; i++)
		SwitchToFiber(ring[0]);
	assert_int_equal(count, 100 * RING);
	for (i = 0; i < RING; i++)
		DeleteFiber(ring[i]);
}

/* -- threads -- */

static VOID CALLBACK hop(LPVOID parameter)
{
	LPVOID *back = parameter;

	for (;;) {
		count++;
		SwitchToFiber(*back);
	}
}

static void *run_it(void *arg)
{
	LPVOID *back = arg;

	*back = ConvertThreadToFiber(NULL);
	SwitchToFiber(other);
	return ConvertFiberToThread() ? NULL : (void *)1;
}

static void test_fiber_goes_on_in_another_thread(void **state)
{
	LPVOID back = home;
	unsigned i;

	(void)state;
	other = CreateFiber(0, hop, &back);
	for (i = 0; i < 10; i++) {
		back = home;
		SwitchToFiber(other);
		assert_int_equal(in_thread(run_it, &back), 0);
	}
	assert_int_equal(count, 20);
	DeleteFiber(other);
}

static VOID CALLBACK simply_return(LPVOID parameter)
{
	count += parameter == data;
}

static VOID CALLBACK delete_itself(LPVOID parameter)
{
	(void)parameter;
	count++;
	DeleteFiber(GetCurrentFiber());
	count += 100;
}

static VOID CALLBACK exit_thread(LPVOID parameter)
{
	(void)parameter;
	count++;
	ExitThread(16);
}

static VOID CALLBACK exit_as_thread(LPVOID parameter)
{
	(void)parameter;
	if (ConvertFiberToThread() && !IsThreadAFiber())
		count++;
	ExitThread(17);
}

static VOID CALLBACK return_as_thread(LPVOID parameter)
{
	(void)parameter;
	count += ConvertFiberToThread() != FALSE;
}

static VOID CALLBACK exit_after_conversions(LPVOID parameter)
{
	LPVOID again;

	(void)parameter;
	ConvertFiberToThread();
	again = ConvertThreadToFiber(data);
	count += GetFiberData() == data;
	/* The thread's own stack goes on, and the new fiber is deleted from there. */
	other = again;
	SwitchToFiber(home);
}

static void *leave_for(void *arg)
{
	home = ConvertThreadToFiber(NULL);
	other = CreateFiber(0, (LPFIBER_START_ROUTINE)(uintptr_t)arg, data);
	SwitchToFiber(other);
	DeleteFiber(other);
	ConvertFiberToThread();
	return (void *)99;
}

static uintptr_t exit_code_of(LPFIBER_START_ROUTINE fn)
{
	count = 0;
	return in_thread(leave_for, (void *)(uintptr_t)fn);
}

static void test_fiber_function_that_returns_ends_its_thread(void **state)
{
	(void)state;
	assert_int_equal(exit_code_of(simply_return), 1);
	assert_int_equal(count, 1);
	DeleteFiber(home); /* its thread has exited */
}

static void test_fiber_that_deletes_itself_ends_its_thread(void **state)
{
	(void)state;
	assert_int_equal(exit_code_of(delete_itself), 1);
	assert_int_equal(count, 1);
	DeleteFiber(home);
}

static void test_fiber_exit_thread_ends_the_thread_from_every_stack(void **state)
{
	(void)state;
	assert_int_equal(exit_code_of(exit_thread), 16);
	DeleteFiber(home);
	assert_int_equal(exit_code_of(exit_as_thread), 17);
	assert_int_equal(count, 1);
	DeleteFiber(home);
	assert_int_equal(exit_code_of(return_as_thread), 1);
	assert_int_equal(count, 1);
	DeleteFiber(home);
}

static void test_fiber_thread_on_a_created_stack_becomes_a_fiber_again(void **state)
{
	(void)state;
	assert_int_equal(exit_code_of(exit_after_conversions), 99);
	assert_int_equal(count, 1);
}

static VOID CALLBACK exit_posix(LPVOID parameter)
{
	(void)parameter;
	count++;
	pthread_exit((void *)20);
}

/* The C library unwinds the fiber's stack to its entry, and is back on the thread's own then. */
static void test_fiber_pthread_exit_ends_the_thread_and_its_fiber(void **state)
{
	(void)state;
	if (*harness_sanitizer())
		skip(); /* a sanitizer is not notified of this switch */
	assert_int_equal(exit_code_of(exit_posix), 20);
	assert_int_equal(count, 1);
	DeleteFiber(home);
}

static void *delete_own(void *arg)
{
	(void)arg;
	DeleteFiber(ConvertThreadToFiber(NULL));
	return (void *)99;
}

static void *exit_plain(void *arg)
{
	(void)arg;
	ExitThread(18);
}

static void *return_as_fiber(void *arg)
{
	home = ConvertThreadToFiber(arg);
	return (void *)19;
}

static void test_fiber_thread_on_its_own_stack_ends(void **state)
{
	(void)state;
	assert_int_equal(in_thread(delete_own, NULL), 1);
	assert_int_equal(in_thread(exit_plain, NULL), 18);
	assert_int_equal(in_thread(return_as_fiber, NULL), 19);
}

static pthread_key_t stack_key;
static uintptr_t key_seen;

static void see_key(void *value)
{
	char here;

	key_seen = (uintptr_t)&here - (uintptr_t)value;
}

static void *exit_with_key(void *arg)
{
	char here;

	pthread_setspecific(stack_key, &here);
	return leave_for(arg);
}

/* The C library's destructors run on the stack that is the thread's. */
static void test_fiber_thread_ends_on_its_own_stack(void **state)
{
	(void)state;
	assert_int_equal(pthread_key_create(&stack_key, see_key), 0);
	assert_int_equal(in_thread(exit_with_key, (void *)(uintptr_t)exit_thread), 16);
	assert_true(key_seen + (64 << 10) < 128 << 10);
	DeleteFiber(home);
	pthread_key_delete(stack_key);
}

/* -- in a fiber of libfiber -- */

static void *convert_there(void *arg)
{
	DWORD *error = arg;

	if (!ConvertThreadToFiber(NULL))
		*error = GetLastError();
	return NULL;
}

static void test_fiber_of_libfiber_is_not_converted(void **state)
{
	DWORD error = 0;

	(void)state;
	assert_int_equal(fiber_run(convert_there, &error, NULL, NULL), 0);
	assert_int_equal(error, ERROR_NOT_SUPPORTED);
}

/* -- misuse -- */

static int switch_in_a_plain_thread(void *arg)
{
	SwitchToFiber(CreateFiber(0, visit, arg));
	return 0;
}

static int switch_to_null(void *arg)
{
	ConvertThreadToFiber(arg);
	SwitchToFiber(NULL);
	return 0;
}

static int delete_null(void *arg)
{
	DeleteFiber(arg);
	return 0;
}

static LPVOID theirs;
static int ready[2];

static VOID CALLBACK stay(LPVOID parameter)
{
	(void)parameter;
	if (write(ready[1], "", 1) != 1)
		abort();
	for (;;)
		pause();
}

static void *run_stay(void *arg)
{
	theirs = ConvertThreadToFiber(arg);
	SwitchToFiber(other);
	return NULL;
}

/* Wait until another thread runs `other`, and has left its own fiber for it. */
static void begin_stay(void)
{
	pthread_t thread;
	char byte;

	home = ConvertThreadToFiber(NULL);
	other = CreateFiber(0, stay, NULL);
	if (pipe(ready) < 0 || pthread_create(&thread, NULL, run_stay, NULL) != 0 ||
	    read(ready[0], &byte, 1) != 1)
		abort();
}

static int switch_to_one_that_runs(void *arg)
{
	(void)arg;
	begin_stay();
	SwitchToFiber(other);
	return 0;
}

static int delete_one_that_runs(void *arg)
{
	(void)arg;
	begin_stay();
	DeleteFiber(other);
	return 0;
}

static int switch_to_another_thread(void *arg)
{
	(void)arg;
	begin_stay();
	SwitchToFiber(theirs);
	return 0;
}

static int switch_to_a_thread_that_has_exited(void *arg)
{
	in_thread(leave_for, (void *)(uintptr_t)exit_thread);
	theirs = home;
	ConvertThreadToFiber(arg);
	SwitchToFiber(theirs);
	return 0;
}

static void test_fiber_misuse_of_other_threads_aborts_with_its_reason(void **state)
{
	(void)state;
	if (!strcmp(harness_sanitizer(), "thread"))
		skip(); /* its children start no threads */
	assert_aborts(switch_to_one_that_runs, "SwitchToFiber: another thread runs the fiber");
	assert_aborts(delete_one_that_runs, "DeleteFiber: another thread runs the fiber");
	assert_aborts(switch_to_another_thread, "SwitchToFiber: the fiber is another thread");
	assert_aborts(switch_to_a_thread_that_has_exited, "the fiber's thread has exited");
}

static void test_fiber_misuse_aborts_with_its_reason(void **state)
{
	(void)state;
	assert_aborts(switch_in_a_plain_thread, "SwitchToFiber: the thread is no fiber");
	assert_aborts(switch_to_null, "SwitchToFiber: the fiber is NULL");
	assert_aborts(delete_null, "DeleteFiber: the fiber is NULL");
}

#define FIBER_TEST(name) cmocka_unit_test_setup_teardown(name, become_fiber, become_thread)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fiber_thread_is_converted_once_and_back),
		cmocka_unit_test(test_fiber_unknown_flags_and_no_function_are_refused),
		cmocka_unit_test(test_fiber_that_a_plain_thread_made_is_deleted_unrun),
		FIBER_TEST(test_fiber_runs_with_its_data_when_switched_to),
		FIBER_TEST(test_fiber_switch_to_itself_does_nothing),
		FIBER_TEST(test_fiber_stack_is_as_large_as_the_larger_size),
		cmocka_unit_test(test_fiber_float_switch_keeps_the_rounding_of_each_fiber),
		FIBER_TEST(test_fiber_last_error_belongs_to_the_thread),
		FIBER_TEST(test_fiber_ring_of_fibers_passes_on),
		FIBER_TEST(test_fiber_goes_on_in_another_thread),
		cmocka_unit_test(test_fiber_function_that_returns_ends_its_thread),
		cmocka_unit_test(test_fiber_that_deletes_itself_ends_its_thread),
		cmocka_unit_test(test_fiber_exit_thread_ends_the_thread_from_every_stack),
		cmocka_unit_test(test_fiber_pthread_exit_ends_the_thread_and_its_fiber),
		cmocka_unit_test(test_fiber_thread_on_a_created_stack_becomes_a_fiber_again),
		cmocka_unit_test(test_fiber_thread_on_its_own_stack_ends),
		cmocka_unit_test(test_fiber_thread_ends_on_its_own_stack),
		cmocka_unit_test(test_fiber_of_libfiber_is_not_converted),
		cmocka_unit_test(test_fiber_misuse_aborts_with_its_reason),
		cmocka_unit_test(test_fiber_misuse_of_other_threads_aborts_with_its_reason),
	};

	harness_watchdog(90);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
