/* SPDX-License-Identifier: MIT */
/*
 * test_race_fork.c - a child may be forked at any moment of its parent's fibers, and start its own
 *
 * The parent's carriers spawn, exit and wait all the time, so each lock that runtimes share is held
 * during some fork. A child that inherits a held lock hangs and is ended by its alarm.
 */
#include "carriers.h"
#include "tests/harness/fibers.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define BATCH 50

static _Atomic bool enough;

static void *spawn_all_the_time(void *arg)
{
	struct fiber *fibers[BATCH];
	size_t i;

	while (!enough) {
		for (i = 0; i < COUNT(fibers); i++)
			fiber_spawn(harness_nothing, arg, &fibers[i]);
		for (i = 0; i < COUNT(fibers); i++)
			fiber_join(fibers[i], NULL, FIBER_FOREVER);
	}
	return NULL;
}

static int ends[2]; /* a fiber of the parent waits for ends[0] */

static void *read_one(void *arg)
{
	char byte;

	(void)arg;
	return (void *)(intptr_t)fiber_read(ends[0], &byte, 1, fiber_after(10000 * MS));
}

/*
 * In the child: use fibers, stacks, and the descriptor number that a fiber of the parent waits for.
 */
static void *live_anew(void *arg)
{
	struct fiber_result r = {NULL, 1};
	struct fiber *fiber;
	size_t i;

	(void)arg;
	for (i = 0; i < 20; i++)
		if (fiber_spawn(harness_nothing, NULL, &fiber) < 0 ||
		    fiber_join(fiber, NULL, FIBER_FOREVER) < 0)
			return NULL;
	if (fiber_spawn(read_one, NULL, &fiber) < 0)
		return NULL;
	fiber_yield();
	if (fiber_write(ends[1], "c", 1, FIBER_FOREVER) != 1 ||
	    fiber_join(fiber, &r, FIBER_FOREVER) < 0)
		return NULL;
	return r.value;
}

static int child(void)
{
	const struct fiber_runtime_options options = carriers_options();
	struct fiber_result r = {NULL, 1};

	alarm(30);
	/* Reuse the same descriptor numbers. */
	close(ends[0]);
	close(ends[1]);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
		return 2;
	return fiber_run(live_anew, NULL, &options, &r) < 0 || r.value != (void *)1 ? 3 : 0;
}

static void test_fork_child_starts_fibers_whatever_the_parent_was_doing(void **state)
{
	const size_t forks = *harness_sanitizer() ? 60 : 300;
	struct fiber_runtime *rt;
	int status = 0;
	size_t i;

	(void)state;
	/* Neither supports a fork of a program with threads: ASan's allocator, unlike the C
	 * library's, leaves locks held that another thread had. */
	if (!strcmp(harness_sanitizer(), "thread") || !strcmp(harness_sanitizer(), "address"))
		skip();
	rt = carriers_start();
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	for (i = 0; i < 4; i++)
		assert_int_equal(fiber_runtime_spawn(rt, NULL, spawn_all_the_time, NULL, NULL), 0);
	assert_int_equal(fiber_runtime_spawn(rt, NULL, read_one, NULL, NULL), 0);
	for (i = 0; i < forks && !status; i++) {
		const pid_t pid = fork();

		if (!pid)
			_exit(child());
		assert_true(pid > 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
	}
	enough = true;
	assert_int_equal(write(ends[1], "p", 1), 1);
	carriers_finish(rt);
	close(ends[0]);
	close(ends[1]);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fork_child_starts_fibers_whatever_the_parent_was_doing),
	};

	harness_watchdog(100);
	return cmocka_run_group_tests_name("race: fork", tests, NULL, NULL);
}
