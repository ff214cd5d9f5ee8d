/* SPDX-License-Identifier: MIT */
/* test_offload.c - an offloaded call runs once, on a thread made on demand that exits when idle */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fiber/io.h>

#include "base/atomic.h"
#include "life/offload.h"
#include "tests/harness/child.h"
#include "tests/harness/paths.h"
#include "tests/harness/watchdog.h"
#include "tests/unit/sched/carriers.h"

#define MS INT64_C(1000000)

static void *tid_of(void *arg)
{
	uint32_t *tid = arg;

	*tid = fib_os_tid();
	return tid;
}

static void *elsewhere(void *arg)
{
	uint32_t tid = 0;
	void *ret = NULL;

	(void)arg;
	must(fiber_block(tid_of, &tid, &ret, FIBER_FOREVER) == 0);
	must(ret == &tid);
	must(tid && tid != fib_os_tid());
	must(fiber_block(tid_of, &tid, NULL, FIBER_FOREVER) == 0);
	return NULL;
}

static void test_offload_runs_on_another_thread_and_returns_what_that_returned(void **state)
{
	uint32_t tid = 0;

	(void)state;
	prove(1, elsewhere, NULL);
	/* The call comes from a plain thread. */
	assert_int_equal(fiber_block(tid_of, &tid, NULL, FIBER_FOREVER), 0);
	assert_true(tid && tid != fib_os_tid());
}

/* A gate: calls block in it until it is opened. */
struct gate {
	_Atomic unsigned inside, passed;
	_Atomic uint32_t open;
};

static void *go_through(void *arg)
{
	struct gate *g = arg;

	fib_add(&g->inside, 1);
	while (!fib_load_acquire(&g->open))
		fib_os_futex_wait(&g->open, 0, INT64_MAX);
	fib_add(&g->passed, 1);
	return g;
}

static void open_gate(struct gate *g)
{
	fib_store_release(&g->open, 1);
	fib_os_futex_wake(&g->open, INT32_MAX);
}

static void *offload_gate(void *arg)
{
	return (void *)(intptr_t)fiber_block(go_through, arg, NULL, FIBER_FOREVER);
}

/* The thread that runs the call that f waits for, as a reader finds it; 0: none. */
static uint64_t worker_of(const struct fiber *f)
{
	const _Atomic uint64_t *at =
		(const _Atomic uint64_t *)(uintptr_t)(f->wait_arg + fiber_registry.worker.offset);

	return fib_load(at);
}

/* Whether all calls but so many have a thread, each another one. */
static bool have_threads(struct fiber *const *f, unsigned n, unsigned without)
{
	unsigned i, k, none = 0;

	for (i = 0; i < n; i++) {
		const uint64_t worker = worker_of(f[i]);

		none += !worker;
		for (k = 0; worker && k < i; k++)
			if (worker_of(f[k]) == worker || !(worker & FIB_HOLDER_THREAD))
				return false;
	}
	return none == without;
}

static void *many(void *arg)
{
	struct gate *g = arg;
	struct fiber *f[FIB_OFFLOAD_THREADS_MAX + 20];
	struct fiber_result r;
	unsigned i;

	for (i = 0; i < fib_countof(f); i++)
		must(fiber_spawn(offload_gate, g, &f[i]) == 0);
	/* The only carrier stays free. */
	while (fib_load(&g->inside) < FIB_OFFLOAD_THREADS_MAX)
		fiber_sleep(MS / 10);
	for (i = 0; i < fib_countof(f); i++) {
		while (fiber_state(f[i]) != FIBER_SUSPENDED)
			fiber_yield();
		must(fib_load(&f[i]->wait_kind) == FIB_WAIT_OFFLOAD);
		must(f[i]->wait_object == (uint64_t)(uintptr_t)go_through);
	}
	must(fiber_registry.worker.size == sizeof(uint64_t));
	must(have_threads(f, fib_countof(f), 20));
	must(fib_offload_threads() == FIB_OFFLOAD_THREADS_MAX);
	must(fib_load(&g->inside) == FIB_OFFLOAD_THREADS_MAX);
	must(fib_observe(&fiber_registry.offload_threads) == FIB_OFFLOAD_THREADS_MAX);
	must(fib_observe(&fiber_registry.offload_queued) == 20);
	must(fib_observe(&fiber_registry.offload_since) != 0);
	must(fib_observe(&fiber_registry.offload_since) <= (uint64_t)fib_coarse_now());
	open_gate(g);
	for (i = 0; i < fib_countof(f); i++) {
		must(fiber_join(f[i], &r, FIBER_FOREVER) == 0);
		must(!r.value);
	}
	must(fib_load(&g->passed) == fib_countof(f));
	must(fib_observe(&fiber_registry.offload_queued) == 0);
	must(fib_observe(&fiber_registry.offload_since) == 0);
	return NULL;
}

