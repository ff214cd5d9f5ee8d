/* SPDX-License-Identifier: MIT */
/*
 * test_idle.c - a sleeping carrier is woken for work, from every source
 *
 * The rule itself is proved in test_idle_model.c; here real carriers sleep. Nothing ticks: a lost
 * wake-up hangs the test.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include "carriers.h"
#include "tests/harness/process.h"
#include "tests/harness/watchdog.h"

static struct fib_sched s;

static bool asleep(void *arg)
{
	return fib_idle_all_asleep(arg);
}

static void await_sleep(void)
{
	assert_true(harness_until(asleep, &s, LIMIT_S));
}

static void *nothing(void *arg)
{
	return arg;
}

static void join(struct fiber *f)
{
	struct fiber_result r;

	assert_int_equal(fiber_join(f, &r, FIBER_FOREVER), 0);
	_assert_true(!r.value, r.value ? r.value : "", __FILE__, __LINE__);
}

static void test_idle_carriers_all_go_to_sleep_one_of_them_in_the_poller(void **state)
{
	unsigned n, i, pollers;

	(void)state;
	for (n = 1; n <= 4; n++) {
		carriers_start(&s, n);
		await_sleep();
		for (i = pollers = 0; i < n; i++)
			pollers += fib_load(&s.carriers[i].sleeper.how) == 2;
		/* The carrier may be between the announcement and the poller. */
		assert_in_range(pollers, 0, 1);
		while (!fib_load(&s.polling))
			sched_yield();
		join(carriers_spawn(&s, "one", nothing, NULL));
		await_sleep();
		carriers_stop(&s);
	}
}

static void test_idle_carriers_are_woken_for_every_fiber(void **state)
{
	unsigned n, i;

	(void)state;
	for (n = 1; n <= 4; n *= 2) {
		carriers_start(&s, n);
		for (i = 0; i < 2000; i++) {
			/* Submit at different moments while the carriers go to sleep. */
			if (i % 50 == 0)
				await_sleep();
			else if (i % 3 == 0)
				sched_yield();
			join(carriers_spawn(&s, "one", nothing, NULL));
		}
		carriers_stop(&s);
	}
}

static _Atomic unsigned together;

/* The fibers continue only when all of them are on carriers at the same time. */
static void *meets(void *arg)
{
	unsigned n = fiber_self()->sched->carrier_count;

	fib_add(&together, 1);
	while (fib_load(&together) < n)
		sched_yield();
	return arg;
}

static void *calls_together(void *arg)
{
	struct fiber *f[4];
	unsigned i, n = fiber_self()->sched->carrier_count;

	fib_store(&together, 0);
	for (i = 1; i < n; i++)
		must(fiber_spawn(meets, NULL, &f[i]) == 0);
	meets(NULL);
	for (i = 1; i < n; i++)
		must(fiber_join(f[i], NULL, FIBER_FOREVER) == 0);
	return arg;
}

static void test_idle_who_finds_work_wakes_the_next_until_all_work(void **state)
{
	unsigned n, i;

	(void)state;
	for (n = 2; n <= 4; n++) {
		carriers_start(&s, n);
		for (i = 0; i < 200; i++) {
			if (i % 20 == 0)
				await_sleep();
			join(carriers_spawn(&s, "caller", calls_together, NULL));
		}
		carriers_stop(&s);
	}
}

static void test_idle_a_burst_from_outside_reaches_all_carriers(void **state)
{
	struct fiber *f[4];
	unsigned i, turn;

	(void)state;
	carriers_start(&s, 4);
	for (turn = 0; turn < 100; turn++) {
		if (turn % 10 == 0)
			await_sleep();
		fib_store(&together, 0);
		for (i = 0; i < 4; i++)
			f[i] = carriers_spawn(&s, "burst", meets, NULL);
		for (i = 0; i < 4; i++)
			join(f[i]);
	}
	carriers_stop(&s);
}

