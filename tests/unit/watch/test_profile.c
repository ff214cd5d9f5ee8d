/* SPDX-License-Identifier: MIT */
/*
 * test_profile.c - carriers that compute are sampled while there is a lease, and no other ones
 *
 * The test makes the service thread's looks, at its own times; the carriers run as usual.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "os/sample.h"
#include "os/threads.h"
#include "tests/harness/paths.h"
#include "tests/harness/process.h"
#include "tests/harness/watchdog.h"
#include "tests/unit/sched/carriers.h"
#include "watch/longrun.h"
#include "watch/longrun_sample.h"
#include "watch/profile.h"
#include "watch/tick.h"
#include "wire/wire.h"

#define MS   INT64_C(1000000)
#define MOST 4

static struct fib_sched s;
static int64_t now;
static uint64_t before; /* samples of earlier tests */
static unsigned carriers;
static _Atomic uint64_t runner;
static _Atomic int enough;
static _Atomic unsigned urgent;
static int pipe_fds[2];

static int start_with(unsigned n)
{
	fib_store(&enough, 0);
	fib_store(&runner, 0);
	fib_store(&urgent, 0);
	carriers = n;
	carriers_start(&s, n);
	now = fib_os_now();
	before = fib_profile_taken();
	return pipe(pipe_fds);
}

static int start(void **state)
{
	(void)state;
	return start_with(1);
}

static void renew(unsigned hz)
{
	fib_tick_lock();
	assert_int_equal(fib_profile_renew(hz, carriers, now), 0);
	fib_tick_unlock();
}

static void look(int64_t later)
{
	now += later;
	fib_tick_lock();
	fib_profile_look(&s, now, fib_profile_due(now));
	fib_tick_unlock();
}

static int stop(void **state)
{
	(void)state;
	/* So that the next test begins without a lease. */
	look(FIB_WIRE_PROFILE_LEASE);
	carriers_stop(&s);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
	return 0;
}

static const struct fib_profile_sample *sample_of(uint64_t fiber)
{
	const struct fib_profile_sample *p;
	uint64_t n;

	for (n = before; n < fib_profile_taken(); n++)
		if ((p = fib_profile_at(n)) && p->fiber == fiber)
			return p;
	return NULL;
}

/* A look every period, each with a new lease, until there is a sample of that fiber. */
static bool sampled(void *arg)
{
	sched_yield();
	renew(FIB_WIRE_PROFILE_HZ);
	look(2 * MS);
	return sample_of(*(const uint64_t *)arg) != NULL;
}

static void *computes(void *arg)
{
	fib_store(&runner, fiber_id(fiber_self()));
	while (!fib_load(&enough))
		;
	return arg;
}

static void *reads(void *arg)
{
	char byte;

	fib_store(&runner, fiber_id(fiber_self()));
	return (void *)(intptr_t)syscall(SYS_read, *(int *)arg, &byte, 1);
}

static struct fiber *begin(const char *name, fiber_fn *fn, void *arg)
{
	struct fiber *fiber = carriers_spawn(&s, name, fn, arg);

	while (fib_load(&runner) != fiber->id)
		sched_yield();
	return fiber;
}

static void finish(struct fiber *fiber)
{
	fib_store(&enough, 1);
	assert_int_equal(fiber_join(fiber, NULL, FIBER_FOREVER), 0);
}

static void every_fiber_that_computes_is_sampled(unsigned n)
{
	const struct fib_profile_sample *p;
	struct fiber *fibers[MOST];
	int64_t cpu[MOST] = {0};
	uint64_t number;
	unsigned i;

	assert_int_equal(start_with(n), 0);
	for (i = 0; i < n; i++)
		fibers[i] = begin("computer", computes, NULL);
	for (i = 0; i < n; i++) {
		assert_true(harness_until(sampled, &fibers[i]->id, LIMIT_S));
		p = sample_of(fibers[i]->id);
		assert_int_equal(p->lack, FIB_LONGRUN_NOTHING);
		assert_string_equal(p->name, "computer");
		assert_int_equal(p->entry, (uintptr_t)computes);
		assert_int_equal(p->sp + p->stack_size,
				 (uintptr_t)fibers[i]->stack.low + fibers[i]->stack.size);
		assert_int_equal(p->stack_all, p->stack_size);
		assert_true(p->carrier < n);
	}
	for (number = before; number < fib_profile_taken(); number++) {
		p = fib_profile_at(number);
		assert_true(p->cpu > 0);
		cpu[p->carrier] += p->cpu;
	}
	/* No CPU time is in two samples. */
	for (i = 0; i < n; i++)
		assert_true(cpu[i] <= fib_os_thread_cpu_of(fib_load(&s.carriers[i].tid)));
	fib_store(&enough, 1);
	for (i = 0; i < n; i++)
		assert_int_equal(fiber_join(fibers[i], NULL, FIBER_FOREVER), 0);
	stop(NULL);
}

