/* SPDX-License-Identifier: MIT */
/* local.c - local sockets, the eventfd and the timer of the service thread */
#include "os/local.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/compiler.h"
#include "os/features.h"
#include "os/os.h"

_Static_assert(FIB_OS_LOCAL_MAX == sizeof(((struct sockaddr_un *)0)->sun_path) - 1, "sun_path");

fib_noinline int fib_os_local_socket(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	return fd < 0 ? -errno : fd;
}

/* accept4(2) with older calls, for a sandbox that knows only accept(2). */
static int accept_and_set(int fd)
{
	int got = accept(fd, NULL, NULL), rc;

	if (got < 0 ||
	    (fcntl(got, F_SETFD, FD_CLOEXEC) == 0 && fcntl(got, F_SETFL, O_NONBLOCK) == 0))
		return got;
	rc = errno;
	close(got);
	errno = rc;
	return -1;
}

fib_noinline int fib_os_local_accept(int fd)
{
	int got;

	do {
		got = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (got < 0 && fib_os_is_refusal(-errno))
			got = accept_and_set(fd);
	} while (got < 0 && (errno == EINTR || errno == ECONNABORTED));
	return got < 0 ? -errno : got;
}

fib_noinline int fib_os_local_who(int fd, struct fib_os_who *ret)
{
	struct ucred who;
	socklen_t size = sizeof who;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) < 0)
		return -errno;
	ret->pid = who.pid;
	ret->uid = who.uid;
	return 0;
}

fib_noinline ssize_t fib_os_local_write(int fd, const void *buf, size_t size)
{
	ssize_t n;

	do
		n = write(fd, buf, size);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

fib_noinline int fib_os_event(void)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

fib_noinline void fib_os_event_set(int fd)
{
	int saved = errno;
	uint64_t one = 1;
	ssize_t n = write(fd, &one, sizeof one);

	(void)n; /* EAGAIN: it is readable already */
	errno = saved;
}

fib_noinline void fib_os_event_clear(int fd)
{
	uint64_t count;
	ssize_t n = read(fd, &count, sizeof count);

	(void)n;
}

/*
 * A timer of this file is recognized by its interval, which no program would choose. There is no
 * other way to tell it from a timer of the program that has reused its number. It is set again
 * before the interval has passed. A timer that should never expire is set to many years ahead.
 */
static const struct timespec ours = {1000003, 741077};

static bool set_timer(int fd, int64_t at)
{
	const int64_t time = at ? at : INT64_MAX / 4;
	const struct itimerspec to = {ours, {time / 1000000000, time % 1000000000}};

	return timerfd_settime(fd, TFD_TIMER_ABSTIME, &to, NULL) == 0;
}

fib_noinline int fib_os_timer(void)
{
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

	if (fd < 0) {
		if (fib_os_is_refusal(-errno))
			fib_os_feature_lacks(FIB_OS_TIMERFD);
		return -errno;
	}
	fib_os_feature_works(FIB_OS_TIMERFD);
	set_timer(fd, 0);
	return fd;
}

fib_noinline bool fib_os_timer_ours(int fd)
{
	struct itimerspec is;

	return timerfd_gettime(fd, &is) == 0 && is.it_interval.tv_sec == ours.tv_sec &&
	       is.it_interval.tv_nsec == ours.tv_nsec;
}

fib_noinline bool fib_os_timer_set(int fd, int64_t at)
{
	return fib_os_timer_ours(fd) && set_timer(fd, at);
}

fib_noinline int fib_os_look(const char *path, struct fib_os_entry *ret)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return -errno;
	ret->folder = S_ISDIR(st.st_mode);
	ret->socket = S_ISSOCK(st.st_mode);
	ret->mode = st.st_mode & 07777;
	ret->owner = st.st_uid;
	ret->device = st.st_dev;
	ret->inode = st.st_ino;
	ret->age = (int64_t)(time(NULL) - st.st_mtime);
	ret->modified = (uint32_t)st.st_mtim.tv_nsec;
	return 0;
}

/* Field 22 of proc_pid_stat(5); the name in field 2 may contain any bytes. */
fib_noinline int fib_os_started(pid_t pid, uint64_t *ret_ticks)
{
	char path[64], text[1024], *at;
	int fd, field;
	ssize_t n;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	fd = fib_os_open(path);
	if (fd < 0)
		return -ENODATA;
	n = read(fd, text, sizeof text - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	at = strrchr(text, ')');
	for (field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	if (!at)
		return -ENODATA;
	*ret_ticks = strtoull(at, NULL, 10);
	return 0;
}

const char *fib_os_setting(const char *name)
{
	return secure_getenv(name);
}