static void *is_home(void *arg)
{
	must(fib_carrier_self()->index ==
	     fiber_id(fiber_self()) % fiber_self()->sched->carrier_count);
	return arg;
}

static void test_idle_wakes_the_carrier_a_fiber_is_bound_to(void **state)
{
	unsigned i;

	(void)state;
	carriers_start(&s, 3);
	for (i = 0; i < 600; i++) {
		if (i % 30 == 0)
			await_sleep();
		join(carriers_spawn_flags(&s, "bound", FIBER_BOUND, is_home, NULL));
	}
	carriers_stop(&s);
}

static void *sleeps(void *arg)
{
	int64_t until = fiber_after(2000000);
	unsigned home = fib_carrier_self()->index;

	must(fiber_sleep_until(until) == 0);
	must(fiber_now() >= until);
	must(fib_carrier_self()->index == home);
	return arg;
}

static void test_idle_sleep_ends_at_the_nearest_deadline_wherever_one_sleeps(void **state)
{
	struct fiber *f[9];
	unsigned i;

	(void)state;
	carriers_start(&s, 3);
	/* Three for each carrier: some carriers sleep in the poller, some on a futex. */
	for (i = 0; i < 9; i++)
		f[i] = carriers_spawn_flags(&s, "sleeper", FIBER_BOUND, sleeps, NULL);
	for (i = 0; i < 9; i++)
		join(f[i]);
	carriers_stop(&s);
}

/* -- descriptors -- */

static _Atomic uint64_t seen_token;
static _Atomic unsigned seen_times;

static void sees(const struct fib_poll_event *events, int n)
{
	for (; n; n--, events++)
		if (events->events & POLLIN)
			fib_store(&seen_token, events->token), fib_add(&seen_times, 1);
}

static bool seen(void *arg)
{
	return fib_load(&seen_times) >= *(unsigned *)arg;
}

static void start(unsigned n)
{
	const struct fiber_runtime_options o = {.carriers = n,
						.carriers_max = n,
						.stack_size = FIB_STACK_MIN,
						.pinned_policy = FIBER_PINNED_SILENT};

	assert_int_equal(fib_sched_start(&s, &o, sees), 0);
}

static void test_idle_sleeper_in_the_poller_delivers_what_is_ready(void **state)
{
	unsigned times;
	int pipes[2];
	char byte;

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	start(2);
	fib_store(&s.watching, 1);
	for (times = 1; times <= 50; times++) {
		assert_int_equal(s.poller->ops->watch(s.poller, pipes[0], 4711), 0);
		await_sleep();
		assert_int_equal(write(pipes[1], "x", 1), 1);
		assert_true(harness_until(seen, &times, LIMIT_S));
		assert_int_equal(read(pipes[0], &byte, 1), 1);
	}
	assert_int_equal(fib_load(&seen_token), 4711);
	s.poller->ops->forget(s.poller, pipes[0]);
	carriers_stop(&s);
	close(pipes[0]);
	close(pipes[1]);
}

static void *yields_until_seen(void *arg)
{
	while (!fib_load(&seen_times))
		must(fiber_yield() == 0);
	return arg;
}

static void test_idle_poll_is_made_while_the_queue_is_hot(void **state)
{
	struct fiber *f[2];
	int pipes[2];

	(void)state;
	fib_store(&seen_times, 0);
	assert_int_equal(pipe(pipes), 0);
	start(1);
	f[0] = carriers_spawn(&s, "hot", yields_until_seen, NULL);
	f[1] = carriers_spawn(&s, "hot", yields_until_seen, NULL);
	assert_int_equal(s.poller->ops->watch(s.poller, pipes[0], 42), 0);
	fib_store(&s.watching, 1);
	assert_int_equal(write(pipes[1], "x", 1), 1);
	join(f[0]);
	join(f[1]);
	assert_int_equal(fib_load(&seen_token), 42);
	carriers_stop(&s);
	close(pipes[0]);
	close(pipes[1]);
}

/* -- the program's own way to wait -- */

