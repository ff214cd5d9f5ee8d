/* SPDX-License-Identifier: MIT */
/*
 * sleeper.c - where another thread sleeps, without a debugger
 *
 * A thread that sleeps in the system must not get a signal, which would end its sleep(3) or poll(2)
 * early. /proc says where it sleeps, and its stack pointer.
 */
#include "os/sample.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/compiler.h"
#include "os/os.h"

#define PATH_SIZE 48

static const char *place_path(uint32_t tid, char path[PATH_SIZE])
{
	snprintf(path, PATH_SIZE, "/proc/self/task/%u/syscall", tid);
	return path;
}

static int read_place(int fd, struct fib_sleeper_place *ret)
{
	char text[256];
	ssize_t n = fib_os_read_at(fd, text, sizeof text - 1, 0);

	if (n <= 0)
		return n < 0 ? (int)n : -ESRCH;
	text[n] = 0;
	return fib_sleeper_parse(text, ret);
}

fib_noinline int fib_os_thread_place(uint32_t tid, struct fib_sleeper_place *ret)
{
	char path[PATH_SIZE];
	const int fd = open(place_path(tid, path), O_RDONLY | O_CLOEXEC);
	int rc;

	if (fd < 0)
		return -errno;
	rc = read_place(fd, ret);
	close(fd);
	return rc;
}

fib_noinline void fib_os_thread_place_keep(struct fib_os_kept *ret)
{
	char path[PATH_SIZE];

	fib_os_keep(ret, place_path(fib_os_tid(), path));
}

fib_noinline int fib_os_thread_place_of(struct fib_os_kept *kept, uint32_t tid,
					struct fib_sleeper_place *ret)
{
	char path[PATH_SIZE];
	int rc;

	/*
	 * A file that could not be opened at the start is not tried again; one that the program
	 * closed is.
	 */
	if (kept->fd < 0)
		return -ENOENT;
	if (!fib_os_kept_ours(kept)) {
		rc = fib_os_keep(kept, place_path(tid, path));
		if (rc < 0)
			return rc;
	}
	return read_place(kept->fd, ret);
}
