/* SPDX-License-Identifier: MIT */
/*
 * stream.c - read and write bytes
 *
 * First a try that does not wait. A socket has a flag for that (MSG_DONTWAIT); whatever else there
 * is, libfiber knows how to try it (a deadline in the past). Only if the try would wait, the flags
 * of the descriptor are asked for, and the fiber parks.
 *
 * A file that is no socket is remembered by its number (hints.h), so that the next call need not try it as
 * one. The hint may be out of date; the only consequence is that -ETIMEDOUT of a socket is taken
 * for "would wait".
 *
 * A blocking write moves all bytes. If it has moved some, an error is kept for the next call, which
 * meets it again.
 */
#include "call/stream.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/socket.h>

#include <fiber/io.h>
#include <fiber/posix.h>

#include "call/hints.h"
#include "call/park.h"
#include "call/signal.h"
#include "system/system.h"

ssize_t fpx_broken(ssize_t n)
{
	if (n == -EPIPE)
		fpx_signal_caller(SIGPIPE);
	return n;
}

/* Whether a try of libfiber with a deadline in the past would wait. The second call tells why. */
static bool would_wait(ssize_t n)
{
	return n == -ETIMEDOUT || n == -ECANCELED;
}

/* -EAGAIN: it would wait. */
static ssize_t try_read(int fd, const struct iovec *v, int count)
{
	ssize_t n;

	if (!(fpx_hints_of(fd) & FPX_NO_SOCKET)) {
		struct msghdr msg = {.msg_iov = (struct iovec *)(uintptr_t)v, .msg_iovlen = count};

		n = count == 1 ? fiber_recv(fd, v->iov_base, v->iov_len, MSG_DONTWAIT, 0)
			       : fiber_recvmsg(fd, &msg, MSG_DONTWAIT, 0);
		if (n != -ENOTSOCK)
			return n;
		fpx_set_hint(fd, FPX_NO_SOCKET);
	}
	n = count == 1 ? fiber_read(fd, v->iov_base, v->iov_len, 0) : fiber_readv(fd, v, count, 0);
	return would_wait(n) ? -EAGAIN : n;
}

static ssize_t read_pieces(int fd, const struct iovec *v, int count)
{
	ssize_t n = try_read(fd, v, count);
	int64_t deadline;
	int rc;

	if (n != -EAGAIN)
		return n;
	rc = fpx_may_wait(fd, SO_RCVTIMEO, &deadline);
	if (rc <= 0)
		return rc < 0 ? rc : -EAGAIN;
	n = count == 1 ? fiber_read(fd, v->iov_base, v->iov_len, deadline)
		       : fiber_readv(fd, v, count, deadline);
	return fpx_late(n, deadline) ? -EAGAIN : n;
}

ssize_t fiber_posix_read(int fd, void *buf, size_t size)
{
	const struct iovec v = {buf, size};

	/* A read of 0 bytes never waits, but recv(2) of 0 bytes does. */
	if (!size || !fpx_parks())
		return fpx_system.read(fd, buf, size);
	return fpx_result(read_pieces(fd, &v, 1));
}

size_t fpx_pieces_size(const struct iovec *v, size_t count)
{
	size_t size = 0, i;

	for (i = 0; i < count; i++)
		size += v[i].iov_len;
	return size;
}

ssize_t fiber_posix_readv(int fd, const struct iovec *pieces, int count)
{
	if (count <= 0 || count > IOV_MAX || !fpx_parks() ||
	    !fpx_pieces_size(pieces, (size_t)count))
		return fpx_system.readv(fd, pieces, count);
	return fpx_result(read_pieces(fd, pieces, count));
}

static ssize_t try_write(int fd, const struct iovec *v, int count)
{
	ssize_t n;

	if (!(fpx_hints_of(fd) & FPX_NO_SOCKET)) {
		const struct msghdr msg = {.msg_iov = (struct iovec *)(uintptr_t)v,
					   .msg_iovlen = count};

		n = count == 1 ? fiber_send(fd, v->iov_base, v->iov_len, MSG_DONTWAIT, 0)
			       : fiber_sendmsg(fd, &msg, MSG_DONTWAIT, 0);
		if (n != -ENOTSOCK)
			return n;
		fpx_set_hint(fd, FPX_NO_SOCKET);
	}
	n = count == 1 ? fiber_write(fd, v->iov_base, v->iov_len, 0)
		       : fiber_writev(fd, v, count, 0);
	return would_wait(n) ? -EAGAIN : n;
}

ssize_t fpx_write_rest(int fd, const struct iovec *v, size_t count, size_t done, int64_t deadline)
{
	size_t start = 0, i;

	/* start: where the piece begins in the whole. */
	for (i = 0; i < count; start += v[i++].iov_len) {
		while (done < start + v[i].iov_len) {
			const size_t at = done - start;
			const ssize_t n = fiber_write(fd, (const char *)v[i].iov_base + at,
						      v[i].iov_len - at, deadline);

			if (n <= 0)
				return done ? (ssize_t)done : n;
			done += (size_t)n;
		}
	}
	return (ssize_t)done;
}

static ssize_t write_pieces(int fd, const struct iovec *v, int count)
{
	const size_t size = fpx_pieces_size(v, (size_t)count);
	ssize_t n = try_write(fd, v, count);
	int64_t deadline;
	int rc;

	/* -EINPROGRESS: TCP_FASTOPEN_CONNECT has begun to connect, and has sent nothing. */
	if (n != -EAGAIN && n != -EINPROGRESS && (n < 0 || (size_t)n >= size))
		return n;
	rc = fpx_may_wait(fd, SO_SNDTIMEO, &deadline);
	if (rc <= 0)
		return rc < 0 ? rc : n;
	/* In one call: the pieces are one message of a socket, and one atomic write to a pipe. */
	if (n < 0)
		n = count == 1 ? fiber_write(fd, v->iov_base, v->iov_len, deadline)
			       : fiber_writev(fd, v, count, deadline);
	if (n > 0 && (size_t)n < size)
		n = fpx_write_rest(fd, v, (size_t)count, (size_t)n, deadline);
	return fpx_late(n, deadline) ? -EAGAIN : n;
}

ssize_t fiber_posix_write(int fd, const void *buf, size_t size)
{
	const struct iovec v = {(void *)(uintptr_t)buf, size};

	if (!fpx_parks())
		return fpx_system.write(fd, buf, size);
	return fpx_result(fpx_broken(write_pieces(fd, &v, 1)));
}

ssize_t fiber_posix_writev(int fd, const struct iovec *pieces, int count)
{
	if (count <= 0 || count > IOV_MAX || !fpx_parks())
		return fpx_system.writev(fd, pieces, count);
	return fpx_result(fpx_broken(write_pieces(fd, pieces, count)));
}
