/* SPDX-License-Identifier: MIT */
/*
 * test_sole.c - who is the sole user of objects, and that other threads may come at any moment
 *
 * The sole use ends once in a process, so each case is a child process. Where it is not possible
 * (sanitizers, other instruction sets), the cases show that no thread is ever the sole user.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fiber.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/parker.h"
#include "core/sole.h"
#include "tests/harness/watchdog.h"
#include "wait/wait.h"

#define TURNS  20000
#define ROUNDS 60
#define LIMIT  30 /* s */

static const struct fiber_runtime_options one = {
	.size = sizeof one, .carriers = 1, .control_path = ""};
static const struct fiber_runtime_options two = {
	.size = sizeof two, .carriers = 2, .control_path = ""};

/* Run it in a child, which must return 0. */
static void in_a_child(int (*fn)(unsigned), unsigned arg)
{
	int status = -1;
	const pid_t child = fork();

	assert_true(child >= 0);
	if (!child) {
		alarm(LIMIT);
		_exit(fn(arg));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* Whether the caller is the sole user, or cannot be. */
static bool sole(void)
{
	return fib_load(&fib_sole.user) == fib_sole_thread() || !FIB_SOLE_POSSIBLE;
}

static bool shared(void)
{
	return fib_load(&fib_sole.user) == FIB_SOLE_SHARED;
}

static struct fiber_mutex mutex;

static void use(void)
{
	fiber_mutex_lock(&mutex, FIBER_FOREVER);
	fiber_mutex_unlock(&mutex);
}

static void *use_on_a_thread(void *arg)
{
	use();
	return arg;
}

static void *is_sole_until_a_thread_comes(void *arg)
{
	pthread_t thread;
	bool before, after;

	use();
	before = sole() && (!FIB_SOLE_POSSIBLE || !shared());
	if (pthread_create(&thread, NULL, use_on_a_thread, NULL))
		return arg;
	while (!shared())
		fiber_yield();
	pthread_join(thread, NULL);
	after = shared();
	use();
	return before && after ? NULL : arg;
}

static int one_carrier(unsigned arg)
{
	struct fiber_result result = {NULL, 1};

	(void)arg;
	return fiber_run(is_sole_until_a_thread_comes, &mutex, &one, &result) || result.value;
}

static void test_sole_is_one_carrier_until_another_thread_uses_an_object(void **state)
{
	(void)state;
	in_a_child(one_carrier, 0);
}

static void *is_not_sole(void *arg)
{
	use();
	return !FIB_SOLE_POSSIBLE || shared() ? NULL : arg;
}

static int two_carriers(unsigned arg)
{
	struct fiber_result result = {NULL, 1};

	(void)arg;
	return fiber_run(is_not_sole, &mutex, &two, &result) || result.value;
}

static int used_before(unsigned arg)
{
	struct fiber_result result = {NULL, 1};

	(void)arg;
	use();
	return fiber_run(is_not_sole, &mutex, &one, &result) || result.value;
}

static void test_sole_is_no_carrier_of_two_or_after_a_thread(void **state)
{
	(void)state;
	in_a_child(two_carriers, 0);
	in_a_child(used_before, 0);
}

static void *locks_without_time(void *arg)
{
	return fiber_mutex_lock(&mutex, 0) == 0 && fiber_mutex_unlock(&mutex) == 0 ? NULL : arg;
}

static int first_lock(unsigned arg)
{
	struct fiber_result result = {NULL, 1};

	return fiber_run(locks_without_time, &mutex, arg == 1 ? &one : &two, &result) ||
	       result.value;
}

/* The lock that ends the first state of all must not take the mutex for held. */
static void test_sole_first_lock_of_a_process_needs_no_time(void **state)
{
	(void)state;
	in_a_child(first_lock, 1);
	in_a_child(first_lock, 2);
}

static void *is_sole(void *arg)
{
	use();
	return sole() ? NULL : arg;
}

static int one_after_another(unsigned arg)
{
	struct fiber_result result = {NULL, 1};

	(void)arg;
	for (int i = 0; i < 3; i++)
		if (fiber_run(is_sole, &mutex, &one, &result) || result.value)
			return 1;
	return 0;
}

static void test_sole_is_each_of_several_runtimes_one_after_another(void **state)
{
	(void)state;
	in_a_child(one_after_another, 0);
}

static _Atomic int in_use, aborted;

static void *is_sole_after_the_abort(void *arg)
{
	use();
	fib_store(&in_use, 1);
	while (!fib_load(&aborted))
		fiber_yield();
	return sole() ? NULL : arg;
}

/* As fiber_join() does in a thread if the fiber ends between its two looks. */
static int thread_aborts(unsigned arg)
{
	struct fiber_result result = {NULL, 1};
	struct fiber_runtime *rt;
	struct fiber *fiber;
	struct fib_waiter w;

	(void)arg;
	if (fiber_runtime_start(&one, &rt) ||
	    fiber_runtime_spawn(rt, NULL, is_sole_after_the_abort, &mutex, &fiber))
		return 1;
	while (!fib_load(&in_use))
		sched_yield();
	if (fib_wait_begin(&w, FIB_WAIT_JOIN, fiber, 0, FIBER_FOREVER))
		return 1;
	fib_wait_abort(&w);
	fib_store(&aborted, 1);
	return fiber_join(fiber, &result, FIBER_FOREVER) || result.value ||
	       fiber_runtime_finish(rt, FIBER_FOREVER) || fib_parker_outcome(&w.own);
}

static void test_sole_does_not_end_when_a_thread_need_not_wait(void **state)
{
	(void)state;
	in_a_child(thread_aborts, 0);
}

static void *forks(void *arg)
{
	struct fiber_result result = {NULL, 1};
	int status = -1;
	pid_t child;

	use();
	child = fork();
	if (!child) {
		/* A plain thread now: its parent's carrier does not exist here. */
		alarm(LIMIT);
		use();
		_exit(fiber_run(is_not_sole, &mutex, &one, &result) || result.value);
	}
	return waitpid(child, &status, 0) == child && status == 0 && sole() ? NULL : arg;
}

static int forked(unsigned arg)
{
	struct fiber_result result = {NULL, 1};

	(void)arg;
	return fiber_run(forks, &mutex, &one, &result) || result.value;
}

static void test_sole_is_not_inherited_by_a_child(void **state)
{
	(void)state;
	in_a_child(forked, 0);
}

static void test_sole_sections_nest(void **state)
{
	(void)state;
	if (!FIB_SOLE_POSSIBLE)
		return;
	fib_store(&fib_sole.user, FIB_SOLE_UNUSED);
	assert_ptr_equal(fib_sole_begin(), &fib_sole.mark);
	assert_null(fib_sole_begin());
	assert_true(sole());
	assert_int_equal(fib_sole_enter(), 1);
	assert_int_equal(fib_sole_enter(), 2); /* a signal handler */
	fib_sole_leave(2);
	assert_int_equal(fib_load(&fib_sole.inside), 1);
	/* In a handler, while another thread ends it: no wait, and no section. */
	fib_store(&fib_sole.user, FIB_SOLE_ENDING);
	assert_int_equal(fib_sole_enter(), 0);
	fib_sole_leave(1);
	assert_int_equal(fib_load(&fib_sole.inside), 0);
	fib_store(&fib_sole.user, fib_sole_thread());
	assert_true(fib_load(&fib_sole.mark.alone));
	fib_sole_finish();
	assert_false(fib_load(&fib_sole.mark.alone));
	assert_int_equal(fib_load(&fib_sole.user), FIB_SOLE_UNUSED);
}

static void test_sole_swap_changes_only_what_is_expected(void **state)
{
	struct fib_sole_mark mark = {0, 0};
	_Atomic uint64_t word = 5;

	(void)state;
	assert_int_equal(fib_sole_swap64(NULL, &word, 5, 6), -1);
	assert_int_equal(fib_sole_swap64(&mark, &word, 5, 6), -1);
	assert_null(fib_sole_still(NULL));
	assert_null(fib_sole_still(&mark));
	fib_store(&mark.alone, 1);
	assert_ptr_equal(fib_sole_still(&mark), &mark);
	assert_int_equal(fib_sole_swap64(&mark, &word, 6, 7), 0);
	assert_int_equal(fib_load(&word), 5);
	assert_int_equal(fib_sole_swap64(&mark, &word, 5, 6), 1);
	assert_int_equal(fib_load(&word), 6);
	assert_int_equal(fib_load(&mark.inside), 0);
}

/* -- a thread comes while two fibers use a mutex, a condition, semaphores and a channel -- */

static struct fiber_cond turned;
static struct fiber_sem units;
static struct fiber_chan *numbers;
static long entries, turn;  /* under the mutex */
static long sent, received; /* of their fiber or thread; read at the end */

static void enter(void)
{
	fiber_mutex_lock(&mutex, FIBER_FOREVER);
	entries++;
	fiber_mutex_unlock(&mutex);
}

static void *take_turns(void *arg)
{
	const long me = arg != NULL;

	for (long i = 0; i < TURNS; i++) {
		fiber_mutex_lock(&mutex, FIBER_FOREVER);
		while (turn != me)
			fiber_cond_wait(&turned, &mutex, FIBER_FOREVER);
		turn = !me;
		entries++;
		fiber_cond_signal(&turned);
		fiber_mutex_unlock(&mutex);
		fiber_sem_wait(&units, FIBER_FOREVER);
		enter();
		fiber_sem_post(&units);
	}
	return NULL;
}

static void *send_numbers(void *arg)
{
	for (long i = 1; i <= TURNS; i++) {
		fiber_chan_send(numbers, &i, FIBER_FOREVER);
		sent += i;
	}
	return arg;
}

static void *receive_numbers(void *arg)
{
	long number;

	while (!fiber_chan_recv(numbers, &number, FIBER_FOREVER))
		received += number;
	return arg;
}

static unsigned when; /* us until the thread comes */

static void *comes_late(void *arg)
{
	long number = 1000000;

	usleep(when);
	for (long i = 0; i < 1000; i++) {
		enter();
		fiber_sem_wait(&units, FIBER_FOREVER);
		enter();
		fiber_sem_post(&units);
		if (i % 100 == 0)
			fiber_chan_send(numbers, &number, FIBER_FOREVER);
	}
	return arg;
}

static void *meet(void *arg)
{
	struct fiber *fibers[3], *receiver;
	pthread_t thread;

	fiber_chan_new(sizeof(long), when % 3, &numbers);
	fiber_sem_init(&units, 1);
	pthread_create(&thread, NULL, comes_late, NULL);
	fiber_spawn(take_turns, NULL, &fibers[0]);
	fiber_spawn(take_turns, &mutex, &fibers[1]);
	fiber_spawn(send_numbers, NULL, &fibers[2]);
	fiber_spawn(receive_numbers, NULL, &receiver);
	for (int i = 0; i < 3; i++)
		fiber_join(fibers[i], NULL, FIBER_FOREVER);
	while (pthread_tryjoin_np(thread, NULL))
		fiber_sleep_until(fiber_after(100000));
	fiber_chan_close(numbers);
	fiber_join(receiver, NULL, FIBER_FOREVER);
	fiber_chan_unref(numbers);
	return entries == 4 * TURNS + 2000 && received == sent + 10 * 1000000 ? NULL : arg;
}

static int meeting(unsigned arg)
{
	struct fiber_result result = {NULL, 1};

	when = arg;
	return fiber_run(meet, &mutex, &one, &result) || result.value;
}

static void test_sole_race_of_a_thread_that_comes_loses_nothing(void **state)
{
	(void)state;
	srandom(1);
	for (unsigned i = 0; i < ROUNDS; i++)
		in_a_child(meeting, (unsigned)random() % 4000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sole_is_one_carrier_until_another_thread_uses_an_object),
		cmocka_unit_test(test_sole_is_no_carrier_of_two_or_after_a_thread),
		cmocka_unit_test(test_sole_first_lock_of_a_process_needs_no_time),
		cmocka_unit_test(test_sole_is_each_of_several_runtimes_one_after_another),
		cmocka_unit_test(test_sole_does_not_end_when_a_thread_need_not_wait),
		cmocka_unit_test(test_sole_is_not_inherited_by_a_child),
		cmocka_unit_test(test_sole_race_of_a_thread_that_comes_loses_nothing),
		cmocka_unit_test(test_sole_sections_nest),
		cmocka_unit_test(test_sole_swap_changes_only_what_is_expected),
	};

	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
