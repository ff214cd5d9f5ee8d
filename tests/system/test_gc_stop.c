/* SPDX-License-Identifier: MIT */
/*
 * test_gc_stop.c - fiber_gc_stop() stops fibers that compute, switch, sleep in a system call, are
 * pinned or use an offload thread, finds their values, and lets them continue unharmed
 */
#include "gc_find.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#define BUSY  8u
#define STOPS 100u

static struct fiber_runtime *rt;
static _Atomic bool enough, blocked;
static _Atomic uint64_t turns[BUSY];
static _Atomic unsigned wrong;
static bool watched; /* by ThreadSanitizer, under which a carrier stops late */

static unsigned stops(void)
{
	return watched ? STOPS / 10 : STOPS;
}

static struct fiber *spawn(fiber_fn *fn, void *arg)
{
	struct fiber *fiber = NULL;

	assert_int_equal(fiber_runtime_spawn(rt, NULL, fn, arg, &fiber), 0);
	return fiber;
}

static void join_all(struct fiber *fibers[], unsigned n)
{
	enough = true;
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(fiber_join(fibers[i], NULL, FIBER_FOREVER), 0);
	enough = false;
}

/* -- what fibers do while they are stopped -- */

static void *compute(void *arg)
{
	_Atomic uint64_t *turn = arg;

	while (!enough) {
		++*turn;
		if (*turn % 10000 == 0)
			fiber_yield();
	}
	return NULL;
}

static void *yield(void *arg)
{
	_Atomic uint64_t *turn = arg;

	for (; !enough; ++*turn)
		fiber_yield();
	return NULL;
}

static void *nothing(void *arg)
{
	return arg;
}

static void *spawn_and_join(void *arg)
{
	_Atomic uint64_t *turn = arg;
	struct fiber_result result;
	struct fiber *fiber;

	for (; !enough; ++*turn) {
		if (fiber_spawn(nothing, arg, &fiber) < 0)
			continue;
		fiber_join(fiber, &result, FIBER_FOREVER);
		wrong += result.value != arg;
	}
	return NULL;
}

static void *sleep_in_the_system(void *arg)
{
	const struct timespec time = {0, 200000};
	_Atomic uint64_t *turn = arg;

	for (; !enough; ++*turn) {
		/* ThreadSanitizer hides from the handler that a call was interrupted. */
		wrong += nanosleep(&time, NULL) != 0 && !watched;
		fiber_yield();
	}
	return NULL;
}

static void *sleep_pinned(void *arg)
{
	_Atomic uint64_t *turn = arg;

	for (; !enough; ++*turn) {
		fiber_pin();
		fiber_sleep(100000);
		fiber_unpin();
		fiber_yield();
	}
	return NULL;
}

static void *offload(void *arg)
{
	_Atomic uint64_t *turn = arg;

	for (; !enough; ++*turn) {
		void *value = NULL;

		wrong += fiber_block(nothing, arg, &value, FIBER_FOREVER) != 0 || value != arg;
	}
	return NULL;
}

static void *use_channels(void *arg)
{
	_Atomic uint64_t *turn = arg;

	for (; !enough; ++*turn) {
		struct fiber_chan *chan = NULL;
		void *value = NULL;

		if (fiber_chan_new(sizeof arg, 2, &chan) < 0)
			continue;
		fiber_chan_send(chan, &arg, FIBER_FOREVER);
		fiber_chan_recv(chan, &value, FIBER_FOREVER);
		wrong += value != arg;
		fiber_chan_unref(chan);
		fiber_yield();
	}
	return NULL;
}

static void *sleep_in_the_library(void *arg)
{
	_Atomic uint64_t *turn = arg;

	for (; !enough; ++*turn)
		fiber_sleep(100000);
	return NULL;
}

static fiber_fn *const doings[BUSY] = {compute,	     yield,   spawn_and_join, sleep_in_the_system,
				       sleep_pinned, offload, use_channels,   sleep_in_the_library};

static uint64_t all_turns(void)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < BUSY; i++)
		sum += turns[i];
	return sum;
}

static int look_at_it(const struct fiber_gc_range *range, void *arg)
{
	struct gc_find find = {1, 0, 0};

	wrong += range->low >= range->high || range->kind < FIBER_GC_STACK ||
		 range->kind > FIBER_GC_CARRIER_REGISTERS;
	++*(unsigned *)arg;
	return gc_look(range, &find);
}

/* Whether the fibers make no turn while the caller does something. */
static void stop_and_look(void)
{
	unsigned ranges = 0;
	uint64_t before;

	assert_int_equal(fiber_gc_stop(FIBER_FOREVER), 0);
	before = all_turns();
	assert_int_equal(fiber_gc_each_root_range(look_at_it, &ranges), 0);
	assert_true(ranges > BUSY);
	for (unsigned i = 0; i < 20; i++)
		sched_yield();
	assert_int_equal(all_turns(), before);
	assert_int_equal(fiber_gc_go(), 0);
}

