/* SPDX-License-Identifier: MIT */
/*
 * operation.c - operations of io_uring(7) on internet sockets of the schedule
 *
 * Such a socket is a UNIX socket for the kernel, which knows neither its address nor what belongs to
 * a datagram. So what an operation asks for is done by libfiber's own call. Where there is none,
 * and where no fiber waits for the operation, the schedule ends with a finding that says what to
 * call instead.
 */
#include "operation.h"

#include <fcntl.h>
#include <linux/io_uring.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include <fiber/io.h>

#include "base/compiler.h"
#include "explore/finding.h"
#include "net/own.h"
#include "net/sockets.h"
#include "os/virtual.h"
#include "poll/ring.h"
#include "wait/wait.h"

_Static_assert(sizeof(struct io_uring_sqe) == FIB_RING_ENTRY, "poll/ring.h");

#define OTHER_ORDER (IOSQE_IO_LINK | IOSQE_IO_HARDLINK | IOSQE_IO_DRAIN)

static const char *name_of(unsigned opcode)
{
	static const char *const names[] = {
		[IORING_OP_READV] = "readv",
		[IORING_OP_WRITEV] = "writev",
		[IORING_OP_READ_FIXED] = "read_fixed",
		[IORING_OP_WRITE_FIXED] = "write_fixed",
		[IORING_OP_POLL_ADD] = "poll_add",
		[IORING_OP_SENDMSG] = "sendmsg",
		[IORING_OP_RECVMSG] = "recvmsg",
		[IORING_OP_ACCEPT] = "accept",
		[IORING_OP_CONNECT] = "connect",
		[IORING_OP_CLOSE] = "close",
		[IORING_OP_READ] = "read",
		[IORING_OP_WRITE] = "write",
		[IORING_OP_SEND] = "send",
		[IORING_OP_RECV] = "recv",
		[IORING_OP_SPLICE] = "splice",
		[IORING_OP_TEE] = "tee",
		[IORING_OP_SHUTDOWN] = "shutdown",
		[IORING_OP_SOCKET] = "socket",
		[IORING_OP_SEND_ZC] = "send_zc",
		[IORING_OP_SENDMSG_ZC] = "sendmsg_zc",
	};

	return opcode < fib_countof(names) && names[opcode] ? names[opcode] : "of another kind";
}

/* Whether it is about an internet socket of the schedule. *ret_fd: its descriptor; -1: a new one. */
static bool is_inside(const struct io_uring_sqe *e, int *ret_fd)
{
	*ret_fd = -1;
	/* The kernel refuses these, or the number is none of a descriptor. */
	if (!fib_virtual_here() || e->flags & (OTHER_ORDER | IOSQE_FIXED_FILE))
		return false;
	if (e->opcode == IORING_OP_SOCKET)
		return e->fd == AF_INET || e->fd == AF_INET6;
	*ret_fd = e->fd;
	if (fib_socket_of(e->fd))
		return true;
	if (e->opcode != IORING_OP_SPLICE && e->opcode != IORING_OP_TEE)
		return false;
	*ret_fd = e->splice_fd_in;
	return !(e->splice_flags & SPLICE_F_FD_IN_FIXED) && fib_socket_of(e->splice_fd_in);
}

static void *pointer(uint64_t address)
{
	return (void *)(uintptr_t)address;
}

/* Give a new descriptor the flags that were asked for. */
static int with_flags(int fd, unsigned flags)
{
	if (fd < 0)
		return fd;
	fcntl(fd, F_SETFD, flags & SOCK_CLOEXEC ? FD_CLOEXEC : 0);
	if (flags & SOCK_NONBLOCK)
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	return fd;
}

static int of_errno(int rc)
{
	return rc < 0 ? -errno : rc;
}

