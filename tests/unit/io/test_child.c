/* SPDX-License-Identifier: MIT */
/* test_child.c - each child is waited for once, by the first waiter, and no carrier blocks */
#include "inside.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

struct wait {
	pid_t pid;
	int options;
	int64_t deadline;
	int status;
};

static void *do_wait(void *arg)
{
	struct wait *w = arg;

	return (void *)(intptr_t)fiber_waitpid(w->pid, &w->status, w->options, w->deadline);
}

static pid_t hold_fd; /* the end of a pipe; closing it releases the held children */

/* Exit with the code, or die by the signal -code. */
static void end(int code)
{
	const struct rlimit none = {0, 0};

	if (code >= 0)
		_exit(code);
	setrlimit(RLIMIT_CORE, &none);
	signal(-code, SIG_DFL);
	raise(-code);
}

/* Start a child that ends with this code: at once, or if held, after let_go(). */
static pid_t child(int code, bool held)
{
	int fds[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		close(fds[1]);
		end(held && read(fds[0], &byte, 1) != 0 ? 99 : code);
	}
	close(fds[0]);
	hold_fd = fds[1];
	if (!held)
		close(fds[1]);
	return pid;
}

static void let_go(void)
{
	close(hold_fd);
}

/* Wait until it is a zombie, without reaping it. */
static void await_dead(pid_t pid)
{
	siginfo_t info;

	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
}

static void test_child_that_ends_later_wakes_its_waiter(void **state)
{
	struct wait w = {child(7, true), 0, FIBER_FOREVER, -1};
	struct fiber *f = inside_spawn(do_wait, &w);

	(void)state;
	harness_await_suspended(f);
	let_go();
	assert_int_equal(inside_join(f), w.pid);
	assert_true(WIFEXITED(w.status));
	assert_int_equal(WEXITSTATUS(w.status), 7);
	assert_int_equal(inside(do_wait, &w), -ECHILD);
	w.pid = child(8, false);
	assert_int_equal(on_a_thread(do_wait, &w), w.pid);
	assert_int_equal(WEXITSTATUS(w.status), 8);
}

static void test_child_that_died_before_is_found_whatever_the_deadline(void **state)
{
	struct wait w = {child(3, false), 0, 0, -1};

	(void)state;
	await_dead(w.pid);
	assert_int_equal(inside(do_wait, &w), w.pid);
	assert_int_equal(w.status, 3 << 8);
	w.pid = child(4, false);
	await_dead(w.pid);
	assert_int_equal(on_a_thread(do_wait, &w), w.pid);
	w.pid = child(4, false);
	await_dead(w.pid);
	assert_int_equal(fiber_waitpid(w.pid, NULL, 0, FIBER_FOREVER), w.pid);
	w.pid = -1;
	child(5, false);
	assert_true((w.deadline = FIBER_FOREVER, inside(do_wait, &w)) > 0);
	assert_int_equal(w.status, 5 << 8);
}

/* waitid(2), which is used to reap the child, must give what waitpid(2) would. */
static void test_child_status_is_what_waitpid_says(void **state)
{
	static const int signals[] = {SIGKILL, SIGTERM, SIGABRT, SIGSEGV};

	(void)state;
	for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
		struct wait w = {child(-signals[i], true), 0, FIBER_FOREVER, -1};
		struct fiber *f = inside_suspended(do_wait, &w);

		let_go();
		assert_int_equal(inside_join(f), w.pid);
		assert_true(WIFSIGNALED(w.status));
		assert_int_equal(WTERMSIG(w.status), signals[i]);
	}
}

