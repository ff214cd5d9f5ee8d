/* SPDX-License-Identifier: MIT */
/*
 * descriptor.c - close and replace descriptors
 *
 * libfiber must be informed of each descriptor that it may watch and that now means another file,
 * from fibers and from plain threads. Until a fiber has used this library, the calls of plain
 * threads are the system's.
 *
 * The child of vfork(2) shares the memory of its parent, but not its descriptors. What it closes
 * stays open in the parent, so libfiber is not informed.
 */
#include "call/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fiber/fiber.h>
#include <fiber/io.h>
#include <fiber/posix.h>

#include "call/hints.h"
#include "call/park.h"
#include "system/system.h"

/* libfiber knows descriptors below this. */
#define DESCRIPTORS (1u << 22)

/* I, and written in the child of a fork. */
static pid_t process;

static void note_process(void)
{
	process = getpid();
}

__attribute__((constructor)) static void start(void)
{
	note_process();
	pthread_atfork(NULL, NULL, note_process);
}

bool fpx_informs(void)
{
	return (fiber_self() || fpx_used()) && getpid() == process;
}

void fpx_meet(int fd)
{
	const int before = errno;

	fpx_forget_hints(fd);
	if (fpx_sees_streams)
		fiber_new_fd(fd);
	else
		fiber_forget_fd(fd);
	errno = before;
}

void fpx_doubt(int fd)
{
	if (!fpx_sees_streams)
		fiber_forget_fd(fd);
}

void fpx_forget(int fd)
{
	fpx_forget_hints(fd);
	fiber_forget_fd(fd);
}

void fpx_forget_range(unsigned first, unsigned last)
{
	struct rlimit limit;
	unsigned fd;

	if (!fpx_informs())
		return;
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur > DESCRIPTORS)
		limit.rlim_cur = DESCRIPTORS;
	for (fd = first; fd <= last && fd < limit.rlim_cur; fd++)
		fpx_forget((int)fd);
}

/* fiber_close() calls close(2), which may be the one of entry/. */
static _Thread_local bool closing;

bool fpx_closing(void)
{
	return closing;
}

/* A plain thread stays the same during the call. */
static int close_in_thread(int fd)
{
	int rc;

	closing = true;
	rc = fiber_close(fd);
	closing = false;
	return rc;
}

int fiber_posix_close(int fd)
{
	if (!fpx_informs())
		return fpx_system.close(fd);
	fpx_forget_hints(fd);
	return (int)fpx_result(fiber_self() ? fiber_close(fd) : close_in_thread(fd));
}

int fiber_posix_dup3(int fd, int newfd, int flags)
{
	int rc;

	/* A call that fails replaces nothing. */
	if (!fpx_informs() || fd == newfd || fpx_system.fcntl(fd, F_GETFD) < 0)
		return fpx_system.dup3(fd, newfd, flags);
	fpx_forget(newfd);
	rc = fpx_system.dup3(fd, newfd, flags);
	fpx_forget(newfd);
	return rc;
}

int fiber_posix_dup2(int fd, int newfd)
{
	return fd == newfd || !fpx_informs() ? fpx_system.dup2(fd, newfd)
					     : fiber_posix_dup3(fd, newfd, 0);
}
