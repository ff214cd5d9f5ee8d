/* SPDX-License-Identifier: MIT */
/*
 * file.c - read and write without blocking, even on blocking descriptors
 *
 * The rules are those of os/linux/file.c, without its flag RWF_NOWAIT: no call says whether data of a
 * disk is in memory. So each read and write of a file on a disk is FIB_OS_SLOW, and takes another thread.
 * Other files that are no sockets are used directly if their descriptor is non-blocking; if not, the
 * result is FIB_OS_UNSURE. No descriptor is ever *plain.
 */
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/compiler.h"
#include "os/bsd/system.h"
#include "os/calls.h"
#include "os/quiet.h"

/* The most bytes that one call moves. More are an error of the system. */
#define CALL_MAX ((size_t)INT_MAX)

static ssize_t result(ssize_t n)
{
	return n < 0 ? -errno : n;
}

/*
 * How to use a descriptor that is no socket. 0: the call does not block. wrong: the open mode with
 * which the call fails.
 */
static int how(int fd, int wrong)
{
	const int flags = fcntl(fd, F_GETFL);
	struct stat st;

	if (flags < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (S_ISREG(st.st_mode) || S_ISBLK(st.st_mode))
		return FIB_OS_SLOW;
	if ((flags & O_ACCMODE) == wrong)
		return -EBADF;
	return flags & O_NONBLOCK ? 0 : FIB_OS_UNSURE;
}

static ssize_t read_file(int fd, const struct iovec *v, int count)
{
	const int rc = how(fd, O_WRONLY);

	return rc == 0 ? result(readv(fd, v, count)) : rc;
}

static ssize_t write_file(int fd, const struct iovec *v, int count)
{
	const int rc = how(fd, O_RDONLY);

	return rc == 0 ? result(fib_os_quiet_writev(fd, v, count, 0)) : rc;
}

fib_noinline ssize_t fib_os_read_as(int fd, void *buf, size_t size, bool *plain)
{
	const struct iovec v = {buf, size < CALL_MAX ? size : CALL_MAX};
	ssize_t n;

	*plain = false;
	/* A read of 0 bytes needs no data, but recv(2) on a socket would wait for data. */
	if (!size)
		return result(read(fd, buf, 0));
	do {
		n = fib_os_recv_now(fd, buf, v.iov_len, MSG_DONTWAIT);
		if (n == -ENOTSOCK)
			n = read_file(fd, &v, 1);
	} while (n == -EINTR);
	return n;
}

fib_noinline ssize_t fib_os_write_as(int fd, const void *buf, size_t size, bool *plain)
{
	const struct iovec v = {(void *)(uintptr_t)buf, size < CALL_MAX ? size : CALL_MAX};
	ssize_t n;

	*plain = false;
	do {
		n = fib_os_send_now(fd, buf, v.iov_len, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n == -ENOTSOCK)
			n = write_file(fd, &v, 1);
	} while (n == -EINTR);
	return n;
}

fib_noinline ssize_t fib_os_read(int fd, void *buf, size_t size)
{
	bool plain = false;

	return fib_os_read_as(fd, buf, size, &plain);
}

fib_noinline ssize_t fib_os_write(int fd, const void *buf, size_t size)
{
	bool plain = false;

	return fib_os_write_as(fd, buf, size, &plain);
}

static bool any(const struct iovec *v, int count)
{
	while (count && !v[count - 1].iov_len)
		count--;
	return count;
}

fib_noinline ssize_t fib_os_readv(int fd, const struct iovec *v, int count)
{
	struct msghdr m = {.msg_iov = (struct iovec *)(uintptr_t)v};
	ssize_t n;

	if (count < 0 || count > IOV_MAX)
		return -EINVAL;
	if (!any(v, count))
		return result(readv(fd, v, count));
	m.msg_iovlen = count;
	do {
		n = result(recvmsg(fd, &m, MSG_DONTWAIT));
		if (n == -ENOTSOCK)
			n = read_file(fd, v, count);
	} while (n == -EINTR);
	return n;
}

fib_noinline ssize_t fib_os_writev(int fd, const struct iovec *v, int count)
{
	struct msghdr m = {.msg_iov = (struct iovec *)(uintptr_t)v};
	ssize_t n;

	if (count < 0 || count > IOV_MAX)
		return -EINVAL;
	m.msg_iovlen = count;
	do {
		n = fib_bsd_sendmsg(fd, &m, 0);
		if (n == -ENOTSOCK)
			n = write_file(fd, v, count);
	} while (n == -EINTR);
	return n;
}

fib_noinline size_t fib_os_claim(int fd, size_t size, bool writing, int64_t *ret_at)
{
	const int flags = fcntl(fd, F_GETFL);
	struct stat st;
	off_t at, end;

	if (flags < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	if (size > CALL_MAX)
		size = CALL_MAX;
	*ret_at = -1;
	if (writing && (flags & O_APPEND))
		return size;
	at = lseek(fd, 0, SEEK_CUR);
	if (at < 0)
		return 0;
	/* Files made by the kernel have a size of 0. */
	if (!writing && (off_t)size > st.st_size - at)
		size = st.st_size > at ? (size_t)(st.st_size - at) : 0;
	end = size ? lseek(fd, (off_t)size, SEEK_CUR) : 0;
	if (end < (off_t)size || !size)
		return 0;
	/* Not `at`: another caller may have moved the offset in between. */
	*ret_at = end - (off_t)size;
	return size;
}
