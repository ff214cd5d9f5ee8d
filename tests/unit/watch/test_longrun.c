/* SPDX-License-Identifier: MIT */
/*
 * test_longrun.c - a fiber that holds a carrier for long is recorded once, and no other fiber is
 *
 * The test makes the watchdog's looks, at its own times; the carriers run as usual. clock_gettime()
 * of the C library is replaced here: it counts requests for the CPU time of another thread, which
 * are system calls.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/harness/process.h"
#include "tests/harness/watchdog.h"
#include "tests/unit/sched/carriers.h"
#include "watch/longrun.h"
#include "watch/tick.h"

#define MS	  INT64_C(1000000)
#define THRESHOLD (20 * MS)

static struct fib_sched s;
static const struct fib_longrun_event *event;
static int64_t now, began;
static uint64_t before;
static _Atomic uint64_t runner;
static _Atomic int enough, hears;
static int pipe_fds[2];
static bool behind; /* other fibers wait for a carrier */

/* counts in the test's thread only: the watchdog makes such requests too */
static _Thread_local unsigned asked;

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	asked += clock < 0;
	return (int)syscall(SYS_clock_gettime, clock, ret);
}

static int start(void **state)
{
	(void)state;
	fib_store(&enough, 0);
	fib_store(&hears, 0);
	fib_store(&runner, 0);
	carriers_start(&s, 1);
	fib_longrun_set(&s, THRESHOLD);
	fib_tick_lock();
	fib_longrun_forget();
	fib_tick_unlock();
	before = fib_longrun_recorded();
	now = began = fib_os_now();
	return pipe(pipe_fds);
}

static int stop(void **state)
{
	(void)state;
	carriers_stop(&s);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
	return 0;
}

static void look(int64_t later)
{
	now += later;
	fib_tick_lock();
	fib_longrun_look(&s, now, behind);
	fib_tick_unlock();
}

/* Large steps until past every threshold here, then small ones: the carrier may be slow to get
 * the signal. */
static bool recorded(void *arg)
{
	(void)arg;
	look(now - began < 200 * MS ? 30 * MS : MS);
	event = fib_longrun_event(before);
	return event != NULL;
}

static bool ended(void *arg)
{
	(void)arg;
	look(MS);
	return !event->lasts;
}

static void *reads(void *arg)
{
	char byte;

	fib_store(&runner, fiber_id(fiber_self()));
	return (void *)(intptr_t)syscall(SYS_read, *(int *)arg, &byte, 1);
}

static void *computes(void *arg)
{
	fib_store(&runner, fiber_id(fiber_self()));
	while (!fib_load(&enough))
		;
	return arg;
}

/* Its carrier blocks the signal at first. */
static void *computes_deaf(void *arg)
{
	sigset_t urgent;

	sigemptyset(&urgent);
	sigaddset(&urgent, SIGURG);
	pthread_sigmask(SIG_BLOCK, &urgent, NULL);
	fib_store(&runner, fiber_id(fiber_self()));
	while (!fib_load(&hears))
		;
	pthread_sigmask(SIG_UNBLOCK, &urgent, NULL);
	while (!fib_load(&enough))
		;
	return arg;
}

static void *waits_pinned(void *arg)
{
	fiber_pin();
	fib_store(&runner, fiber_id(fiber_self()));
	fiber_sem_wait(arg, FIBER_FOREVER);
	fiber_unpin();
	return arg;
}

static void *yields(void *arg)
{
	fib_store(&runner, fiber_id(fiber_self()));
	while (!fib_load(&enough))
		fiber_yield();
	return arg;
}

static struct fiber *begin(const char *name, fiber_fn *fn, void *arg)
{
	struct fiber *fiber = carriers_spawn(&s, name, fn, arg);

	while (!fib_load(&runner))
		sched_yield();
	return fiber;
}

static void expect_end(struct fiber *fiber, void *value)
{
	struct fiber_result result;

	assert_int_equal(fiber_join(fiber, &result, FIBER_FOREVER), 0);
	assert_ptr_equal(result.value, value);
	assert_true(harness_until(ended, NULL, LIMIT_S));
	assert_true(event->duration > THRESHOLD);
	look(100 * MS);
	assert_int_equal(fib_longrun_recorded(), before + 1);
}

static void test_a_fiber_in_a_system_call_is_recorded_and_not_disturbed(void **state)
{
	struct fiber *fiber = begin("reader", reads, &pipe_fds[0]);

	(void)state;
	assert_true(harness_until(recorded, NULL, LIMIT_S));
	assert_int_equal(event->fiber, fib_load(&runner));
	assert_string_equal(event->name, "reader");
	assert_int_equal(event->doing, FIB_LONGRUN_CALLS);
	assert_int_equal(event->call, SYS_read);
	assert_int_equal(event->lack, FIB_LONGRUN_NOTHING);
	assert_true(event->context.sp >= event->stack_low &&
		    event->context.sp + event->stack_size <= event->stack_low + event->stack_room);
	assert_true(event->stack_size > 0 && event->context.pc && !event->context.fp);
	assert_true(event->lasts);
	look(50 * MS);
	assert_int_equal(fib_longrun_recorded(), before + 1);
	assert_int_equal(write(pipe_fds[1], "x", 1), 1);
	expect_end(fiber, (void *)1);
}

