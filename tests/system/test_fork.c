/* SPDX-License-Identifier: MIT */
/* test_fork.c - a forked child has only the fibers that it starts itself */
#include "carriers.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness/child.h"
#include "tests/harness/threads.h"

static void *park_labelled(void *arg)
{
	fiber_label("whose", "the parent's");
	fiber_park(FIBER_FOREVER);
	return arg;
}

static int count_one(const struct fiber_info *info, void *arg)
{
	(void)info;
	++*(int *)arg;
	return 0;
}

static int fibers(void)
{
	int n = 0;

	fiber_foreach(NULL, count_one, &n);
	return n;
}

struct anew {
	uint64_t last_id; /* the parent's last id */
	int fibers, labels;
};

static int look_at_own(const struct fiber_info *info, void *arg)
{
	struct anew *a = arg;

	a->fibers++;
	a->labels += info->labels[0] != 0;
	return 0;
}

static void *live_anew(void *arg)
{
	struct anew *a = arg;

	if (fiber_id(fiber_self()) <= a->last_id)
		return NULL;
	fiber_foreach(NULL, look_at_own, a);
	return a->fibers == 1 && a->labels == 0 ? arg : NULL;
}

/* Runs in the child. */
static int starts_anew(struct anew *a)
{
	const struct fiber_runtime_options options = carriers_options();
	struct fiber_result r = {NULL, 1};

	sigset_t none;

	/* A carrier blocks signals, and the child of a fiber inherits that mask. */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGALRM, SIG_DFL);
	alarm(30);
	if (fiber_self() || fiber_runtime_self() || fiber_can_yield())
		return 2;
	if (fibers() || fiber_yield() != -EPERM)
		return 3;
	if (fiber_run(live_anew, a, &options, &r) < 0 || r.value != a || r.error)
		return 4;
	return fibers() ? 5 : 0;
}

static int status_of(pid_t pid)
{
	int status = -1;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static void test_fork_child_of_a_thread_has_no_fibers_and_makes_its_own(void **state)
{
	struct fiber *held[50], *last;
	struct fiber_runtime *rt;
	struct anew a = {0};
	int status;
	pid_t pid;
	size_t i;

	(void)state;
	/* TSan does not support a fork of a program with threads. */
	if (!strcmp(harness_sanitizer(), "thread"))
		skip();
	rt = carriers_start();
	for (i = 0; i < COUNT(held); i++) {
		assert_int_equal(fiber_runtime_spawn(rt, NULL, park_labelled, NULL, &held[i]), 0);
		carriers_await_suspended(held[i]);
	}
	assert_int_equal(fiber_create(NULL, park_labelled, NULL, &last), 0);
	a.last_id = fiber_id(last);
	/* Carriers that have run no fiber yet may still be starting. */
	while (harness_threads_called("fiber-carrier") < carriers())
		carriers_pause();
	pid = fork();
	if (!pid)
		_exit(starts_anew(&a));
	status = status_of(pid);
	assert_int_equal(status, 0);
	/* The parent's fibers are unchanged. */
	assert_int_equal(fibers(), COUNT(held) + 1);
	fiber_detach(last);
	for (i = 0; i < COUNT(held); i++) {
		fiber_unpark(held[i]);
		assert_int_equal(fiber_join(held[i], NULL, FIBER_FOREVER), 0);
	}
	carriers_finish(rt);
}

struct forks {
	int status;
	bool self_before, self_after;
};

static void *fork_and_start_anew(void *arg)
{
	struct forks *f = arg;
	struct anew a = {.last_id = fiber_id(fiber_self())};
	pid_t pid;

	f->self_before = fiber_self() != NULL;
	pid = fork();
	if (!pid)
		_exit(starts_anew(&a));
	f->self_after = fiber_self() != NULL;
	f->status = status_of(pid);
	fiber_yield();
	return NULL;
}

static void *fork_and_exec(void *arg)
{
	struct forks *f = arg;
	const pid_t pid = fork();

	if (!pid) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(9);
	}
	f->status = status_of(pid);
	return NULL;
}

static void test_fork_in_a_fiber_makes_a_plain_thread(void **state)
{
	struct forks f = {.status = -1};

	(void)state;
	/* AddressSanitizer's locks stay held in the child if another carrier was allocating. */
	if (!strcmp(harness_sanitizer(), "thread") || !strcmp(harness_sanitizer(), "address"))
		skip();
	for (int i = 0; i < 20; i++) {
		f.status = -1;
		carriers_run(fork_and_start_anew, &f);
		assert_true(f.self_before && f.self_after);
		assert_int_equal(f.status, 0);
	}
	carriers_run(fork_and_exec, &f);
	assert_int_equal(f.status, 0);
}

static void *fork_and_return(void *arg)
{
	const pid_t pid = fork();

	if (pid)
		*(int *)arg = status_of(pid);
	return NULL;
}

/* Run by harness_child(), which collects the output. */
static int forks_and_returns(void *arg)
{
	const struct fiber_runtime_options options = carriers_options();
	int status = 0;

	(void)arg;
	fiber_run(fork_and_return, &status, &options, NULL);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT ? 0 : 1;
}

static void test_fork_child_that_returns_from_the_fiber_aborts_with_one_line(void **state)
{
	struct harness_child child;

	(void)state;
	if (*harness_sanitizer())
		skip(); /* the sanitizers abort differently */
	harness_child(forks_and_returns, NULL, 60, &child);
	assert_int_equal(child.code, 0);
	assert_non_null(strstr(child.text, "a forked child has none"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fork_child_of_a_thread_has_no_fibers_and_makes_its_own),
		cmocka_unit_test(test_fork_in_a_fiber_makes_a_plain_thread),
		cmocka_unit_test(test_fork_child_that_returns_from_the_fiber_aborts_with_one_line),
	};

	harness_watchdog(100);
	return cmocka_run_group_tests_name("fork", tests, NULL, NULL);
}