/* Operations that move bytes. False: it is none. */
static bool transfer(const struct io_uring_sqe *e, int64_t deadline, ssize_t *ret)
{
	void *const at = pointer(e->addr);
	const int flags = (int)e->msg_flags;

	switch (e->opcode) {
	case IORING_OP_READ:
		*ret = fiber_read(e->fd, at, e->len, deadline);
		return true;
	case IORING_OP_WRITE:
		*ret = fiber_write(e->fd, at, e->len, deadline);
		return true;
	case IORING_OP_READV:
		*ret = fiber_readv(e->fd, at, (int)e->len, deadline);
		return true;
	case IORING_OP_WRITEV:
		*ret = fiber_writev(e->fd, at, (int)e->len, deadline);
		return true;
	case IORING_OP_RECV:
		*ret = fiber_recv(e->fd, at, e->len, flags, deadline);
		return true;
	case IORING_OP_SEND:
		*ret = fiber_sendto(e->fd, at, e->len, flags, pointer(e->addr2), e->addr_len,
				    deadline);
		return true;
	case IORING_OP_RECVMSG:
		*ret = fiber_recvmsg(e->fd, at, flags, deadline);
		return true;
	case IORING_OP_SENDMSG:
		*ret = fiber_sendmsg(e->fd, at, flags, deadline);
		return true;
	default:
		return false;
	}
}

/* All others that are known. */
static bool perform(const struct io_uring_sqe *e, int64_t deadline, ssize_t *ret)
{
	switch (e->opcode) {
	case IORING_OP_SOCKET:
		*ret = of_errno(fib_own_socket(e->fd, (int)e->off, (int)e->len));
		return true;
	case IORING_OP_CONNECT:
		*ret = fiber_connect(e->fd, pointer(e->addr), (socklen_t)e->off, deadline);
		return true;
	case IORING_OP_ACCEPT:
		*ret = with_flags(
			fiber_accept(e->fd, pointer(e->addr), pointer(e->addr2), deadline),
			e->accept_flags);
		return true;
	case IORING_OP_POLL_ADD:
		*ret = fiber_wait_fd(e->fd, (short)e->poll32_events, deadline);
		return true;
	case IORING_OP_SHUTDOWN:
		*ret = of_errno(shutdown(e->fd, (int)e->len));
		return true;
	case IORING_OP_CLOSE:
		*ret = fiber_close(e->fd);
		return true;
	default:
		return transfer(e, deadline, ret);
	}
}

/* What libfiber's calls cannot do: several results, buffers and descriptors of the ring. */
static bool is_special(const struct io_uring_sqe *e)
{
	const bool has_index = e->opcode == IORING_OP_ACCEPT || e->opcode == IORING_OP_SOCKET ||
			       e->opcode == IORING_OP_CLOSE;

	return e->flags & IOSQE_BUFFER_SELECT || e->ioprio & ~IORING_RECVSEND_POLL_FIRST ||
	       (has_index && e->file_index) || (e->opcode == IORING_OP_POLL_ADD && e->len);
}

_Noreturn static void refuse(const char *call, const struct io_uring_sqe *e, int fd,
			     const char *remedy)
{
	if (fd < 0)
		fib_finding(FIBER_TEST_FAILED,
			    "%s: operation %u (%s) makes an internet socket, which is in the "
			    "process: %s",
			    call, e->opcode, name_of(e->opcode), remedy);
	fib_finding(FIBER_TEST_FAILED,
		    "%s: operation %u (%s) names descriptor %d, an internet socket, which is in "
		    "the process: %s",
		    call, e->opcode, name_of(e->opcode), fd, remedy);
}

bool fib_operation_await(const void *entry, int64_t deadline, int *ret)
{
	const struct io_uring_sqe *e = entry;
	ssize_t n = 0;
	int fd;

	if (!is_inside(e, &fd))
		return false;
	*ret = fib_wait_check(deadline);
	/* After the deadline the operation is still tried once. */
	if (*ret < 0 && *ret != -ETIMEDOUT)
		return true;
	if (is_special(e) || !perform(e, deadline, &n))
		refuse("fiber_op_await", e, fd,
		       "call a function of <fiber/io.h>, or test it with a UNIX socket");
	*ret = (int)n;
	return true;
}

void fib_operation_detach(const void *entry)
{
	int fd;

	if (is_inside(entry, &fd))
		refuse("fiber_op_detach", entry, fd,
		       "await it, by fiber_op_await() in a fiber of its own");
}