static void test_gc_stop_holds_fibers_still_whatever_they_do_and_they_go_on(void **state)
{
	struct fiber *fibers[BUSY];

	(void)state;
	for (unsigned i = 0; i < BUSY; i++)
		fibers[i] = spawn(doings[i], (void *)(uintptr_t)&turns[i]);
	for (unsigned i = 0; i < stops(); i++) {
		const uint64_t before = all_turns();

		stop_and_look();
		while (all_turns() == before)
			sched_yield();
	}
	for (unsigned i = 0; i < BUSY; i++) {
		const uint64_t before = turns[i];

		while (turns[i] == before)
			sched_yield();
	}
	join_all(fibers, BUSY);
	assert_int_equal(wrong, 0);
}

/* -- values of fibers that run -- */

static _Atomic unsigned in_registers;

/* The value is in this frame or in a register. */
static void *compute_with_a_value(void *arg)
{
	volatile uintptr_t parts[2] = {gc_value(0), (uintptr_t)arg};
	uintptr_t value = parts[0] + parts[1] * UINT64_C(0x10001);

	in_registers++;
	while (!enough)
		__asm__ volatile("" : "+r"(value));
	wrong += value != gc_value((unsigned)(uintptr_t)arg);
	return NULL;
}

static void test_gc_stop_finds_what_fibers_that_compute_have_in_registers(void **state)
{
	const unsigned n = carriers();
	struct fiber *fibers[256];

	(void)state;
	in_registers = 0;
	for (unsigned i = 0; i < n; i++)
		fibers[i] = spawn(compute_with_a_value, (void *)(uintptr_t)(i + 100));
	while (in_registers < n)
		sched_yield();
	for (unsigned i = 0; i < n; i++)
		assert_true(gc_kinds_with_stopped(gc_value(i + 100)) &
			    (KIND(STACK) | KIND(CARRIER_REGISTERS)));
	join_all(fibers, n);
	assert_int_equal(wrong, 0);
}

/* -- who stops -- */

static void *stop_often(void *arg)
{
	for (unsigned i = 0; i < stops(); i++) {
		unsigned ranges = 0;

		if (fiber_gc_stop(FIBER_FOREVER) < 0) {
			wrong++;
			continue;
		}
		wrong += fiber_gc_stop(FIBER_FOREVER) != -EDEADLK;
		wrong += fiber_gc_each_root_range(look_at_it, &ranges) != 0;
		wrong += fiber_self() && fiber_can_yield();
		wrong += fiber_gc_go() != 0;
		wrong += fiber_self() && !fiber_can_yield();
		carriers_pause();
	}
	return arg;
}

static void test_gc_stop_of_fibers_and_threads_at_once_takes_turns(void **state)
{
	struct fiber *fibers[4], *busy[BUSY];
	pthread_t threads[2];

	(void)state;
	for (unsigned i = 0; i < BUSY; i++)
		busy[i] = spawn(doings[i], (void *)(uintptr_t)&turns[i]);
	for (unsigned i = 0; i < COUNT(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, stop_often, NULL), 0);
	for (unsigned i = 0; i < COUNT(fibers); i++)
		fibers[i] = spawn(stop_often, NULL);
	for (unsigned i = 0; i < COUNT(threads); i++)
		pthread_join(threads[i], NULL);
	for (unsigned i = 0; i < COUNT(fibers); i++)
		fiber_join(fibers[i], NULL, FIBER_FOREVER);
	join_all(busy, BUSY);
	assert_int_equal(wrong, 0);
}

static int count_carrier(const struct fiber_gc_carrier *carrier, void *arg)
{
	wrong += !carrier->bottom || carrier->thread != NULL;
	return ++*(unsigned *)arg == 0;
}

/*
 * ThreadSanitizer calls a handler when the program next uses an atomic. A carrier that sleeps uses none, so
 * it does not stop.
 */
static void skip_where_sleepers_do_not_stop(void)
{
	if (!watched)
		return;
	print_message("# skipped: under ThreadSanitizer a carrier that sleeps does not stop\n");
	skip();
}

static _Atomic int told, other_result;

/* Another thread, which must exist before the stop: a stopped carrier may hold locks of the C library. */
static void *go(void *arg)
{
	while (told != 1)
		sched_yield();
	other_result = fiber_gc_go();
	told = 2;
	return arg;
}

