/* SPDX-License-Identifier: MIT */
/*
 * local.c - local sockets
 *
 * A path has at most 103 bytes here, less than FIB_OS_LOCAL_MAX. A listener whose queue is full refuses a
 * connection, as if there was none: the callers of fib_os_local_probe() then take its file for a stale one,
 * unless they know that its process lives.
 */
#include "os/local.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/compiler.h"
#include "os/bsd/system.h"

fib_noinline int fib_os_local_accept(int fd)
{
	int got;

	do
		got = fib_bsd_accept(fd, NULL, NULL, true);
	while (got == -EINTR || got == -ECONNABORTED);
	return got;
}

fib_noinline int fib_os_local_who(int fd, struct fib_os_who *ret)
{
	gid_t group;

	if (getpeereid(fd, &ret->uid, &group) < 0)
		return -errno;
	ret->pid = fib_bsd_peer(fd);
	return 0;
}

fib_noinline ssize_t fib_os_local_write(int fd, const void *buf, size_t size)
{
	struct iovec v = {(void *)(uintptr_t)buf, size};
	const struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
	ssize_t n;

	/* macOS sends SIGPIPE to the process: that this thread blocks it would not help. */
	do
		n = fib_bsd_sendmsg(fd, &m, 0);
	while (n == -EINTR);
	return n;
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
	ret->device = (uint64_t)st.st_dev;
	ret->inode = st.st_ino;
	ret->age = (int64_t)(time(NULL) - st.st_mtime);
	ret->modified = (uint32_t)st.st_mtimespec.tv_nsec;
	return 0;
}

const char *fib_os_setting(const char *name)
{
	return issetugid() ? NULL : getenv(name);
}