static void test_every_fiber_that_computes_is_sampled_on_1_carrier(void **state)
{
	(void)state;
	every_fiber_that_computes_is_sampled(1);
}

static void test_every_fiber_that_computes_is_sampled_on_2_carriers(void **state)
{
	(void)state;
	every_fiber_that_computes_is_sampled(2);
}

static void test_every_fiber_that_computes_is_sampled_on_4_carriers(void **state)
{
	(void)state;
	every_fiber_that_computes_is_sampled(4);
}

/* How often the carrier's thread has slept: a signal would wake it, and it would sleep again. */
static unsigned long sleeps(void)
{
	char path[64], line[256];
	unsigned long ret = 0;
	FILE *f;

	snprintf(path, sizeof path, "/proc/self/task/%u/status", fib_load(&s.carriers[0].tid));
	f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof line, f))
		sscanf(line, "voluntary_ctxt_switches: %lu", &ret);
	fclose(f);
	assert_true(ret > 0);
	return ret;
}

static bool asleep(void *arg)
{
	struct fib_sleeper_place place;

	(void)arg;
	sched_yield();
	return fib_os_thread_place(fib_load(&s.carriers[0].tid), &place) == 1;
}

static void test_a_fiber_in_a_system_call_is_neither_sampled_nor_interrupted(void **state)
{
	struct fiber *fiber = begin("reader", reads, &pipe_fds[0]);
	struct fiber_result result;
	unsigned long slept;
	unsigned i;

	(void)state;
	assert_true(harness_until(asleep, NULL, LIMIT_S));
	slept = sleeps();
	/* As if it had used much CPU since its last sample. */
	for (i = 0; i < 100; i++) {
		renew(FIB_WIRE_PROFILE_HZ);
		look(20 * MS);
		s.carriers[0].profile.cpu = -1000 * MS;
	}
	assert_int_equal(fib_profile_taken(), before);
	assert_int_equal(sleeps(), slept);
	assert_int_equal(write(pipe_fds[1], "x", 1), 1);
	assert_int_equal(fiber_join(fiber, &result, FIBER_FOREVER), 0);
	assert_int_equal((intptr_t)result.value, 1);
}

static void test_a_carrier_that_only_waits_for_a_cpu_is_not_sampled(void **state)
{
	struct fiber *fiber = begin("computer", computes, NULL);
	unsigned i;

	(void)state;
	renew(FIB_WIRE_PROFILE_HZ);
	look(20 * MS);
	/* As if it had used no CPU since its last sample. */
	for (i = 0; i < 100; i++) {
		renew(FIB_WIRE_PROFILE_HZ);
		s.carriers[0].profile.cpu = INT64_MAX / 2;
		look(20 * MS);
	}
	assert_null(sample_of(fiber->id));
	finish(fiber);
}

static void test_without_a_lease_nothing_is_sampled(void **state)
{
	struct fiber *fiber = begin("computer", computes, NULL);
	unsigned i;

	(void)state;
	for (i = 0; i < 100; i++)
		look(20 * MS);
	assert_int_equal(fib_profile_taken(), before);
	assert_int_equal(fib_profile_ends(), INT64_MAX);
	finish(fiber);
}

static void test_a_lease_ends_by_itself_and_gives_its_memory_back(void **state)
{
	struct fiber *fiber = begin("computer", computes, NULL);
	uint64_t taken;

	(void)state;
	assert_true(harness_until(sampled, &fiber->id, LIMIT_S));
	renew(FIB_WIRE_PROFILE_HZ);
	assert_int_equal(fib_profile_ends(), now + FIB_WIRE_PROFILE_LEASE);
	look(FIB_WIRE_PROFILE_LEASE - 1);
	assert_int_equal(fib_profile_hz(), FIB_WIRE_PROFILE_HZ);
	taken = fib_profile_taken();
	look(1);
	assert_int_equal(fib_profile_hz(), 0);
	assert_null(fib_profile_at(taken - 1));
	while (s.profiled)
		look(MS);
	look(1000 * MS);
	assert_int_equal(fib_profile_taken(), taken);
	finish(fiber);
}

/* A client that wants less does not take samples from one that wants more. */
static void test_the_highest_rate_counts(void **state)
{
	(void)state;
	renew(10);
	assert_int_equal(fib_profile_hz(), 10);
	renew(100);
	renew(10);
	assert_int_equal(fib_profile_hz(), 100);
	look(FIB_WIRE_PROFILE_LEASE);
	renew(10);
	assert_int_equal(fib_profile_hz(), 10);
}

static unsigned dues(unsigned looks, int64_t apart)
{
	unsigned n = 0;

	renew(100);
	fib_tick_lock();
	while (looks--) {
		now += apart;
		n += fib_profile_due(now);
	}
	fib_tick_unlock();
	return n;
}

/*
 * A pause is between 5 and 15 ms, so 2 s have 133 to 401 of them whatever the random numbers are; a
 * look every millisecond is due at most once in 5.
 */
