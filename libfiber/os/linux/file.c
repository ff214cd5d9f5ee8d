/* SPDX-License-Identifier: MIT */
/*
 * file.c - read and write without blocking, even on blocking descriptors
 *
 * The file status flags belong to the program: a blocking descriptor must not block a carrier and
 * must stay blocking. For sockets each call has MSG_DONTWAIT. For all other files RWF_NOWAIT is
 * used. Some files do not know it, or know it and have no data at hand. What follows depends on the
 * kind of file. A caller can remember that a descriptor is no socket, which saves the call that
 * fails; a number that means a socket by now is served all the same.
 *
 * A file on a disk is always ready for poll(2), and a call for data that is not in memory waits for
 * the disk even if the descriptor is non-blocking. The result is FIB_OS_SLOW, and the caller uses
 * another thread.
 *
 * Other files (terminals, inotify) are used directly if their descriptor is non-blocking. If not,
 * only poll(2) before the call helps, and another reader may take the data in between. The result
 * is FIB_OS_UNSURE, and the caller excludes at least other readers of this process.
 */
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/compiler.h"
#include "os/calls.h"
#include "os/quiet.h"

/* The most bytes that one call moves. */
#define CALL_MAX 0x7ffff000u

/* A result of refused(), beside those of enum in os.h: the call without a flag does not block. */
#define DIRECT (FIB_OS_SLOW - 1)

static ssize_t result(ssize_t n)
{
	return n < 0 ? -errno : n;
}

static bool on_disk(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (S_ISREG(st.st_mode) || S_ISBLK(st.st_mode));
}

/*
 * How to do a call without RWF_NOWAIT on what is no file on a disk. DIRECT: the descriptor is
 * non-blocking. wrong: the open mode with which the call fails. poll(2) would not report that: the
 * writing end of a pipe never has anything to read.
 */
static ssize_t without_nowait(int fd, int wrong)
{
	const int flags = fcntl(fd, F_GETFL);

	if (flags < 0)
		return FIB_OS_UNSURE;
	if ((flags & O_ACCMODE) == wrong)
		return -EBADF;
	return flags & O_NONBLOCK ? DIRECT : FIB_OS_UNSURE;
}

/* How to do a call that has failed with RWF_NOWAIT and errno, or that a sandbox forbids. */
static ssize_t refused(int fd, int wrong)
{
	const int error = errno;

	if (error != EOPNOTSUPP && error != EAGAIN && !fib_os_is_refusal(-error))
		return -error;
	if (on_disk(fd))
		return FIB_OS_SLOW;
	if (error == EAGAIN)
		return -EAGAIN;
	return without_nowait(fd, wrong);
}

/* RWF_NOWAIT has returned n. Returns the result of the call, or how to do it. */
static ssize_t after_nowait(int fd, ssize_t n, int wrong, bool *plain)
{
	const bool trusted = *plain;

	*plain = n >= 0 || errno == EAGAIN;
	if (n < 0)
		n = trusted && *plain ? -EAGAIN : refused(fd, wrong);
	if (n == FIB_OS_SLOW)
		*plain = false;
	return n;
}

static ssize_t read_file(int fd, const struct iovec *v, int count, bool *plain)
{
	ssize_t n = preadv2(fd, v, count, -1, RWF_NOWAIT);

	n = after_nowait(fd, n, O_WRONLY, plain);
	return n == DIRECT ? result(readv(fd, v, count)) : n;
}

static ssize_t write_file(int fd, const struct iovec *v, int count, bool *plain)
{
	ssize_t n = fib_os_quiet_writev(fd, v, count, RWF_NOWAIT);

	n = after_nowait(fd, n, O_RDONLY, plain);
	return n == DIRECT ? result(fib_os_quiet_writev(fd, v, count, 0)) : n;
}

/* Whether a blocking socket may be there now, on a kernel that knows no RWF_NOWAIT for sockets. */
static bool try_as_socket(ssize_t n, bool tried_plain, bool plain)
{
	return n == FIB_OS_UNSURE && tried_plain && !plain;
}

fib_noinline ssize_t fib_os_read_as(int fd, void *buf, size_t size, bool *plain)
{
	const struct iovec v = {buf, size};
	bool was;
	ssize_t n;

	/* A read of 0 bytes needs no data, but recv(2) on a socket would wait for data. */
	if (!size)
		return result(read(fd, buf, 0));
	do {
		was = *plain;
		n = was ? -ENOTSOCK : fib_os_recv_now(fd, buf, size, MSG_DONTWAIT);
		if (n == -ENOTSOCK)
			n = read_file(fd, &v, 1, plain);
	} while (n == -EINTR || try_as_socket(n, was, *plain));
	return n;
}

fib_noinline ssize_t fib_os_write_as(int fd, const void *buf, size_t size, bool *plain)
{
	const struct iovec v = {(void *)(uintptr_t)buf, size};
	bool was;
	ssize_t n;

	do {
		was = *plain;
		n = was ? -ENOTSOCK : fib_os_send_now(fd, buf, size, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n == -ENOTSOCK)
			n = write_file(fd, &v, 1, plain);
	} while (n == -EINTR || try_as_socket(n, was, *plain));
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
	bool plain = false;
	ssize_t n;

	if (count < 0 || count > IOV_MAX)
		return -EINVAL;
	if (!any(v, count))
		return result(readv(fd, v, count));
	m.msg_iovlen = (size_t)count;
	do {
		n = recvmsg(fd, &m, MSG_DONTWAIT);
		if (n < 0 && errno == ENOTSOCK)
			n = read_file(fd, v, count, &plain);
		else if (n < 0)
			n = -errno;
	} while (n == -EINTR);
	return n;
}

fib_noinline ssize_t fib_os_writev(int fd, const struct iovec *v, int count)
{
	struct msghdr m = {.msg_iov = (struct iovec *)(uintptr_t)v};
	bool plain = false;
	ssize_t n;

	if (count < 0 || count > IOV_MAX)
		return -EINVAL;
	m.msg_iovlen = (size_t)count;
	do {
		n = sendmsg(fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0 && errno == ENOTSOCK)
			n = write_file(fd, v, count, &plain);
		else if (n < 0)
			n = -errno;
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
		return flags & O_DIRECT ? 0 : size; /* O_DIRECT would not move the offset */
	at = lseek(fd, 0, SEEK_CUR);
	if (at < 0)
		return 0;
	/* Files made by the kernel, as in /proc, have a size of 0. */
	if (!writing && (off_t)size > st.st_size - at)
		size = st.st_size > at ? (size_t)(st.st_size - at) : 0;
	end = size ? lseek(fd, (off_t)size, SEEK_CUR) : 0;
	if (end < (off_t)size || !size)
		return 0;
	/* Not `at`: another caller may have moved the offset in between. */
	*ret_at = end - (off_t)size;
	return size;
}
