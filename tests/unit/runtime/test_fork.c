/* SPDX-License-Identifier: MIT */
/* test_fork.c - what a process's runtimes share is consistent in a forked child, and its own */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fiber.h>

#include "base/atomic.h"
#include "core/registry.h"
#include "life/offload.h"
#include "runtime/runtime.h"
#include "stack/pool.h"
#include "tests/harness/paths.h"
#include "tests/harness/watchdog.h"
#include "watch/tick.h"

static const struct fiber_runtime_options two = {
	.size = sizeof two, .carriers = 2, .control_path = ""};

/* A lock that fork() must wait for: another thread holds it when fork() starts. */
struct holder {
	void (*lock)(void), (*unlock)(void);
	_Atomic int held, forking;
};

static void *hold(void *arg)
{
	struct holder *h = arg;

	h->lock();
	fib_store_release(&h->held, 1);
	while (!fib_load_acquire(&h->forking))
		usleep(100);
	/*
	 * Long enough for fork() to reach the lock; a shorter time tests less, but does not fail.
	 */
	usleep(20000);
	h->unlock();
	return NULL;
}

/* In the child: take every lock. If a lock was inherited as held, the alarm ends the child. */
static int locks_all(void)
{
	alarm(20);
	fib_tick_lock();
	fib_tick_unlock();
	fib_registry_lock();
	fib_registry_unlock();
	fib_stack_lock_pool();
	fib_stack_unlock_pool();
	fib_offload_lock();
	fib_offload_unlock();
	return 0;
}

static void forks_beside(struct holder *h)
{
	pthread_t thread;
	int status = -1;
	pid_t pid;

	if (strcmp(harness_sanitizer(), "thread") == 0)
		skip(); /* this sanitizer supports no fork of a program with threads */
	fib_fork_watch();
	assert_int_equal(pthread_create(&thread, NULL, hold, h), 0);
	while (!fib_load_acquire(&h->held))
		usleep(100);
	fib_store_release(&h->forking, 1);
	pid = fork();
	if (!pid)
		_exit(locks_all());
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	pthread_join(thread, NULL);
	assert_int_equal(status, 0);
	assert_int_equal(locks_all(), 0);
	alarm(0);
}

static void test_fork_waits_for_who_is_in_the_registry(void **state)
{
	struct holder h = {fib_registry_lock, fib_registry_unlock, 0, 0};

	(void)state;
	forks_beside(&h);
}

static void test_fork_waits_for_who_is_in_the_stack_pool(void **state)
{
	struct holder h = {fib_stack_lock_pool, fib_stack_unlock_pool, 0, 0};

	(void)state;
	forks_beside(&h);
}

static void test_fork_waits_for_who_is_in_the_list_of_schedulers(void **state)
{
	struct holder h = {fib_tick_lock, fib_tick_unlock, 0, 0};

	(void)state;
	forks_beside(&h);
}

static void test_fork_waits_for_who_hands_something_to_a_thread(void **state)
{
	struct holder h = {fib_offload_lock, fib_offload_unlock, 0, 0};

	(void)state;
	forks_beside(&h);
}

static void *nothing(void *arg)
{
	return arg;
}

static void test_fork_child_makes_offload_threads_of_its_own(void **state)
{
	int status = -1;
	pid_t pid;

	(void)state;
	if (*harness_sanitizer())
		skip(); /* sanitizers: no threads after a fork of a program with threads */
	fib_fork_watch();
	assert_int_equal(fiber_block(nothing, NULL, NULL, FIBER_FOREVER), 0);
	assert_int_equal(fib_offload_threads(), 1);
	pid = fork();
	if (!pid)
		_exit(fib_offload_threads()					   ? 1
		      : fiber_block(nothing, NULL, NULL, fiber_after(20000000000)) ? 2
										   : 0);
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(fib_offload_threads(), 1);
}

static void test_fork_child_has_no_scheduler_and_the_parent_keeps_its_own(void **state)
{
	struct fiber_runtime *rt;
	int status = -1;
	pid_t pid;

	(void)state;
	if (strcmp(harness_sanitizer(), "thread") == 0)
		skip();
	assert_int_equal(fiber_runtime_start(&two, &rt), 0);
	assert_int_equal(fib_tick_carriers(), 2);
	pid = fork();
	if (!pid)
		_exit(fib_tick_carriers() == 0 && fib_tick_policy() < 0 ? 0 : 1);
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(fib_tick_carriers(), 2);
	assert_int_equal(fiber_runtime_finish(rt, FIBER_FOREVER), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fork_waits_for_who_is_in_the_registry),
		cmocka_unit_test(test_fork_waits_for_who_is_in_the_stack_pool),
		cmocka_unit_test(test_fork_waits_for_who_is_in_the_list_of_schedulers),
		cmocka_unit_test(test_fork_waits_for_who_hands_something_to_a_thread),
		cmocka_unit_test(test_fork_child_makes_offload_threads_of_its_own),
		cmocka_unit_test(test_fork_child_has_no_scheduler_and_the_parent_keeps_its_own),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