static void test_a_fiber_that_computes_is_recorded_with_its_stack(void **state)
{
	struct fiber *fiber = begin("computer", computes, NULL);

	(void)state;
	assert_true(harness_until(recorded, NULL, LIMIT_S));
	assert_int_equal(event->fiber, fib_load(&runner));
	assert_int_equal(event->doing, FIB_LONGRUN_COMPUTES);
	assert_int_equal(event->lack, FIB_LONGRUN_NOTHING);
	assert_true(event->context.sp >= event->stack_low && event->stack_size > 0 &&
		    event->context.pc);
	fib_store(&enough, 1);
	expect_end(fiber, NULL);
}

static void test_a_pinned_wait_is_called_one(void **state)
{
	struct fiber_sem sem = {0};
	struct fiber *fiber;

	(void)state;
	assert_int_equal(fiber_sem_init(&sem, 0), 0);
	fiber = begin("pinned", waits_pinned, &sem);
	assert_true(harness_until(recorded, NULL, LIMIT_S));
	assert_int_equal(event->doing, FIB_LONGRUN_WAITS);
	assert_int_equal(event->wait_kind, FIB_WAIT_SEM);
	assert_int_equal(event->object, (uintptr_t)&sem);
	fiber_sem_post(&sem);
	expect_end(fiber, &sem);
}

static bool sleeps_in_read(void *arg)
{
	struct pollfd none = {.fd = -1};

	(void)arg;
	poll(&none, 1, 1);
	look(MS / 100);
	return s.carriers->hold.fiber == fib_load(&runner);
}

static void test_nobody_is_recorded_before_the_threshold_or_while_it_is_off(void **state)
{
	struct fiber *fiber = begin("reader", reads, &pipe_fds[0]);

	(void)state;
	assert_true(harness_until(sleeps_in_read, NULL, LIMIT_S));
	look(THRESHOLD - MS);
	assert_int_equal(fib_longrun_recorded(), before);
	fib_longrun_set(&s, -1);
	assert_int_equal(fib_longrun_threshold(&s), 0);
	look(500 * MS);
	assert_int_equal(fib_longrun_recorded(), before);
	/* Set the threshold again: the current run counts from its start. */
	fib_longrun_set(&s, 100 * MS);
	assert_true(harness_until(recorded, NULL, LIMIT_S));
	assert_int_equal(write(pipe_fds[1], "x", 1), 1);
	expect_end(fiber, (void *)1);
}

static bool somebody_was_asked(void *arg)
{
	(void)arg;
	look(MS / 100);
	return asked > 0;
}

static void test_nobody_is_asked_for_his_cpu_time_while_it_is_off(void **state)
{
	struct fiber *fiber = begin("polite", yields, NULL);
	struct pollfd none = {.fd = -1};
	unsigned i, seen = 0, while_off;
	bool while_on;

	(void)state;
	fib_longrun_set(&s, 0);
	asked = 0;
	/* Each look finds another run, or the moment between two runs. */
	for (i = 0; seen < 20 && i < 10000; i++) {
		poll(&none, 1, 1);
		look(MS);
		seen += s.carriers->hold.fiber == fib_load(&runner);
	}
	while_off = asked;
	fib_longrun_set(&s, THRESHOLD);
	while_on = harness_until(somebody_was_asked, NULL, LIMIT_S);
	fib_store(&enough, 1);
	assert_int_equal(fiber_join(fiber, NULL, FIBER_FOREVER), 0);
	assert_int_equal(seen, 20);
	assert_int_equal(while_off, 0);
	assert_true(while_on);
}

static void test_who_computes_already_when_it_is_set_counts(void **state)
{
	struct fiber *fiber;

	(void)state;
	fib_longrun_set(&s, 0);
	fiber = begin("computer", computes, NULL);
	look(500 * MS);
	look(500 * MS);
	assert_int_equal(fib_longrun_recorded(), before);
	fib_longrun_set(&s, THRESHOLD);
	assert_true(harness_until(recorded, NULL, LIMIT_S));
	assert_int_equal(event->doing, FIB_LONGRUN_COMPUTES);
	fib_store(&enough, 1);
	expect_end(fiber, NULL);
}

static void test_a_process_that_was_stopped_begins_anew(void **state)
{
	struct fiber *fiber = begin("reader", reads, &pipe_fds[0]);

	(void)state;
	assert_true(harness_until(sleeps_in_read, NULL, LIMIT_S));
	look(3600 * 1000 * MS);
	assert_int_equal(fib_longrun_recorded(), before);
	assert_true(harness_until(recorded, NULL, LIMIT_S));
	assert_int_equal(write(pipe_fds[1], "x", 1), 1);
	expect_end(fiber, (void *)1);
}

