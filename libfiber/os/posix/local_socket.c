/* SPDX-License-Identifier: MIT */
/* local_socket.c - listen at a path, and find out who does */
#include "os/local.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/compiler.h"

static int address(struct sockaddr_un *at, const char *path)
{
	size_t n = strlen(path);

	if (n >= sizeof at->sun_path)
		return -ENAMETOOLONG;
	memset(at, 0, sizeof *at);
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
	fd = fib_os_local_socket();
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
	fd = fib_os_local_socket();
	if (fd < 0)
		return fd;
	/* EAGAIN: its backlog is full, so there is a listener. */
	rc = connect(fd, (struct sockaddr *)&at, sizeof at) == 0 || errno == EAGAIN ? 0 : -errno;
	close(fd);
	return rc;
}

fib_noinline bool fib_os_local_ours(const char *path)
{
	struct sockaddr_un at;
	struct fib_os_who who = {.pid = 0};
	int fd = address(&at, path) < 0 ? -1 : fib_os_local_socket();

	if (fd < 0)
		return false;
	if (connect(fd, (struct sockaddr *)&at, sizeof at) == 0)
		fib_os_local_who(fd, &who);
	close(fd);
	return who.pid == getpid();
}

fib_noinline ssize_t fib_os_local_read(int fd, void *buf, size_t size)
{
	ssize_t n;

	do
		n = read(fd, buf, size);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}
