/* SPDX-License-Identifier: MIT */
/*
 * test_await_ends.c - fibers wait for children and threads to end: pinned, in the background, or
 * many
 */
#include "carriers.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static int hold[2];	   /* a pipe: closing it lets all children exit */
static int thread_hold[2]; /* a byte in it lets one thread exit */

static pid_t held_child(void)
{
	char byte;
	pid_t pid = fork();

	if (pid)
		return pid;
	close(hold[1]);
	_exit(read(hold[0], &byte, 1) != 0);
}

static void *held_thread(void *arg)
{
	char byte;

	return read(thread_hold[0], &byte, 1) == 1 ? arg : NULL;
}

static void open_hold(void)
{
	assert_int_equal(pipe2(hold, O_CLOEXEC), 0);
	assert_int_equal(pipe2(thread_hold, O_CLOEXEC), 0);
}

static void close_hold(void)
{
	close(hold[0]);
	close(hold[1]);
	close(thread_hold[0]);
	close(thread_hold[1]);
}

struct ends {
	pid_t child;
	pthread_t thread;
	int wrong;
};

static struct ends make_ends(void)
{
	struct ends e = {.child = held_child()};

	assert_true(e.child > 0);
	assert_int_equal(pthread_create(&e.thread, NULL, held_thread, &hold), 0);
	return e;
}

static void *refused(void *arg)
{
	struct ends *e = arg;
	int status;

	fiber_pin();
	e->wrong += fiber_waitpid(e->child, &status, 0, FIBER_FOREVER) != -EDEADLK;
	e->wrong += fiber_waitpid(-1, &status, 0, FIBER_FOREVER) != -EDEADLK;
	e->wrong += fiber_waitpid(e->child, &status, WNOHANG, FIBER_FOREVER) != 0;
	e->wrong += fiber_thread_join(e->thread, NULL, FIBER_FOREVER) != -EDEADLK;
	fiber_unpin();
	return NULL;
}

static void *pinned(void *arg)
{
	struct ends *e = arg;
	void *value = NULL;
	int status = -1;

	fiber_pin();
	e->wrong += fiber_waitpid(e->child, &status, 0, fiber_after(2 * MS)) != -ETIMEDOUT;
	e->wrong += fiber_waitpid(-1, &status, 0, fiber_after(2 * MS)) != -ETIMEDOUT;
	e->wrong += fiber_thread_join(e->thread, &value, fiber_after(2 * MS)) != -ETIMEDOUT;
	e->wrong += write(thread_hold[1], "x", 1) != 1;
	e->wrong += fiber_thread_join(e->thread, &value, FIBER_FOREVER) != 0;
	e->wrong += value != &hold;
	kill(e->child, SIGKILL);
	e->wrong += fiber_waitpid(e->child, &status, 0, FIBER_FOREVER) != e->child;
	e->wrong += !WIFSIGNALED(status);
	fiber_unpin();
	return NULL;
}

static void test_ends_are_waited_for_by_pinned_fibers_as_the_policy_says(void **state)
{
	struct fiber_runtime_options options = carriers_options();
	struct fiber_result result;
	struct ends e;

	(void)state;
	open_hold();
	e = make_ends();
	options.pinned_policy = FIBER_PINNED_ERROR;
	assert_int_equal(fiber_run(refused, &e, &options, &result), 0);
	options.pinned_policy = FIBER_PINNED_SILENT;
	assert_int_equal(fiber_run(pinned, &e, &options, &result), 0);
	close_hold();
	assert_int_equal(e.wrong, 0);
}

/* Retry forever: these waits must not keep the runtime alive nor leave anything behind. */
static void *wait_for_child(void *arg)
{
	struct ends *e = arg;

	while (e->child)
		fiber_waitpid(e->child, NULL, 0, FIBER_FOREVER);
	return NULL;
}

static void *wait_for_any(void *arg)
{
	while (arg)
		fiber_waitpid(-1, NULL, 0, FIBER_FOREVER);
	return NULL;
}

static void *wait_for_thread(void *arg)
{
	struct ends *e = arg;

	while (e->child)
		fiber_thread_join(e->thread, NULL, FIBER_FOREVER);
	return NULL;
}

static void *leave_them_waiting(void *arg)
{
	static fiber_fn *const fns[] = {wait_for_child, wait_for_any, wait_for_thread};
	struct fiber_attr attr = {.size = sizeof attr, .flags = FIBER_BACKGROUND};
	struct ends *e = arg;
	struct fiber *f;

	for (size_t i = 0; i < COUNT(fns); i++) {
		if (fiber_spawn_attr(&attr, fns[i], e, &f) < 0) {
			e->wrong++;
			continue;
		}
		carriers_await_suspended(f);
		fiber_detach(f);
	}
	return NULL;
}

static int lowest_free(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

static void test_ends_in_the_background_do_not_keep_the_runtime(void **state)
{
	struct ends e;
	int before, status;
	void *value;

	(void)state;
	open_hold();
	e = make_ends();
	carriers_run(leave_them_waiting, &e);
	before = lowest_free();
	carriers_run(leave_them_waiting, &e);
	assert_int_equal(lowest_free(), before);
	assert_int_equal(e.wrong, 0);
	/* The waits have not consumed anything. */
	assert_int_equal(write(thread_hold[1], "x", 1), 1);
	assert_int_equal(pthread_join(e.thread, &value), 0);
	assert_ptr_equal(value, &hold);
	close_hold();
	assert_int_equal(waitpid(e.child, &status, 0), e.child);
	assert_int_equal(status, 0);
}

enum { MANY = 100 };

static void *wait_one(void *arg)
{
	struct ends *e = arg;
	int status = -1;

	e->wrong = fiber_waitpid(e->child, &status, 0, FIBER_FOREVER) != e->child || status;
	return NULL;
}

static void *wait_many(void *arg)
{
	struct ends *ends = arg;
	struct fiber *f[MANY];

	for (int i = 0; i < MANY; i++) {
		if (fiber_spawn(wait_one, &ends[i], &f[i]) < 0)
			return NULL;
	}
	/* One carrier suffices for all to wait at once. */
	for (int i = 0; i < MANY; i++)
		carriers_await_suspended(f[i]);
	close(hold[1]);
	for (int i = 0; i < MANY; i++)
		fiber_join(f[i], NULL, FIBER_FOREVER);
	return arg;
}

static void test_ends_of_many_children_are_each_given_to_their_own_waiter(void **state)
{
	struct ends ends[MANY];

	(void)state;
	open_hold();
	for (int i = 0; i < MANY; i++) {
		ends[i] = (struct ends){.child = held_child(), .wrong = 1};
		assert_true(ends[i].child > 0);
	}
	assert_ptr_equal(carriers_run(wait_many, ends).value, ends);
	for (int i = 0; i < MANY; i++)
		assert_int_equal(ends[i].wrong, 0);
	close(hold[0]);
	close(thread_hold[0]);
	close(thread_hold[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ends_are_waited_for_by_pinned_fibers_as_the_policy_says),
		cmocka_unit_test(test_ends_in_the_background_do_not_keep_the_runtime),
		cmocka_unit_test(test_ends_of_many_children_are_each_given_to_their_own_waiter),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
