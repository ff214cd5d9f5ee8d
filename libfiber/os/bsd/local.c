/* SPDX-License-Identifier: MIT */
/*
 * local.c - local sockets and their folder
 *
 * A path has at most 103 bytes here, less than FIB_OS_LOCAL_MAX. A listener whose queue is full refuses a
 * connection, as if there was none: the callers of fib_os_local_probe() then take its file for a stale one,
 * unless they know that its process lives.
 */
#include "os/local.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/compiler.h"
#include "os/bsd/system.h"

static int address(struct sockaddr_un *at, const char *path)
{
	size_t n = strlen(path);

	if (n >= sizeof at->sun_path)
		return -ENAMETOOLONG;
	memset(at, 0, sizeof *at);
	at->sun_len = sizeof *at;
	at->sun_family = AF_UNIX;
	memcpy(at->sun_path, path, n);
	return 0;
}

/*
 * The mode is set before listen(), so no client can connect while only the umask protects the
 * socket.
 */
static int bind_and_listen(int fd, const struct sockaddr_un *at, int backlog)
{
	int rc;

	if (bind(fd, (const struct sockaddr *)at, sizeof *at) < 0)
		return -errno;
	if (chmod(at->sun_path, 0600) == 0 && listen(fd, backlog) == 0)
		return 0;
	rc = -errno;
	unlink(at->sun_path);
	return rc;
}

fib_noinline int fib_os_local_listen(const char *path, int backlog)
{
	struct sockaddr_un at;
	int fd, rc = address(&at, path);

	if (rc < 0)
		return rc;
	fd = fib_bsd_local_socket();
	if (fd < 0)
		return fd;
	rc = bind_and_listen(fd, &at, backlog);
	if (rc < 0)
		close(fd);
	return rc < 0 ? rc : fd;
}

fib_noinline int fib_os_local_probe(const char *path)
{
	struct sockaddr_un at;
	struct stat st;
	int fd, rc = address(&at, path);

	if (rc < 0)
		return rc;
	if (lstat(path, &st) < 0)
		return -errno;
	if (!S_ISSOCK(st.st_mode))
		return -ENOTSOCK;
	fd = fib_bsd_local_socket();
	if (fd < 0)
		return fd;
	rc = connect(fd, (struct sockaddr *)&at, sizeof at) < 0 ? -errno : 0;
	close(fd);
	return rc;
}

fib_noinline bool fib_os_local_ours(const char *path)
{
	struct sockaddr_un at;
	pid_t pid = 0;
	int fd = address(&at, path) < 0 ? -1 : fib_bsd_local_socket();

	if (fd < 0)
		return false;
	if (connect(fd, (struct sockaddr *)&at, sizeof at) == 0)
		pid = fib_bsd_peer(fd);
	close(fd);
	return pid == getpid();
}

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

fib_noinline ssize_t fib_os_local_read(int fd, void *buf, size_t size)
{
	ssize_t n;

	do
		n = read(fd, buf, size);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
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

fib_noinline int fib_os_make_folder(const char *path, mode_t mode)
{
	return mkdir(path, mode) < 0 ? -errno : 0;
}

fib_noinline int fib_os_rename(const char *from, const char *to)
{
	return rename(from, to) < 0 ? -errno : 0;
}

fib_noinline int fib_os_unlink(const char *path)
{
	return unlink(path) < 0 ? -errno : 0;
}

fib_noinline int fib_os_each_entry(const char *folder, void (*each)(void *arg, const char *name),
				   void *arg)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	if (!dir)
		return -errno;
	while ((entry = readdir(dir)))
		each(arg, entry->d_name);
	closedir(dir);
	return 0;
}

fib_noinline int fib_os_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

fib_noinline int fib_os_set_modified(const char *path, uint32_t nanoseconds)
{
	const struct timespec times[2] = {{0, UTIME_OMIT}, {time(NULL), nanoseconds}};

	return utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

fib_noinline bool fib_os_pid_exists(pid_t pid)
{
	return kill(pid, 0) == 0 || errno != ESRCH;
}

uid_t fib_os_uid(void)
{
	return geteuid();
}

const char *fib_os_setting(const char *name)
{
	return issetugid() ? NULL : getenv(name);
}
