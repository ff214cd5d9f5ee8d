/* SPDX-License-Identifier: MIT */
/* test_descriptor.c - closed and replaced descriptors */
#include "outcome.h"

#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

static void *do_read(void *arg)
{
	struct call *c = arg;

	return outcome(c, read(c->fd, c->buf, c->size));
}

static void *do_close(void *arg)
{
	struct call *c = arg;

	return outcome(c, close(c->fd));
}

/* Close fd in a way of its own. */
static void by_close(int fd)
{
	close(fd);
}

static void by_dup2(int fd)
{
	const int null = open("/dev/null", O_RDONLY);

	assert_int_equal(dup2(null, fd), fd);
	close(null);
	close(fd);
}

static void by_dup3(int fd)
{
	const int null = open("/dev/null", O_RDONLY);

	assert_int_equal(dup3(null, fd, O_CLOEXEC), fd);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(null);
	close(fd);
}

static void by_fclose(int fd)
{
	fclose(fdopen(fd, "r"));
}

static void by_close_range(int fd)
{
	close_range((unsigned)fd, (unsigned)fd, 0);
}

static void *close_in_fiber(void *arg)
{
	struct call *c = arg;

	((void (*)(int))c->buf)(c->fd);
	return NULL;
}

static void test_close_of_every_kind_wakes_the_fiber_that_reads_it(void **state)
{
	void (*const ways[])(int) = {by_close, by_dup2, by_dup3, by_fclose, by_close_range};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof ways / sizeof ways[0]; i++) {
		char byte;
		struct call c = {.buf = &byte, .size = 1}, closing = {.buf = (void *)ways[i / 2]};
		struct fiber *f;
		int fds[2];

		assert_int_equal(pipe(fds), 0);
		c.fd = closing.fd = fds[0];
		f = inside_suspended(do_read, &c);
		if (i % 2)
			inside(close_in_fiber, &closing);
		else
			ways[i / 2](fds[0]);
		assert_int_equal(inside_join(f), -1);
		assert_int_equal(c.error, EBADF);
		close(fds[1]);
	}
}

static void *do_accept(void *arg)
{
	struct call *c = arg;

	return outcome(c, accept(c->fd, NULL, NULL));
}

/* The stream's descriptor now means the pipe. */
static void by_freopen(int fd, const int fds[2])
{
	FILE *stream = fdopen(fd, "r");
	char name[32];

	snprintf(name, sizeof name, "/proc/self/fd/%d", fds[0]);
	assert_ptr_equal(freopen(name, "r", stream), stream);
	assert_int_equal(fileno(stream), fd);
}

static void parks_until_written(int fd, int far)
{
	char byte = 0;
	struct call c = {.fd = fd, .buf = &byte, .size = 1};
	struct fiber *f = inside_suspended(do_read, &c);

	assert_int_equal(write(far, "z", 1), 1);
	assert_int_equal(inside_join(f), 1);
	assert_int_equal(byte, 'z');
}

/* pair: the first is accepted if `accepted`, else made by socket(2). Both are known to be new. */
static void open_new(int pair[2], bool accepted)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct call c = {.fd = socket(AF_INET, SOCK_STREAM, 0)};
	socklen_t size = sizeof at;
	int far, near;

	assert_int_equal(bind(c.fd, (struct sockaddr *)&at, size), 0);
	assert_int_equal(listen(c.fd, 1), 0);
	assert_int_equal(getsockname(c.fd, (struct sockaddr *)&at, &size), 0);
	far = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(far, (struct sockaddr *)&at, size), 0);
	near = (int)inside(do_accept, &c);
	assert_true(near >= 0);
	close(c.fd);
	pair[0] = accepted ? near : far;
	pair[1] = accepted ? far : near;
}

/* A number that is known to be new comes back, as a file that is not. */
static void test_number_that_comes_back_is_waited_for_again(void **state)
{
	void (*const ways[])(int) = {by_close, by_dup2, by_dup3, by_fclose, by_close_range, NULL};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof ways / sizeof ways[0]; i++) {
		int pair[2], fds[2];

		open_new(pair, i % 2);
		parks_until_written(pair[0], pair[1]);
		assert_int_equal(pipe(fds), 0);
		if (ways[i / 2]) {
			ways[i / 2](pair[0]);
			assert_int_equal(fcntl(fds[0], F_DUPFD, pair[0]), pair[0]);
		} else {
			by_freopen(pair[0], fds);
		}
		parks_until_written(pair[0], fds[1]);
		close(fds[0]);
		close(fds[1]);
		close(pair[0]);
		close(pair[1]);
	}
}

static void test_errors_of_close_and_dup_are_the_system_s(void **state)
{
	struct call c = {.fd = dup(0)};

	(void)state;
	close(c.fd);
	both_give(do_close, &c, -1, EBADF);
	c.fd = -1;
	both_give(do_close, &c, -1, EBADF);
	assert_int_equal(dup2(1, 1), 1);
	assert_int_equal(dup3(1, 1, 0), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(dup2(-1, 1), -1);
	assert_int_equal(errno, EBADF);
}

static int child_closes(void *arg)
{
	const int *fds = arg;

	close(fds[0]);
	dup2(fds[1], fds[0]);
	_exit(0);
}

static pid_t forked(int fds[2])
{
	const pid_t pid = fork();

	if (pid == 0)
		child_closes(fds);
	return pid;
}

/* As after vfork(2): the child has this memory, and this thread waits for its end. */
static pid_t shares_memory(int fds[2])
{
	static char stack[65536] __attribute__((aligned(16)));

	return clone(child_closes, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, fds);
}

/* The child's descriptors are its own: what it closes stays open and watched here. */
static void test_child_that_closes_its_descriptors_wakes_nobody_here(void **state)
{
	pid_t (*const starts[])(int[2]) = {forked, shares_memory};
	/* ThreadSanitizer takes clone(2) for a fork and writes that into the memory of both. */
	const size_t ways = strcmp(harness_sanitizer(), "thread") == 0 ? 1 : 2;

	(void)state;
	for (size_t i = 0; i < ways; i++) {
		char byte = 0;
		struct call c = {.buf = &byte, .size = 1};
		struct fiber *f;
		int fds[2], status;
		pid_t pid;

		assert_int_equal(pipe(fds), 0);
		c.fd = fds[0];
		f = inside_suspended(do_read, &c);
		pid = starts[i](fds);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
		assert_int_equal(fiber_state(f), FIBER_SUSPENDED);
		assert_int_equal(write(fds[1], "v", 1), 1);
		assert_int_equal(inside_join(f), 1);
		assert_int_equal(byte, 'v');
		close(fds[0]);
		close(fds[1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_close_of_every_kind_wakes_the_fiber_that_reads_it),
		cmocka_unit_test(test_number_that_comes_back_is_waited_for_again),
		cmocka_unit_test(test_errors_of_close_and_dup_are_the_system_s),
		cmocka_unit_test(test_child_that_closes_its_descriptors_wakes_nobody_here),
	};

	OUTCOME_MAIN(tests);
}
