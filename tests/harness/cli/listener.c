/* SPDX-License-Identifier: MIT */
/* listener.c - a process that listens at a control socket and does not match its claims */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness/cli/cli.h"
#include "tests/harness/cli/listener.h"
#include "wire/wire.h"

#define MOST 8

static pid_t started[MOST]; /* 0: it left an heir */
static int held[MOST];	    /* an heir exits when this is closed */
static unsigned count;

static bool put(int fd, uint16_t type, const void *payload, size_t length)
{
	const struct fib_wire_header h = {FIB_WIRE_MAGIC, FIB_WIRE_VERSION, type, (uint32_t)length};

	return send(fd, &h, sizeof(h), MSG_NOSIGNAL) == sizeof(h) &&
	       send(fd, payload, length, MSG_NOSIGNAL) == (ssize_t)length;
}

/* Answer each request of one connection. */
static void converse(int fd, pid_t claims)
{
	const struct fib_wire_process process = {.pid = claims, .fibers = 1, .name = "sshd"};
	const struct fib_wire_end end = {.total = 1};
	char bytes[sizeof(struct fib_wire_header) + FIB_WIRE_REQUEST_MAX];

	while (recv(fd, bytes, sizeof(bytes), 0) > 0)
		if (!put(fd, FIB_WIRE_PROCESS, &process, sizeof(process)) ||
		    !put(fd, FIB_WIRE_END, &end, sizeof(end)))
			break;
	close(fd);
}

static int listen_at(const struct listener_how *how)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", how->path);
	if (how->user &&
	    (setresgid(how->user, how->user, how->user) ||
	     setresuid(how->back ? 0 : how->user, how->user, how->back ? 0 : how->user)))
		_exit(1);
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) || listen(fd, 16))
		_exit(2);
	if (how->back && setresuid(0, 0, 0))
		_exit(3);
	return fd;
}

static void be_listener(const struct listener_how *how, int ready, int hold)
{
	const int fd = listen_at(how);
	int one;

	if (how->heir && fork() > 0)
		_exit(write(ready, "", 1) != 1);
	if (!how->heir && write(ready, "", 1) != 1)
		_exit(4);
	prctl(PR_SET_NAME, "liar");
	if (how->heir) {
		/* Block until the test closes the other end. */
		_exit(read(hold, &one, 1) != 0);
	}
	while ((one = accept(fd, NULL, NULL)) >= 0)
		converse(one, how->claims ? how->claims : getpid());
	_exit(5);
}

pid_t listener_start(const struct listener_how *how)
{
	int ready[2], hold[2];
	char byte;
	pid_t pid;

	assert_true(count < MOST);
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	assert_int_equal(pipe2(hold, O_CLOEXEC), 0);
	started[count] = fork();
	assert_true(started[count] >= 0);
	if (!started[count]) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGTERM, SIG_DFL);
		close(hold[1]);
		be_listener(how, ready[1], hold[0]);
	}
	close(ready[1]);
	close(hold[0]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	held[count] = hold[1];
	pid = started[count++];
	if (how->heir) {
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		started[count - 1] = 0;
	}
	return pid;
}

void listener_end(void)
{
	while (count) {
		count--;
		close(held[count]);
		if (!started[count])
			continue;
		kill(started[count], SIGKILL);
		waitpid(started[count], NULL, 0);
	}
}
