/* SPDX-License-Identifier: MIT */
/* test_thread_state.c - a thread is stopped while it is looked at, and continues unchanged */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness/inspect/head.h"
#include "inspect/process/thread_state.h"

/* Shared with the child: the counter that it increments. */
static _Atomic unsigned long *count;
static pid_t child;

static void counts(void)
{
	child = fork();
	if (child == 0) {
		for (;;)
			++*count;
	}
	while (!*count)
		;
}

static void ends(void)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

/* What look() saw. It runs on another thread, which must not assert. */
static bool still, whole;

static int look(void *context, const struct ins_thread_state *thread)
{
	unsigned long before = *count;

	(void)context;
	usleep(20000);
	still = *count == before;
	whole = thread->tid == child && thread->status.pr_pid == child && thread->registers.sp &&
		thread->registers.pc && thread->registers.known && thread->fpregs_size;
	return 7;
}

/* Take the child's state; check that it was stopped if look() ran. */
static int halted(void)
{
	int rc;

	still = whole = false;
	rc = ins_thread_state_take(child, look, NULL, NULL);
	assert_int_equal(still && whole, rc == 7);
	return rc;
}

static void goes_on(void)
{
	unsigned long before = *count;

	while (*count == before)
		;
}

static void test_thread_stands_still_and_goes_on(void **state)
{
	(void)state;
	counts();
	for (int i = 0; i < 5; i++) {
		assert_int_equal(halted(), 7);
		goes_on();
	}
	ends();
}

static void test_thread_that_was_stopped_stays_stopped(void **state)
{
	unsigned long before;
	int how;

	(void)state;
	counts();
	kill(child, SIGSTOP);
	assert_int_equal(waitpid(child, &how, WUNTRACED), child);
	assert_int_equal(halted(), 7);
	before = *count;
	usleep(20000);
	assert_int_equal(*count, before);
	kill(child, SIGCONT);
	goes_on();
	ends();
}

static void test_signals_that_arrive_meanwhile_arrive(void **state)
{
	(void)state;
	for (int i = 0; i < 10; i++) {
		int how, rc;

		counts();
		kill(child, SIGTERM);
		/* The child has exited, or was stopped before or by the signal. */
		rc = halted();
		if (rc == -ESRCH) {
			waitpid(child, &how, 0); /* unless halted() has reaped it */
			continue;
		}
		assert_int_equal(rc, 7);
		assert_int_equal(waitpid(child, &how, 0), child);
		assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGTERM);
	}
}

static void test_threads_that_are_not_to_be_had_are_errors(void **state)
{
	int how;

	(void)state;
	counts();
	ends();
	assert_int_equal(halted(), -ESRCH);
	/* The child's parent traces it. */
	child = fork();
	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &how, 0), child);
	assert_int_equal(halted(), -EPERM);
	ends();
}

static int make(void **state)
{
	(void)state;
	count = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return count == MAP_FAILED;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_thread_stands_still_and_goes_on),
		cmocka_unit_test(test_thread_that_was_stopped_stays_stopped),
		cmocka_unit_test(test_signals_that_arrive_meanwhile_arrive),
		cmocka_unit_test(test_threads_that_are_not_to_be_had_are_errors),
	};

	return HEAD_RUN(tests, make, NULL);
}