static _Atomic unsigned hook_calls, hook_in, hook_crowded;
static _Atomic int64_t hook_deadline;

static int waits_itself(void *arg, int64_t deadline)
{
	struct fib_poller *p = s.poller;
	struct pollfd fd = {.fd = p->ops->descriptor(p), .events = POLLIN};

	fib_add(&hook_crowded, fib_add(&hook_in, 1) != 0);
	fib_store(&hook_deadline, deadline);
	fib_add(&hook_calls, 1);
	if (arg == &s)
		fib_os_poll(&fd, 1, deadline);
	fib_sub(&hook_in, 1);
	return arg == &s ? 0 : -1;
}

/* Wait on the poller's descriptor (arg s), or not at all, which leaves the wait to the
 * scheduler. */
static void waits_by_hook(unsigned n, void *arg)
{
	unsigned i;

	fib_store(&hook_calls, 0);
	fib_store(&hook_crowded, 0);
	carriers_start(&s, n);
	/* If the carrier already sleeps, the new hook must wake it. */
	if (n % 2)
		await_sleep();
	carriers_serve(&s, waits_itself, arg);
	for (i = 0; i < 100; i++) {
		if (i % 2)
			await_sleep();
		while (i % 2 && arg == &s && !fib_load(&hook_in))
			sched_yield();
		join(carriers_spawn_flags(&s, "woken", i % 3 ? 0 : FIBER_BOUND, nothing, NULL));
	}
	await_sleep();
	while (arg == &s && (!fib_load(&hook_in) || fib_load(&hook_deadline) != INT64_MAX))
		sched_yield();
	/* The carrier in the poller may have been without a CPU while the others ran all fibers. */
	while (!fib_load(&hook_calls))
		sched_yield();
	assert_int_equal(fib_load(&hook_crowded), 0);
	/* Each sleep of the carrier in the poller is one call: 100 fibers cause few more. */
	assert_in_range(fib_load(&hook_calls), 1, 1000);
	carriers_stop(&s);
	assert_int_equal(fib_load(&hook_in), 0);
}

static void test_idle_hook_takes_the_pollers_place(void **state)
{
	unsigned n;

	(void)state;
	for (n = 1; n <= 4; n++)
		waits_by_hook(n, &s);
}

static void test_idle_hook_that_fails_leaves_the_waiting_to_the_poller(void **state)
{
	unsigned n;

	(void)state;
	for (n = 1; n <= 4; n++)
		waits_by_hook(n, NULL);
}

static int returns_at_once(void *arg, int64_t deadline)
{
	(void)deadline;
	fib_add((_Atomic unsigned *)arg, 1);
	return 0;
}

static void test_idle_hook_that_comes_back_for_nothing_does_not_get_its_carrier_up(void **state)
{
	uint64_t polls;
	unsigned calls;

	(void)state;
	carriers_start(&s, 2);
	carriers_serve(&s, returns_at_once, &hook_calls);
	join(carriers_spawn(&s, "first", nothing, NULL));
	/* The wake-up of carriers that were in the poller before the hook was set may still be
	 * under way. */
	do {
		await_sleep();
		polls = fib_load(&s.polls);
		calls = fib_load(&hook_calls);
		while (fib_load(&hook_calls) < calls + 1000)
			sched_yield();
	} while (fib_load(&s.polls) != polls);
	assert_true(fib_idle_all_asleep(&s));
	carriers_stop(&s);
}

/* -- the word -- */

static void test_idle_word_counts_everybody_once(void **state)
{
	uint32_t word;
	unsigned i;

	(void)state;
	carriers_start(&s, 4);
	for (i = 0; i < 20; i++) {
		/* When all carriers sleep, none of them searches. */
		while ((word = fib_load(&s.idle.word)) >> 16 < 4)
			sched_yield();
		assert_int_equal(word, 4u << 16);
		join(carriers_spawn(&s, "caller", calls_together, NULL));
	}
	carriers_stop(&s);
}

