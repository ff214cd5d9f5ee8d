/* SPDX-License-Identifier: MIT */
/* test_ptrace_stop.c - a thread is stopped while a function looks at it, and then continues */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness/inspect/head.h"
#include "inspect/process/ptrace_stop.h"

/* Shared with the child: the counter that it increments. */
static _Atomic unsigned long *count;
static pid_t child;
static struct ins_ptrace_times took;

/* What look() saw. It runs on another thread, which must not assert. */
static struct {
	unsigned calls;
	pid_t tid;
	bool still, here, mine;
	int ret;
} seen;

static pthread_t caller;

static int look(void *context, pid_t tid)
{
	unsigned long before = *count, word;

	seen.calls++;
	seen.tid = tid;
	seen.here = pthread_equal(pthread_self(), caller) != 0;
	usleep(20000);
	seen.still = *count == before;
	/* The thread that looks is the tracer. */
	errno = 0;
	word = (unsigned long)ptrace(PTRACE_PEEKDATA, tid, context, NULL);
	seen.mine = errno == 0 && word == *count;
	return seen.ret;
}

static int seize(int ret)
{
	memset(&seen, 0, sizeof seen);
	seen.ret = ret;
	caller = pthread_self();
	return ins_ptrace_stop(child, look, (void *)count, &took);
}

static void counts(void)
{
	*count = 0;
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
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

static void goes_on(void)
{
	unsigned long before = *count;

	while (*count == before)
		;
}

static void test_it_stands_still_goes_on_and_says_what_was_returned(void **state)
{
	static const int returned[] = {0, 7, -EAGAIN, -ESRCH};

	(void)state;
	counts();
	for (size_t i = 0; i < sizeof returned / sizeof returned[0]; i++) {
		assert_int_equal(seize(returned[i]), returned[i]);
		assert_int_equal(seen.calls, 1);
		assert_int_equal(seen.tid, child);
		assert_true(seen.still && seen.mine && !seen.here);
		assert_true(took.seen_ns >= 20000000 && took.held_ns >= took.seen_ns);
		goes_on();
	}
	ends();
}

static void test_one_that_is_gone_or_anothers_is_not_looked_at(void **state)
{
	(void)state;
	counts();
	assert_int_equal(ptrace(PTRACE_SEIZE, child, NULL, NULL), 0);
	assert_int_equal(seize(0), -EPERM);
	assert_int_equal(seen.calls, 0);
	assert_int_equal(took.held_ns, 0);
	ends();
	assert_int_equal(seize(0), -ESRCH);
	assert_int_equal(seen.calls, 0);
	assert_int_equal(took.held_ns, 0);
}

/* The main thread is still listed if it ends before the other threads. */
static void test_one_that_has_ended_and_is_still_listed_is_gone(void **state)
{
	siginfo_t info;

	(void)state;
	child = fork();
	if (child == 0)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(seize(0), -ESRCH);
	assert_int_equal(seen.calls, 0);
	waitpid(child, NULL, 0);
}

static int lives_on(void *arg)
{
	(void)arg;
	++*count;
	while (*count < 1000000)
		usleep(1000);
	return 0;
}

/* The parent of a CLONE_VFORK child waits uninterruptibly in the kernel. */
static void test_one_that_does_not_stop_is_let_go_after_a_while(void **state)
{
	static _Alignas(16) char stack[65536];
	int how;

	(void)state;
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		clone(lives_on, stack + sizeof stack, CLONE_VFORK | SIGCHLD, NULL);
		_exit(5);
	}
	while (!*count)
		;
	assert_int_equal(seize(0), -ETIMEDOUT);
	assert_int_equal(seen.calls, 0);
	assert_int_equal(took.held_ns, 0);
	/* The thread is released and exits normally. */
	*count = 1000000;
	assert_int_equal(waitpid(child, &how, 0), child);
	assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 5);
}

static int make(void **state)
{
	(void)state;
	count = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return count == MAP_FAILED;
}

static int clear(void **state)
{
	(void)state;
	*count = 0;
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_it_stands_still_goes_on_and_says_what_was_returned,
				       clear),
		cmocka_unit_test_setup(test_one_that_is_gone_or_anothers_is_not_looked_at, clear),
		cmocka_unit_test_setup(test_one_that_has_ended_and_is_still_listed_is_gone, clear),
		cmocka_unit_test_setup(test_one_that_does_not_stop_is_let_go_after_a_while, clear),
	};

	return HEAD_RUN(tests, make, NULL);
}