static void test_child_that_is_not_ours_is_echild(void **state)
{
	struct wait w = {1, 0, FIBER_FOREVER, 77};

	(void)state;
	assert_int_equal(inside(do_wait, &w), -ECHILD);
	assert_int_equal(on_a_thread(do_wait, &w), -ECHILD);
	w.pid = getpid();
	assert_int_equal(inside(do_wait, &w), -ECHILD);
	w.pid = -1;
	assert_int_equal(inside(do_wait, &w), -ECHILD);
	w.pid = 0;
	assert_int_equal(inside(do_wait, &w), -ECHILD);
	w.options = WNOWAIT;
	assert_int_equal(inside(do_wait, &w), -EINVAL);
	w.options = __WNOTHREAD;
	assert_int_equal(inside(do_wait, &w), -EINVAL);
	assert_int_equal(w.status, 77);
}

static void test_child_wnohang_does_not_wait(void **state)
{
	struct wait w = {child(9, true), WNOHANG, FIBER_FOREVER, 77};

	(void)state;
	assert_int_equal(inside(do_wait, &w), 0);
	assert_int_equal(on_a_thread(do_wait, &w), 0);
	assert_int_equal(w.status, 77);
	let_go();
	await_dead(w.pid);
	assert_int_equal(inside(do_wait, &w), w.pid);
	assert_int_equal(w.status, 9 << 8);
}

/*
 * After a timeout or a cancellation the child can still be reaped: by its pid, or by -1, for which
 * the library waits on a thread.
 */
static void test_child_is_not_taken_by_a_wait_that_was_given_up(void **state)
{
	pid_t pid = child(6, true);
	struct wait w[] = {{pid, 0, 0, 77}, {-1, 0, 0, 77}, {0, WUNTRACED, 0, 77}};

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct fiber *f;

		w[i].deadline = 0;
		assert_int_equal(inside(do_wait, &w[i]), -ETIMEDOUT);
		w[i].deadline = fiber_after(3 * MS);
		assert_int_equal(inside(do_wait, &w[i]), -ETIMEDOUT);
		assert_true(fiber_now() >= w[i].deadline);
		w[i].deadline = fiber_after(3 * MS);
		assert_int_equal(on_a_thread(do_wait, &w[i]), -ETIMEDOUT);
		w[i].deadline = FIBER_FOREVER;
		f = inside_suspended(do_wait, &w[i]);
		fiber_cancel(f);
		assert_int_equal(inside_join_cancelled(f), -ECANCELED);
		assert_int_equal(w[i].status, 77);
	}
	let_go();
	assert_int_equal(waitpid(pid, &w[0].status, 0), pid);
	assert_int_equal(w[0].status, 6 << 8);
}

static void test_child_that_several_wait_for_is_given_to_one(void **state)
{
	enum { WAITERS = 8 };
	struct wait w[WAITERS];
	struct fiber *f[WAITERS];
	pid_t pid = child(2, true);
	int given = 0;

	(void)state;
	for (int i = 0; i < WAITERS; i++) {
		/* Half of them wait for any child; there is only one child. */
		w[i] = (struct wait){i % 2 ? pid : -1, 0, FIBER_FOREVER, 77};
		f[i] = inside_spawn(do_wait, &w[i]);
	}
	for (int i = 0; i < WAITERS; i++)
		harness_await_suspended(f[i]);
	let_go();
	for (int i = 0; i < WAITERS; i++) {
		intptr_t rc = inside_join(f[i]);

		assert_true(rc == pid || rc == -ECHILD);
		assert_int_equal(w[i].status, rc == pid ? 2 << 8 : 77);
		given += rc == pid;
	}
	assert_int_equal(given, 1);
}

static void test_child_that_stops_and_goes_on_is_told_when_asked(void **state)
{
	pid_t pid = child(0, true);
	struct wait w = {pid, WUNTRACED | WCONTINUED, FIBER_FOREVER, -1};
	struct fiber *f = inside_spawn(do_wait, &w);

	(void)state;
	harness_await_suspended(f);
	kill(pid, SIGSTOP);
	assert_int_equal(inside_join(f), pid);
	assert_true(WIFSTOPPED(w.status));
	assert_int_equal(WSTOPSIG(w.status), SIGSTOP);
	kill(pid, SIGCONT);
	assert_int_equal(inside(do_wait, &w), pid);
	assert_true(WIFCONTINUED(w.status));
	let_go();
	w.pid = 0;
	assert_int_equal(inside(do_wait, &w), pid);
	assert_int_equal(w.status, 0);
}

