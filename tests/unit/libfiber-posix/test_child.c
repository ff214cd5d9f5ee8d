/* SPDX-License-Identifier: MIT */
/* test_child.c - waitpid(2) and wait(2) in a fiber */
#include "outcome.h"

#include <spawn.h>
#include <sys/wait.h>

/* A child that ends with status 7 when its stdin ends. */
static pid_t start_child(int *ret_fd)
{
	const char *const argv[] = {"sh", "-c", "cat; exit 7", NULL};
	posix_spawn_file_actions_t actions;
	int fds[2];
	pid_t pid;

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fds[0], 0);
	assert_int_equal(
		posix_spawnp(&pid, "sh", &actions, NULL, (char **)(uintptr_t)argv, environ), 0);
	posix_spawn_file_actions_destroy(&actions);
	close(fds[0]);
	*ret_fd = fds[1];
	return pid;
}

/* fd: the pid; flags: the options; timeout: the status. */
static void *do_waitpid(void *arg)
{
	struct call *c = arg;

	return outcome(c, waitpid(c->fd, &c->timeout, c->flags));
}

static void *do_wait(void *arg)
{
	struct call *c = arg;

	return outcome(c, wait(&c->timeout));
}

static void test_waitpid_parks_until_the_child_ends(void **state)
{
	fiber_fn *const waits[] = {do_waitpid, do_wait};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct call c = {0};
		struct fiber *f;
		int fd;

		c.fd = start_child(&fd);
		f = inside_suspended(waits[i], &c);
		close(fd);
		assert_int_equal(inside_join(f), c.fd);
		assert_true(WIFEXITED(c.timeout));
		assert_int_equal(WEXITSTATUS(c.timeout), 7);
	}
}

static void test_waitpid_without_waiting_and_without_a_child(void **state)
{
	struct call c = {.flags = WNOHANG};
	int fd;

	(void)state;
	c.fd = start_child(&fd);
	both_give(do_waitpid, &c, 0, 0);
	close(fd);
	c.flags = 0;
	assert_int_equal(inside(do_waitpid, &c), c.fd);
	both_give(do_waitpid, &c, -1, ECHILD);
	both_give(do_wait, &c, -1, ECHILD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waitpid_parks_until_the_child_ends),
		cmocka_unit_test(test_waitpid_without_waiting_and_without_a_child),
	};

	OUTCOME_MAIN(tests);
}