static bool was_asked(void *arg)
{
	(void)arg;
	look(5 * MS);
	return s.carriers->hold.asked_at != 0;
}

static void test_who_was_asked_before_the_process_was_stopped_has_time_to_answer(void **state)
{
	struct fiber *fiber = begin("computer", computes_deaf, NULL);
	bool right = harness_until(was_asked, NULL, LIMIT_S);

	(void)state;
	look(3600 * 1000 * MS);
	right = right && fib_longrun_recorded() == before;
	fib_store(&hears, 1);
	began = now - 200 * MS; /* the test makes no large steps any more */
	right = harness_until(recorded, NULL, LIMIT_S) && right;
	fib_store(&enough, 1);
	assert_true(right);
	assert_int_equal(event->lack, FIB_LONGRUN_NOTHING);
	expect_end(fiber, NULL);
}

static void test_a_fiber_that_yields_alone_is_not_recorded(void **state)
{
	struct fiber *fiber = begin("polite", yields, NULL);
	struct pollfd none = {.fd = -1};
	unsigned i;

	(void)state;
	/* The looks are far enough apart for a yield in between. */
	for (i = 0; i < 20; i++) {
		poll(&none, 1, 20);
		look(21 * MS);
	}
	fib_store(&enough, 1);
	assert_int_equal(fiber_join(fiber, NULL, FIBER_FOREVER), 0);
	assert_int_equal(fib_longrun_recorded(), before);
}

static void test_what_lasts_when_its_scheduler_goes_has_ended(void **state)
{
	struct fiber *fiber = begin("reader", reads, &pipe_fds[0]);

	(void)state;
	assert_true(harness_until(recorded, NULL, LIMIT_S));
	assert_true(event->lasts);
	assert_int_equal(write(pipe_fds[1], "x", 1), 1);
	assert_int_equal(fiber_join(fiber, NULL, FIBER_FOREVER), 0);
	fib_tick_lock();
	fib_longrun_close(&s);
	fib_tick_unlock();
	assert_false(event->lasts);
}

/* Have a line printed, if there is one; returns whether there is. */
static bool prints_a_line(void)
{
	int fds[2], kept = dup(STDERR_FILENO);
	char text[1024];
	ssize_t n;

	assert_int_equal(pipe2(fds, O_NONBLOCK), 0);
	dup2(fds[1], STDERR_FILENO);
	fib_tick_lock();
	fib_longrun_report(now);
	fib_tick_unlock();
	dup2(kept, STDERR_FILENO);
	n = read(fds[0], text, sizeof text - 1);
	close(kept);
	close(fds[0]);
	close(fds[1]);
	return n > 0;
}

static void test_a_run_that_delays_no_other_fiber_has_no_line(void **state)
{
	struct fiber *fiber = begin("reader", reads, &pipe_fds[0]);
	bool alone, delaying, again;

	(void)state;
	/* Other fibers wait, but not after the threshold. */
	behind = true;
	assert_true(harness_until(sleeps_in_read, NULL, LIMIT_S));
	look(THRESHOLD - MS);
	behind = false;
	assert_true(harness_until(recorded, NULL, LIMIT_S));
	look(MS);
	alone = prints_a_line();
	/* Now one does, while the run lasts. */
	behind = true;
	look(MS);
	look(MS);
	behind = false;
	look(MS);
	behind = true;
	look(MS);
	look(MS);
	alone = prints_a_line() || alone;
	look(MS);
	delaying = prints_a_line();
	look(120000 * MS / 1000);
	again = prints_a_line();
	behind = false;
	assert_int_equal(write(pipe_fds[1], "x", 1), 1);
	expect_end(fiber, (void *)1);
	assert_false(alone);
	assert_true(delaying);
	assert_false(again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_a_fiber_in_a_system_call_is_recorded_and_not_disturbed, start, stop),
		cmocka_unit_test_setup_teardown(
			test_a_fiber_that_computes_is_recorded_with_its_stack, start, stop),
		cmocka_unit_test_setup_teardown(test_a_pinned_wait_is_called_one, start, stop),
		cmocka_unit_test_setup_teardown(
			test_nobody_is_recorded_before_the_threshold_or_while_it_is_off, start,
			stop),
		cmocka_unit_test_setup_teardown(
			test_nobody_is_asked_for_his_cpu_time_while_it_is_off, start, stop),
		cmocka_unit_test_setup_teardown(test_who_computes_already_when_it_is_set_counts,
						start, stop),
		cmocka_unit_test_setup_teardown(test_a_process_that_was_stopped_begins_anew, start,
						stop),
		cmocka_unit_test_setup_teardown(
			test_who_was_asked_before_the_process_was_stopped_has_time_to_answer, start,
			stop),
		cmocka_unit_test_setup_teardown(test_a_fiber_that_yields_alone_is_not_recorded,
						start, stop),
		cmocka_unit_test_setup_teardown(test_a_run_that_delays_no_other_fiber_has_no_line,
						start, stop),
		cmocka_unit_test_setup_teardown(test_what_lasts_when_its_scheduler_goes_has_ended,
						start, stop),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
