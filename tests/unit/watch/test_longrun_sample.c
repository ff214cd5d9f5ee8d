/* SPDX-License-Identifier: MIT */
/* test_longrun_sample.c - a fiber interrupted for a sample continues unchanged */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "os/sample.h"
#include "tests/harness/paths.h"
#include "tests/harness/process.h"
#include "tests/harness/watchdog.h"
#include "tests/unit/sched/carriers.h"
#include "watch/longrun_sample.h"

static struct fib_sched s;
static _Atomic uint64_t runner;
static _Atomic int enough;
static _Atomic unsigned urgent;

static int start(void **state)
{
	(void)state;
	fib_store(&runner, 0);
	fib_store(&enough, 0);
	carriers_start(&s, 1);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	carriers_stop(&s);
	return 0;
}

static struct fib_carrier *carrier(void)
{
	return &s.carriers[0];
}

static bool answered(void *arg)
{
	(void)arg;
	sched_yield();
	return fib_longrun_sample_get(carrier()) != NULL;
}

/* Ask the carrier about that fiber at that seq, and return its answer. */
static const struct fib_longrun_sample *ask(uint64_t fiber, uint64_t seq)
{
	carrier()->hold.fiber = fiber;
	carrier()->hold.seq = seq;
	assert_int_equal(fib_longrun_sample_ask(carrier(), carrier()->sample, fiber, seq), 0);
	assert_true(harness_until(answered, NULL, LIMIT_S));
	return fib_longrun_sample_get(carrier());
}

static void *computes(void *arg)
{
	fib_store(&runner, fiber_id(fiber_self()));
	while (!fib_load(&enough))
		;
	return arg;
}

static void *sleeps(void *arg)
{
	const struct timespec time = {.tv_nsec = 300000000};

	fib_store(&runner, fiber_id(fiber_self()));
	return (void *)(intptr_t)(nanosleep(&time, NULL) < 0 ? -errno : (int)(intptr_t)arg);
}

static void *polls(void *arg)
{
	fib_store(&runner, fiber_id(fiber_self()));
	return (void *)(intptr_t)(poll(NULL, 0, 300) < 0 ? -errno : (int)(intptr_t)arg);
}

static void *waits_for_events(void *arg)
{
	struct epoll_event event;
	int rc, fd = epoll_create1(EPOLL_CLOEXEC);

	fib_store(&runner, fiber_id(fiber_self()));
	rc = epoll_wait(fd, &event, 1, 300) < 0 ? -errno : (int)(intptr_t)arg;
	close(fd);
	return (void *)(intptr_t)rc;
}

static struct fiber *begin(fiber_fn *fn)
{
	struct fiber *fiber = carriers_spawn(&s, "it", fn, NULL);

	while (!fib_load(&runner))
		sched_yield();
	return fiber;
}

static intptr_t end(struct fiber *fiber)
{
	struct fiber_result result;

	fib_longrun_sample_done(carrier()->sample);
	assert_int_equal(fiber_join(fiber, &result, FIBER_FOREVER), 0);
	return (intptr_t)result.value;
}

static void test_a_sample_is_of_the_fiber_that_was_meant(void **state)
{
	struct fiber *fiber = begin(computes);
	const struct fib_longrun_sample *sample = ask(fiber->id, fib_load(&fiber->seq));

	(void)state;
	assert_int_equal(sample->lack, FIB_LONGRUN_NOTHING);
	assert_int_equal(sample->context.sp + sample->stack_size,
			 (uintptr_t)fiber->stack.low + fiber->stack.size);
	fib_longrun_sample_done(carrier()->sample);
	/* According to the seq in the question, the fiber has been switched since. */
	sample = ask(fiber->id, fib_load(&fiber->seq) + 2);
	assert_int_equal(sample->lack, FIB_LONGRUN_MISSED);
	assert_int_equal(sample->stack_size, 0);
	fib_store(&enough, 1);
	assert_int_equal(end(fiber), 0);
}

static bool asleep(void *arg)
{
	struct fib_sleeper_place place;

	(void)arg;
	sched_yield();
	return fib_os_thread_place(fib_load(&carrier()->tid), &place) == 1;
}

/* A fiber seen computing may sleep in the system when the signal arrives. */
static void interrupt_asleep(fiber_fn *fn)
{
	struct fiber *fiber = begin(fn);

	assert_true(harness_until(asleep, NULL, LIMIT_S));
	ask(fiber->id, fib_load(&fiber->seq));
	assert_int_equal(end(fiber), 0);
}

static void test_a_sleep_that_is_interrupted_goes_on(void **state)
{
	(void)state;
	/* ThreadSanitizer delays the calls of handlers. */
	if (strcmp(harness_sanitizer(), "thread") == 0)
		skip();
	interrupt_asleep(sleeps);
	fib_store(&runner, 0);
	interrupt_asleep(polls);
	fib_store(&runner, 0);
	interrupt_asleep(waits_for_events);
}

static void on_urgent(int number)
{
	(void)number;
	fib_add_relaxed(&urgent, 1);
}

static void test_a_program_that_handles_the_signal_keeps_it(void **state)
{
	struct sigaction own = {.sa_handler = on_urgent}, old, now;
	struct fiber *fiber = begin(computes);

	(void)state;
	assert_int_equal(sigaction(SIGURG, &own, &old), 0);
	assert_false(fib_os_may_interrupt());
	assert_int_equal(fib_longrun_sample_ask(carrier(), carrier()->sample, fiber->id,
						fib_load(&fiber->seq)),
			 -EBUSY);
	assert_int_equal(sigaction(SIGURG, NULL, &now), 0);
	assert_ptr_equal(now.sa_handler, on_urgent);
	assert_int_equal(fib_load(&urgent), 0);
	raise(SIGURG);
	assert_int_equal(fib_load(&urgent), 1);
	assert_int_equal(sigaction(SIGURG, &old, NULL), 0);
	fib_store(&enough, 1);
	assert_int_equal(end(fiber), 0);
}

static void test_nobody_is_interrupted_where_the_signal_is_waited_for(void **state)
{
	sigset_t set, before;

	(void)state;
	sigemptyset(&set);
	sigaddset(&set, SIGURG);
	pthread_sigmask(SIG_BLOCK, &set, &before);
	assert_false(fib_os_may_interrupt());
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	assert_true(fib_os_may_interrupt());
}

static void test_a_question_can_be_taken_back_only_unanswered(void **state)
{
	struct fiber *fiber = begin(computes);

	(void)state;
	ask(fiber->id, fib_load(&fiber->seq));
	assert_false(fib_longrun_sample_cancel(carrier()->sample));
	/* The answer was not collected; still the next question is a new one. */
	assert_int_equal(ask(fiber->id, fib_load(&fiber->seq))->lack, FIB_LONGRUN_NOTHING);
	fib_store(&enough, 1);
	assert_int_equal(end(fiber), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_sample_is_of_the_fiber_that_was_meant, start,
						stop),
		cmocka_unit_test_setup_teardown(test_a_sleep_that_is_interrupted_goes_on, start,
						stop),
		cmocka_unit_test_setup_teardown(test_a_program_that_handles_the_signal_keeps_it,
						start, stop),
		cmocka_unit_test(test_nobody_is_interrupted_where_the_signal_is_waited_for),
		cmocka_unit_test_setup_teardown(test_a_question_can_be_taken_back_only_unanswered,
						start, stop),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