/* -- fewer CPUs than carriers -- */

static unsigned sleepers(void)
{
	return fib_load(&s.idle.word) >> 16;
}

static _Atomic unsigned fewest_sleepers;

/* Long enough for its like, which are queued behind it, to be stolen. */
static void *looks_around(void *arg)
{
	const int64_t until = fib_os_now() + 100000;

	do {
		const unsigned now = sleepers();

		if (now < fib_load(&fewest_sleepers))
			fib_store(&fewest_sleepers, now);
	} while (fib_os_now() < until);
	return arg;
}

static void *spawns_many(void *arg)
{
	struct fiber *f[8];
	unsigned round, i;

	for (round = 0; round < 100; round++) {
		for (i = 0; i < 8; i++)
			must(fiber_spawn(looks_around, NULL, &f[i]) == 0);
		for (i = 0; i < 8; i++)
			must(fiber_join(f[i], NULL, FIBER_FOREVER) == 0);
	}
	return arg;
}

static void test_idle_no_more_carriers_are_woken_than_may_be_awake(void **state)
{
	(void)state;
	carriers_start(&s, 4);
	await_sleep();
	fib_store(&s.idle.most, 2);
	fib_store(&fewest_sleepers, 4);
	join(carriers_spawn(&s, "busy", spawns_many, NULL));
	assert_int_equal(fib_load(&fewest_sleepers), 2);
	carriers_stop(&s);
}

static void *computes_until_told(void *arg)
{
	while (!fib_load((_Atomic unsigned *)arg))
		sched_yield();
	return NULL;
}

static void test_idle_carrier_of_a_bound_fiber_is_woken_though_enough_are_awake(void **state)
{
	static _Atomic unsigned told;
	struct fiber *busy, *bound[2];

	(void)state;
	carriers_start(&s, 2);
	await_sleep();
	fib_store(&s.idle.most, 1);
	busy = carriers_spawn(&s, "busy", computes_until_told, &told);
	while (fiber_state(busy) != FIBER_RUNNING)
		sched_yield();
	/* One of them is bound to the other carrier. */
	bound[0] = carriers_spawn_flags(&s, "bound", FIBER_BOUND, nothing, NULL);
	bound[1] = carriers_spawn_flags(&s, "bound", FIBER_BOUND, nothing, NULL);
	while (fiber_state(bound[0]) != FIBER_DEAD && fiber_state(bound[1]) != FIBER_DEAD)
		sched_yield();
	fib_store(&told, 1);
	join(bound[0]);
	join(bound[1]);
	join(busy);
	carriers_stop(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_idle_carriers_all_go_to_sleep_one_of_them_in_the_poller),
		cmocka_unit_test(test_idle_carriers_are_woken_for_every_fiber),
		cmocka_unit_test(test_idle_who_finds_work_wakes_the_next_until_all_work),
		cmocka_unit_test(test_idle_a_burst_from_outside_reaches_all_carriers),
		cmocka_unit_test(test_idle_wakes_the_carrier_a_fiber_is_bound_to),
		cmocka_unit_test(test_idle_sleep_ends_at_the_nearest_deadline_wherever_one_sleeps),
		cmocka_unit_test(test_idle_sleeper_in_the_poller_delivers_what_is_ready),
		cmocka_unit_test(test_idle_poll_is_made_while_the_queue_is_hot),
		cmocka_unit_test(test_idle_hook_takes_the_pollers_place),
		cmocka_unit_test(test_idle_hook_that_fails_leaves_the_waiting_to_the_poller),
		cmocka_unit_test(
			test_idle_hook_that_comes_back_for_nothing_does_not_get_its_carrier_up),
		cmocka_unit_test(test_idle_word_counts_everybody_once),
		cmocka_unit_test(test_idle_no_more_carriers_are_woken_than_may_be_awake),
		cmocka_unit_test(
			test_idle_carrier_of_a_bound_fiber_is_woken_though_enough_are_awake),
	};

	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
