/* SPDX-License-Identifier: MIT */
/*
 * test_tls.c - the thread-local gives the current thread's value, also after a move between threads
 *
 * The compiler may keep the address of a thread-local across a call. A context that reads the
 * variable before and after a switch in one function, and is resumed by another thread, must get
 * the other thread's value. That is the only purpose of tls.c.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>
#include <signal.h>

#include "base/tls.h"
#include "context/context.h"
#include "stack/pool.h"
#include "tests/harness/watchdog.h"

struct side {
	struct fib_context context;
	struct fib_announce announce;
	_Atomic uint64_t left;
};

static struct side wanderer, home; /* home: the thread that currently runs the wanderer */
static void *seen[4];

static void wander(void *arg)
{
	(void)arg;
	fib_context_begun(&wanderer.announce);
	seen[0] = fib_tls_carrier();
	fib_context_switch(&wanderer.context, &wanderer.announce, &home.context, &home.announce,
			   &wanderer.left);
	seen[1] = fib_tls_carrier();
	fib_tls_set_carrier(&seen[1]);
	seen[2] = fib_tls_carrier();
	fib_context_switch(&wanderer.context, &wanderer.announce, &home.context, &home.announce,
			   &wanderer.left);
	seen[3] = fib_tls_carrier();
	fib_context_leave(&wanderer.announce, &home.context, &home.announce);
}

/* Let the wanderer run on this thread until it switches back. */
static void host(void)
{
	fib_context_adopt(&home.context, &home.announce);
	fib_context_switch(&home.context, &home.announce, &wanderer.context, &wanderer.announce,
			   &home.left);
	fib_context_done(&home.announce);
}

static void *host_elsewhere(void *arg)
{
	void *after;

	fib_tls_set_carrier(arg);
	host();
	after = fib_tls_carrier();
	return after;
}

static void test_tls_is_the_threads_that_runs_the_context_now(void **state)
{
	int here, there;
	struct fib_stack stack;
	pthread_t thread;
	void *after;

	(void)state;
	assert_int_equal(fib_stack_take(NULL, FIB_STACK_DEFAULT, &stack), 0);
	assert_int_equal(fib_context_init(&wanderer.context, &wanderer.announce, stack.low,
					  fib_stack_usable(&stack), wander, NULL),
			 0);
	fib_tls_set_carrier(&here);
	host();
	pthread_create(&thread, NULL, host_elsewhere, &there);
	pthread_join(thread, &after);
	host();
	fib_context_done(&wanderer.announce);
	fib_stack_give(NULL, &stack);
	fib_tls_set_carrier(NULL);

	assert_ptr_equal(seen[0], &here);
	assert_ptr_equal(seen[1], &there);
	assert_ptr_equal(seen[2], &seen[1]);
	assert_ptr_equal(after, &seen[1]);
	assert_ptr_equal(seen[3], &here);
}

static void *ask(void *arg)
{
	(void)arg;
	return fib_tls_carrier();
}

static void test_tls_is_null_on_a_plain_thread(void **state)
{
	pthread_t thread;
	void *answer;
	int mine;

	(void)state;
	fib_tls_set_carrier(&mine);
	pthread_create(&thread, NULL, ask, NULL);
	pthread_join(thread, &answer);
	fib_tls_set_carrier(NULL);
	assert_null(answer);
}

static void *volatile in_handler;

static void on_signal(int number)
{
	(void)number;
	in_handler = fib_tls_carrier();
}

static void test_tls_can_be_asked_in_a_signal_handler(void **state)
{
	struct sigaction action = {.sa_handler = on_signal}, before;
	int mine;

	(void)state;
	fib_tls_set_carrier(&mine);
	sigaction(SIGUSR1, &action, &before);
	raise(SIGUSR1);
	sigaction(SIGUSR1, &before, NULL);
	fib_tls_set_carrier(NULL);
	assert_ptr_equal(in_handler, &mine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tls_is_the_threads_that_runs_the_context_now),
		cmocka_unit_test(test_tls_is_null_on_a_plain_thread),
		cmocka_unit_test(test_tls_can_be_asked_in_a_signal_handler),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