static void test_looks_are_due_at_the_requested_rate(void **state)
{
	unsigned due;

	(void)state;
	due = dues(2000, MS);
	assert_in_range(due, 133, 401);
	/* The mean of 200 pauses is within 10 % of 10 ms: 5 standard deviations are 1 ms. */
	assert_in_range(due, 180, 223);
	/* Looks that come too late are not made up for. */
	assert_int_equal(dues(20, 100 * MS), 20);
}

static void on_urgent(int number)
{
	(void)number;
	fib_add_relaxed(&urgent, 1);
}

static bool lacking(void *arg)
{
	(void)arg;
	sched_yield();
	renew(FIB_WIRE_PROFILE_HZ);
	look(20 * MS);
	return fib_profile_taken() > before;
}

static void test_a_program_that_handles_the_signal_is_not_interrupted(void **state)
{
	struct sigaction own = {.sa_handler = on_urgent}, old;
	struct fiber *fiber = begin("computer", computes, NULL);

	(void)state;
	assert_int_equal(sigaction(SIGURG, &own, &old), 0);
	assert_true(harness_until(lacking, NULL, LIMIT_S));
	assert_int_equal(fib_profile_at(before)->lack, FIB_LONGRUN_SIGNAL);
	assert_int_equal(fib_profile_at(before)->stack_size, 0);
	assert_int_equal(fib_load(&urgent), 0);
	assert_int_equal(sigaction(SIGURG, &old, NULL), 0);
	finish(fiber);
}

/* The watcher of long runs and a profile ask the same carrier at the same time. */
static bool both(void *arg)
{
	struct fib_longrun_sample *sample = s.carriers[0].sample;
	struct fiber *fiber = arg;

	sampled(&fiber->id);
	if (fib_longrun_sample_idle(sample))
		fib_longrun_sample_ask(&s.carriers[0], sample, fiber->id, fib_load(&fiber->seq));
	return fib_longrun_sample_taken(sample) && fib_profile_taken() >= before + 10;
}

static void test_long_runs_and_a_profile_share_the_signal(void **state)
{
	struct fiber *fiber = begin("computer", computes, NULL);

	(void)state;
	assert_true(harness_until(both, fiber, LIMIT_S));
	assert_int_equal(s.carriers[0].sample->lack, FIB_LONGRUN_NOTHING);
	assert_int_equal(s.carriers[0].sample->ran, fiber->id);
	finish(fiber);
}

/* musl has none of them. */
#pragma weak getcontext
#pragma weak makecontext
#pragma weak swapcontext

static ucontext_t aside, inside;

static void call_the_library(void)
{
	while (!fib_load(&enough))
		fiber_self();
}

/* Calls the library on a stack of its own, as a carrier does between two fibers. */
static void *leaves_its_stack(void *arg)
{
	const size_t size = 65536;

	getcontext(&aside);
	aside.uc_stack.ss_sp = malloc(size);
	aside.uc_stack.ss_size = size;
	aside.uc_link = &inside;
	makecontext(&aside, call_the_library, 0);
	fib_store(&runner, fiber_id(fiber_self()));
	swapcontext(&inside, &aside);
	free(aside.uc_stack.ss_sp);
	return arg;
}

static void test_a_carrier_between_two_fibers_has_no_stack(void **state)
{
	static const uint64_t none = 0;
	struct fiber *fiber;

	(void)state;
	/* AddressSanitizer and ThreadSanitizer must be told of a change of stacks. */
	if (strcmp(harness_sanitizer(), "") != 0 || !getcontext)
		skip();
	fiber = begin("astray", leaves_its_stack, NULL);
	assert_true(harness_until(sampled, (void *)&none, LIMIT_S));
	assert_int_equal(sample_of(none)->lack, FIB_LONGRUN_NOTHING);
	assert_int_equal(sample_of(none)->stack_size, 0);
	/* In its own code it is a fiber on a stack of its own. */
	assert_true(harness_until(sampled, &fiber->id, LIMIT_S));
	assert_true(sample_of(fiber->id)->stack_size > 0);
	finish(fiber);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_fiber_that_computes_is_sampled_on_1_carrier),
		cmocka_unit_test(test_every_fiber_that_computes_is_sampled_on_2_carriers),
		cmocka_unit_test(test_every_fiber_that_computes_is_sampled_on_4_carriers),
		TEST(test_a_fiber_in_a_system_call_is_neither_sampled_nor_interrupted),
		TEST(test_a_carrier_that_only_waits_for_a_cpu_is_not_sampled),
		TEST(test_without_a_lease_nothing_is_sampled),
		TEST(test_a_lease_ends_by_itself_and_gives_its_memory_back),
		TEST(test_the_highest_rate_counts),
		TEST(test_looks_are_due_at_the_requested_rate),
		TEST(test_a_program_that_handles_the_signal_is_not_interrupted),
		TEST(test_long_runs_and_a_profile_share_the_signal),
		TEST(test_a_carrier_between_two_fibers_has_no_stack),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