static void test_gc_stop_belongs_to_the_thread_that_called_it(void **state)
{
	unsigned count = 0;
	pthread_t thread;

	(void)state;
	skip_where_sleepers_do_not_stop();
	assert_int_equal(fiber_gc_go(), -EPERM);
	assert_int_equal(fiber_gc_each_carrier(count_carrier, &count), -EPERM);
	assert_int_equal(pthread_create(&thread, NULL, go, NULL), 0);
	assert_int_equal(fiber_gc_stop(FIBER_FOREVER), 0);
	told = 1;
	while (told != 2)
		sched_yield();
	assert_int_equal(fiber_gc_each_carrier(count_carrier, &count), 0);
	assert_int_equal(fiber_gc_go(), 0);
	pthread_join(thread, NULL);
	assert_int_equal(other_result, -EPERM);
	assert_int_equal(count, carriers());
	assert_int_equal(wrong, 0);
}

/* -- carriers that cannot be stopped -- */

static void *block_the_signal(void *arg)
{
	sigset_t urgent;

	sigemptyset(&urgent);
	sigaddset(&urgent, SIGURG);
	pthread_sigmask(SIG_BLOCK, &urgent, NULL);
	blocked = true;
	while (!enough)
		;
	pthread_sigmask(SIG_UNBLOCK, &urgent, NULL);
	return arg;
}

static void test_gc_stop_gives_up_at_its_deadline_and_leaves_nothing_stopped(void **state)
{
	struct fiber *fibers[2] = {NULL, NULL};

	(void)state;
	skip_where_sleepers_do_not_stop();
	fibers[0] = spawn(block_the_signal, NULL);
	while (!blocked)
		sched_yield();
	assert_int_equal(fiber_gc_stop(fiber_after(50 * MS)), -ETIMEDOUT);
	assert_int_equal(fiber_gc_go(), -EPERM);
	join_all(fibers, 1);
	fibers[0] = spawn(yield, (void *)(uintptr_t)&turns[1]);
	stop_and_look();
	join_all(fibers, 1);
}

static void ignore(int number)
{
	(void)number;
}

static void test_gc_stop_leaves_the_signal_to_a_program_that_uses_it(void **state)
{
	const struct sigaction own = {.sa_handler = ignore};
	struct sigaction before;

	(void)state;
	skip_where_sleepers_do_not_stop();
	assert_int_equal(sigaction(SIGURG, &own, &before), 0);
	assert_int_equal(fiber_gc_stop(FIBER_FOREVER), -EBUSY);
	assert_int_equal(sigaction(SIGURG, &before, NULL), 0);
	assert_int_equal(fiber_gc_stop(FIBER_FOREVER), 0);
	assert_int_equal(fiber_gc_go(), 0);
}

/* -- runtimes that begin and end -- */

static void *start_and_finish(void *arg)
{
	while (!enough)
		carriers_run(nothing, NULL);
	return arg;
}

static void test_gc_stop_goes_on_while_runtimes_start_and_finish(void **state)
{
	pthread_t threads[2];

	(void)state;
	skip_where_sleepers_do_not_stop();
	for (unsigned i = 0; i < COUNT(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, start_and_finish, NULL), 0);
	for (unsigned i = 0; i < stops(); i++) {
		assert_int_equal(fiber_gc_stop(FIBER_FOREVER), 0);
		assert_int_equal(fiber_gc_go(), 0);
		sched_yield();
	}
	enough = true;
	for (unsigned i = 0; i < COUNT(threads); i++)
		pthread_join(threads[i], NULL);
	enough = false;
}

static int begin(void **state)
{
	struct fiber_runtime_options options = carriers_options();

	(void)state;
	options.pinned_policy = FIBER_PINNED_SILENT;
	options.long_run_ns = -1; /* they are long on purpose */
	assert_int_equal(fiber_runtime_start(&options, &rt), 0);
	return 0;
}

static int end(void **state)
{
	(void)state;
	carriers_finish(rt);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gc_stop_holds_fibers_still_whatever_they_do_and_they_go_on),
		cmocka_unit_test(test_gc_stop_finds_what_fibers_that_compute_have_in_registers),
		cmocka_unit_test(test_gc_stop_of_fibers_and_threads_at_once_takes_turns),
		cmocka_unit_test(test_gc_stop_belongs_to_the_thread_that_called_it),
		cmocka_unit_test(test_gc_stop_gives_up_at_its_deadline_and_leaves_nothing_stopped),
		cmocka_unit_test(test_gc_stop_leaves_the_signal_to_a_program_that_uses_it),
		cmocka_unit_test(test_gc_stop_goes_on_while_runtimes_start_and_finish),
	};

	harness_watchdog(100);
	watched = !strcmp(harness_sanitizer(), "thread");
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, begin, end);
}