static void test_child_of_a_group_is_told_from_others(void **state)
{
	pid_t other = child(1, false), pid = fork();
	struct wait w = {-1, 0, FIBER_FOREVER, -1};

	(void)state;
	assert_true(pid >= 0);
	if (pid == 0)
		for (;;)
			pause();
	assert_int_equal(setpgid(pid, pid), 0);
	await_dead(other);
	w.pid = -pid;
	w.deadline = fiber_after(2 * MS);
	assert_int_equal(inside(do_wait, &w), -ETIMEDOUT);
	w.deadline = FIBER_FOREVER;
	kill(pid, SIGKILL);
	assert_int_equal(inside(do_wait, &w), pid);
	w.pid = 0;
	assert_int_equal(inside(do_wait, &w), other);
}

/* The system gives no descriptor for the child, for instance because none is left. */
static void test_child_without_a_descriptor_is_waited_for_all_the_same(void **state)
{
	struct wait w = {child(5, true), 0, FIBER_FOREVER, -1};
	struct rlimit before, none;
	struct fiber *f;
	intptr_t rc;

	(void)state;
	getrlimit(RLIMIT_NOFILE, &before);
	none = before;
	none.rlim_cur = 0;
	setrlimit(RLIMIT_NOFILE, &none);
	f = inside_suspended(do_wait, &w);
	let_go();
	rc = inside_join(f);
	setrlimit(RLIMIT_NOFILE, &before);
	assert_int_equal(rc, w.pid);
	assert_int_equal(w.status, 5 << 8);
}

static void on_signal(int signal)
{
	(void)signal;
}

static void test_child_signals_do_not_end_the_wait(void **state)
{
	struct sigaction action = {.sa_handler = on_signal}, before;
	struct wait w = {-1, 0, FIBER_FOREVER, -1};
	struct fiber *f;

	(void)state;
	assert_int_equal(sigaction(SIGCHLD, &action, &before), 0);
	w.pid = child(1, true);
	f = inside_suspended(do_wait, &w);
	for (int i = 0; i < 100; i++)
		kill(getpid(), SIGCHLD);
	let_go();
	assert_int_equal(inside_join(f), w.pid);
	/* Children whose parent ignores SIGCHLD: the system reaps them itself, and then there is
	 * no child. */
	action.sa_handler = SIG_IGN;
	sigaction(SIGCHLD, &action, NULL);
	w.pid = child(1, true);
	f = inside_suspended(do_wait, &w);
	let_go();
	assert_int_equal(inside_join(f), -ECHILD);
	sigaction(SIGCHLD, &before, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_child_that_ends_later_wakes_its_waiter),
		cmocka_unit_test(test_child_that_died_before_is_found_whatever_the_deadline),
		cmocka_unit_test(test_child_status_is_what_waitpid_says),
		cmocka_unit_test(test_child_that_is_not_ours_is_echild),
		cmocka_unit_test(test_child_wnohang_does_not_wait),
		cmocka_unit_test(test_child_is_not_taken_by_a_wait_that_was_given_up),
		cmocka_unit_test(test_child_that_several_wait_for_is_given_to_one),
		cmocka_unit_test(test_child_that_stops_and_goes_on_is_told_when_asked),
		cmocka_unit_test(test_child_of_a_group_is_told_from_others),
		cmocka_unit_test(test_child_without_a_descriptor_is_waited_for_all_the_same),
		cmocka_unit_test(test_child_signals_do_not_end_the_wait),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, inside_start, inside_stop);
}
