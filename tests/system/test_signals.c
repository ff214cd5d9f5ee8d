/* SPDX-License-Identifier: MIT */
/*
 * test_signals.c - which signals carriers take, and what a handler may call at any moment
 *
 * Carriers leave the program's signals to its own threads. The few signals that they take may come
 * during a switch, a queue operation or an allocation. So they are sent to every carrier while
 * fibers use everything that changes state, and the handler makes all calls that libfiber(7) allows
 * there.
 */
#include "carriers.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#define CHURN 6

static struct fiber_runtime *rt;
static struct fiber_mutex shared;
static struct fiber_snapshot *snapshot;
static _Atomic bool stop;

/* -- what is blocked -- */

static void *ask_mask(void *arg)
{
	pthread_sigmask(SIG_BLOCK, NULL, arg);
	return arg;
}

static void test_carriers_block_all_signals_but_faults(void **state)
{
	static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
	static const int others[] = {SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGCHLD, SIGPIPE};
	sigset_t mask;

	(void)state;
	carriers_run(ask_mask, &mask);
	for (size_t i = 0; i < COUNT(faults); i++)
		assert_int_equal(sigismember(&mask, faults[i]), 0);
	for (size_t i = 0; i < COUNT(others); i++)
		assert_int_equal(sigismember(&mask, others[i]), 1);
}

/* -- what a handler may call -- */

static _Atomic unsigned handled, in_fibers, wrong;
static int nowhere; /* /dev/null */

static int count_some(const struct fiber_info *info, void *arg)
{
	const char *key, *value;
	size_t at = 0;

	while (fiber_info_label(info, &at, &key, &value))
		;
	return ++*(unsigned *)arg == 5;
}

/* A handler cannot print: it stores the line of the failed check. */
static void expect_at(bool what, unsigned line)
{
	if (!what)
		wrong = line;
}
#define expect(what) expect_at(what, __LINE__)

static void on_signal(int number)
{
	const struct fiber *self = fiber_self();
	unsigned seen = 0;

	(void)number;
	if (self) {
		in_fibers++;
		expect(fiber_id(self) > 0);
		expect(strlen(fiber_name(self)) < 32);
		expect(fiber_state(self) <= FIBER_DEAD);
		expect(fiber_can_yield());
	}
	expect(fiber_runtime_self() == rt);
	expect(!fiber_runtime_done(rt));
	expect(fiber_runtime_fd(rt) >= 0);
	expect(fiber_set_pinned_policy(rt, FIBER_PINNED_SILENT) == 0);
	expect(fiber_pinned_policy(rt) == FIBER_PINNED_SILENT);
	/* The carrier may be without a CPU for long between the two calls. */
	expect(fiber_after(FIBER_FOREVER / 2) > fiber_now());
	expect(fiber_foreach(rt, count_some, &seen) <= 1 && seen > 0);
	expect(fiber_snapshot_count(snapshot) > 0);
	if (handled % 16 == 0)
		expect(fiber_dump(nowhere) > 0);
	handled++;
}

static void *brief(void *arg)
{
	fiber_label("brief", "yes");
	fiber_mutex_lock(&shared, FIBER_FOREVER);
	fiber_yield();
	fiber_mutex_unlock(&shared);
	fiber_sleep(1000);
	return arg;
}

static void *churn(void *arg)
{
	while (!stop) {
		struct fiber *fibers[4];
		size_t i, n = 0;

		for (i = 0; i < COUNT(fibers); i++)
			n += fiber_spawn(brief, NULL, &fibers[n]) == 0;
		for (i = 0; i < n; i++)
			fiber_join(fibers[i], NULL, FIBER_FOREVER);
	}
	return arg;
}

static void *say_thread(void *arg)
{
	*(pthread_t *)arg = pthread_self();
	return arg;
}

/* Bound fibers are distributed over the carriers: n successive ones are on n carriers. */
static void find_carriers(pthread_t threads[])
{
	const struct fiber_attr attr = {.size = sizeof attr, .flags = FIBER_BOUND};

	for (unsigned i = 0; i < carriers(); i++) {
		struct fiber *fiber = NULL;

		assert_int_equal(fiber_runtime_spawn(rt, &attr, say_thread, &threads[i], &fiber),
				 0);
		assert_int_equal(fiber_join(fiber, NULL, FIBER_FOREVER), 0);
	}
}

static void send_to(pthread_t thread)
{
	unsigned before = handled;

	pthread_kill(thread, SIGILL);
	while (handled == before)
		sched_yield();
}

static void test_a_handler_may_call_what_the_manual_says(void **state)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_RESTART};
	struct sigaction before;
	struct fiber *churners[CHURN];
	pthread_t threads[256];

	(void)state;
	/* TSan delays handlers of external signals and never runs them in a carrier. */
	if (!strcmp(harness_sanitizer(), "thread"))
		skip();
	nowhere = open("/dev/null", O_WRONLY);
	assert_true(nowhere >= 0);
	rt = carriers_start();
	find_carriers(threads);
	for (size_t i = 0; i < CHURN; i++)
		assert_int_equal(fiber_runtime_spawn(rt, NULL, churn, NULL, &churners[i]), 0);
	while (fiber_snapshot(rt, &snapshot) == 0 && fiber_snapshot_count(snapshot) == 0)
		fiber_snapshot_free(snapshot);
	sigaction(SIGILL, &action, &before);
	for (size_t i = 0; i < 400 || (in_fibers < 10 && i < 100000); i++)
		send_to(threads[i % carriers()]);
	sigaction(SIGILL, &before, NULL);
	stop = true;
	for (size_t i = 0; i < CHURN; i++)
		assert_int_equal(fiber_join(churners[i], NULL, FIBER_FOREVER), 0);
	fiber_snapshot_free(snapshot);
	carriers_finish(rt);
	close(nowhere);
	assert_int_equal(wrong, 0);
	assert_true(in_fibers >= 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_carriers_block_all_signals_but_faults),
		cmocka_unit_test(test_a_handler_may_call_what_the_manual_says),
	};

	harness_watchdog(100);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