static void test_offload_grows_to_its_limit_and_the_rest_take_turns(void **state)
{
	struct gate g = {0};

	(void)state;
	prove(1, many, &g);
}

static void *impatient(void *arg)
{
	struct gate *g = arg;
	void *ret = &ret;

	must(fiber_block(go_through, &g[0], &ret, fiber_after(2 * MS)) == -ETIMEDOUT);
	must(ret == &ret);
	/* An expired deadline: the call starts anyway. */
	must(fiber_block(go_through, &g[0], &ret, 0) == -ETIMEDOUT);
	must(ret == &ret);
	return NULL;
}

static void test_offload_goes_on_when_its_caller_gave_up(void **state)
{
	struct gate g = {0};

	(void)state;
	prove(1, impatient, &g);
	assert_int_equal(fiber_block(go_through, &g, NULL, fiber_after(2 * MS)), -ETIMEDOUT);
	/* The calls continue although the runtime is gone. */
	while (fib_load(&g.inside) < 3)
		fib_os_yield();
	assert_int_equal(fib_load(&g.passed), 0);
	open_gate(&g);
	while (fib_load(&g.passed) < 3)
		fib_os_yield();
}

static void *cancelled_caller(void *arg)
{
	struct gate *g = arg;
	struct fiber *f;
	struct fiber_result r;

	must(fiber_spawn(offload_gate, g, &f) == 0);
	while (fib_load(&g->inside) < 1)
		fiber_sleep(MS / 10);
	fiber_cancel(f);
	must(fiber_join(f, &r, FIBER_FOREVER) == 0);
	must((intptr_t)r.value == -ECANCELED);
	return NULL;
}

static void test_offload_goes_on_when_its_caller_is_cancelled(void **state)
{
	struct gate g = {0};

	(void)state;
	prove(1, cancelled_caller, &g);
	open_gate(&g);
	while (fib_load(&g.passed) < 1)
		fib_os_yield();
}

static void *firm_caller(void *arg)
{
	return (void *)(intptr_t)fib_offload_uncancellable(go_through, arg, fiber_after(MS));
}

static void *firm_caller_cancelled(void *arg)
{
	fiber_cancel(fiber_self());
	return (void *)(intptr_t)fib_offload_uncancellable(go_through, arg, FIBER_FOREVER);
}

static void *firm_calls(void *arg)
{
	struct gate *g = arg;
	struct fiber_result r;
	struct fiber *f;

	/* Once it has started neither the deadline nor a cancellation ends it. */
	must(fiber_spawn(firm_caller, g, &f) == 0);
	while (fib_load(&g->inside) < 1)
		fiber_sleep(MS / 10);
	fiber_sleep(2 * MS);
	must(fiber_cancel(f) == 0);
	must(fiber_join(f, NULL, fiber_after(2 * MS)) == -ETIMEDOUT);
	open_gate(g);
	must(fiber_join(f, &r, FIBER_FOREVER) == 0);
	must(!r.value);
	/* Before the start, a deadline and a cancellation end the call, and nothing is started. */
	must(fib_offload_uncancellable(go_through, g, 0) == -ETIMEDOUT);
	must(fiber_spawn(firm_caller_cancelled, g, &f) == 0);
	must(fiber_join(f, &r, FIBER_FOREVER) == 0);
	must((intptr_t)r.value == -ECANCELED);
	must(fib_load(&g->inside) == 1);
	return NULL;
}

static void test_offload_that_is_firm_ends_with_the_call_and_nothing_else(void **state)
{
	static struct gate g;

	(void)state;
	prove(1, firm_calls, &g);
}

static void *quick(void *arg)
{
	fib_add((_Atomic unsigned *)arg, 1);
	return arg;
}

static void *race_deadline(void *arg)
{
	_Atomic unsigned *done = arg;
	intptr_t answered = 0;

	for (int i = 0; i < 500; i++) {
		void *ret = NULL;
		int rc = fiber_block(quick, done, &ret, fiber_after(i % 50 * 1000));

		must(rc == 0 ? ret == done : rc == -ETIMEDOUT && !ret);
		answered += rc == 0;
	}
	return NULL;
}

static void *race_deadlines(void *arg)
{
	struct fiber *f[8];
	struct fiber_result r;

	for (unsigned i = 0; i < 8; i++)
		must(fiber_spawn(race_deadline, arg, &f[i]) == 0);
	for (unsigned i = 0; i < 8; i++) {
		must(fiber_join(f[i], &r, FIBER_FOREVER) == 0);
		if (r.value)
			return r.value;
	}
	return NULL;
}

static void test_offload_and_deadline_that_come_together_agree(void **state)
{
	_Atomic unsigned done = 0;

	(void)state;
	prove(2, race_deadlines, &done);
	/* Every call was made, also those whose caller timed out. */
	while (fib_load(&done) < 4000)
		fib_os_yield();
	assert_int_equal(fib_load(&done), 4000);
}

static void *pinned(void *arg)
{
	struct fib_pinned *p = &fiber_self()->sched->pinned;
	uint32_t tid = 0;

	(void)arg;
	fiber_pin();
	must(fiber_block(tid_of, &tid, NULL, FIBER_FOREVER) == 0);
	must(tid && tid != fib_os_tid());
	tid = 0;
	fib_store(&p->policy, FIBER_PINNED_ERROR);
	must(fiber_block(tid_of, &tid, NULL, FIBER_FOREVER) == -EDEADLK);
	must(!tid);
	fiber_unpin();
	return NULL;
}

static void test_offload_of_a_pinned_fiber_follows_the_policy(void **state)
{
	(void)state;
	prove(1, pinned, NULL);
}

static void *blocked_signals(void *arg)
{
	sigset_t now;

	pthread_sigmask(SIG_SETMASK, NULL, &now);
	*(int *)arg = sigismember(&now, SIGTERM) && sigismember(&now, SIGINT) &&
		      !sigismember(&now, SIGSEGV);
	return NULL;
}

static void test_offload_leaves_signals_to_the_program(void **state)
{
	int well = 0;

	(void)state;
	assert_int_equal(fiber_block(blocked_signals, &well, NULL, FIBER_FOREVER), 0);
	assert_int_equal(well, 1);
}

static int block_without_threads(void *arg)
{
	struct gate g = {0};
	pthread_t last, other;
	uint32_t tid = 0;
	int rc;

	(void)arg;
	fib_offload_forget(); /* no threads, as in the child of a program that handles forks */
	harness_limit_space(64 << 20);
	/* Use up all of libc's room for stacks. */
	if (pthread_create(&last, NULL, go_through, &g))
		return 1;
	while (!pthread_create(&other, NULL, go_through, &g))
		;
	rc = fiber_block(tid_of, &tid, NULL, FIBER_FOREVER);
	if (rc != -EAGAIN || tid || fib_offload_threads())
		return 2;
	/* When there is room for a thread again, calls work again. */
	open_gate(&g);
	pthread_join(last, NULL);
	rc = fiber_block(tid_of, &tid, NULL, FIBER_FOREVER);
	return rc == 0 && tid ? 0 : 3;
}

static void test_offload_without_a_thread_fails_and_leaves_nothing_behind(void **state)
{
	struct harness_child child;

	(void)state;
	if (*harness_sanitizer())
		skip(); /* sanitizers: address space cannot be limited, no threads after a fork */
	harness_child(block_without_threads, NULL, 60, &child);
	assert_int_equal(child.signal, 0);
	assert_int_equal(child.code, 0);
}

static void test_offload_threads_end_when_they_had_nothing_to_do_for_long(void **state)
{
	int64_t limit = fiber_after(LIMIT_S * 1000 * MS);
	uint32_t tid;

	(void)state;
	assert_int_equal(fiber_block(tid_of, &tid, NULL, FIBER_FOREVER), 0);
	assert_true(fib_offload_threads() > 0);
	while (fib_offload_threads() && fiber_now() < limit)
		fiber_sleep(20 * MS);
	assert_int_equal(fib_offload_threads(), 0);
	/* New threads start again. */
	assert_int_equal(fiber_block(tid_of, &tid, NULL, FIBER_FOREVER), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_offload_runs_on_another_thread_and_returns_what_that_returned),
		cmocka_unit_test(test_offload_grows_to_its_limit_and_the_rest_take_turns),
		cmocka_unit_test(test_offload_goes_on_when_its_caller_gave_up),
		cmocka_unit_test(test_offload_goes_on_when_its_caller_is_cancelled),
		cmocka_unit_test(test_offload_that_is_firm_ends_with_the_call_and_nothing_else),
		cmocka_unit_test(test_offload_and_deadline_that_come_together_agree),
		cmocka_unit_test(test_offload_of_a_pinned_fiber_follows_the_policy),
		cmocka_unit_test(test_offload_leaves_signals_to_the_program),
		cmocka_unit_test(test_offload_without_a_thread_fails_and_leaves_nothing_behind),
		cmocka_unit_test(test_offload_threads_end_when_they_had_nothing_to_do_for_long),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
