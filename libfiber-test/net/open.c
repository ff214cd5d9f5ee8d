/* SPDX-License-Identifier: MIT */
/*
 * open.c - make, duplicate and close descriptors; in place of libc's functions
 *
 * In a schedule socket() makes a UNIX socket where an internet one was asked for. Other kinds of
 * internet sockets, such as raw ones, are refused: nothing may leave the process. A call of the
 * program may find no descriptor (explore/faults.h).
 *
 * When the last descriptor of a connection is closed, TCP sends the end of the stream: the peer may
 * read what is left, and its first write succeeds. A UNIX socket would report POLLHUP and EPIPE at
 * once. So its end is shut down and stays open under a high number (it lingers) until the peer
 * writes (stream.c), or is closed too. An epoll set would keep it; so it is taken out of those in
 * which the program has put it. A connection with unread data is reset, as by TCP.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "explore/faults.h"
#include "net/inside.h"
#include "net/linked.h"
#include "net/own.h"
#include "net/real.h"
#include "net/sockets.h"
#include "os/virtual.h"

const char fib_net_open;

#define LINGER_FROM 800 /* the lowest number of a descriptor that lingers */

static int fail(int error)
{
	errno = error;
	return -1;
}

static int open_inside(int family, int type, int protocol)
{
	const int kind = type & ~(SOCK_CLOEXEC | SOCK_NONBLOCK);
	const int usual = kind == SOCK_STREAM ? IPPROTO_TCP : IPPROTO_UDP;
	int fd;

	if (kind == SOCK_RAW)
		return fail(EPERM);
	if ((kind != SOCK_STREAM && kind != SOCK_DGRAM) || (protocol && protocol != usual))
		return fail(kind == SOCK_STREAM || kind == SOCK_DGRAM ? EPROTONOSUPPORT
								      : ESOCKTNOSUPPORT);
	fd = fib_real()->socket(AF_UNIX, type, 0);
	if (fd >= 0 && !fib_socket_add(fd, family, kind == SOCK_STREAM)) {
		fib_real()->close(fd);
		return fail(ENOMEM);
	}
	return fd;
}

/* Whether the program's call finds no descriptor, by a fault. Then errno is set. */
static bool has_none(const struct fib_call *call)
{
	const int rc = fib_fault_of_call(call, FIB_FAULT_DESCRIPTOR);

	if (rc < 0)
		errno = -rc;
	return rc < 0;
}

static int open_socket(const struct fib_call *call, int family, int type, int protocol)
{
	if (has_none(call))
		return -1;
	if (!fib_virtual_here())
		return fib_real()->socket(family, type, protocol);
	if (family == AF_INET || family == AF_INET6)
		return open_inside(family, type, protocol);
	if (family == AF_PACKET)
		return fail(EPERM);
	return fib_real()->socket(family, type, protocol);
}

int socket(int family, int type, int protocol)
{
	return open_socket(FIB_CALL_HERE, family, type, protocol);
}

int fib_own_socket(int family, int type, int protocol)
{
	return open_socket(NULL, family, type, protocol);
}

int socketpair(int family, int type, int protocol, int ends[2])
{
	const int rc =
		has_none(FIB_CALL_HERE) ? -1 : fib_real()->socketpair(family, type, protocol, ends);

	if (rc == 0)
		fib_inside_note(ends, 2);
	return rc;
}

static int open_pipe(const struct fib_call *call, int ends[2], int flags)
{
	const int rc = has_none(call) ? -1 : fib_real()->pipe2(ends, flags);

	if (rc == 0)
		fib_inside_note(ends, 2);
	return rc;
}

int pipe(int ends[2])
{
	return open_pipe(FIB_CALL_HERE, ends, 0);
}

int pipe2(int ends[2], int flags)
{
	return open_pipe(FIB_CALL_HERE, ends, flags);
}

int fib_own_pipe2(int ends[2], int flags)
{
	return open_pipe(NULL, ends, flags);
}

static int open_event(const struct fib_call *call, unsigned value, int flags)
{
	const int fd = has_none(call) ? -1 : fib_real()->eventfd(value, flags);

	if (fd >= 0)
		fib_inside_note(&fd, 1);
	return fd;
}

int eventfd(unsigned value, int flags)
{
	return open_event(FIB_CALL_HERE, value, flags);
}

int fib_own_eventfd(unsigned value, int flags)
{
	return open_event(NULL, value, flags);
}

int timerfd_create(int clock, int flags)
{
	return has_none(FIB_CALL_HERE) ? -1 : fib_real()->timerfd_create(clock, flags);
}

int fib_own_timerfd_create(int clock, int flags)
{
	return fib_real()->timerfd_create(clock, flags);
}

static int duplicated(int fd, int copy)
{
	struct fib_socket *s = copy >= 0 ? fib_socket_of(copy) : NULL;

	if (s && fd != copy)
		s->references++;
	return copy;
}

/* Take it out of the epoll sets of the program, as closing it does. */
static void leave_epolls(struct fib_socket *s, int fd)
{
	const int error = errno;

	while (s->epoll_count)
		fib_real()->epoll_ctl(s->epolls[--s->epoll_count], EPOLL_CTL_DEL, fd, NULL);
	errno = error;
}

static void linger(struct fib_socket *s, int fd)
{
	int unread = 0;

	if (fib_real()->ioctl(fd, FIONREAD, &unread) < 0 || unread)
		return;
	s->lingering = fib_real()->fcntl(fd, F_DUPFD_CLOEXEC, LINGER_FROM);
	if (s->lingering < 0)
		return;
	leave_epolls(s, fd);
	fib_real()->shutdown(fd, SHUT_WR);
}

/* fd is about to be closed. */
static void retire(int fd)
{
	struct fib_socket *s = fib_socket_of(fd);
	const int error = errno;

	if (!s || --s->references || s->shared)
		return;
	s->closed = true;
	if (s->stream && s->connected && !(s->peer && s->peer->closed))
		linger(s, fd);
	else
		fib_socket_let_go(s);
	if (s->peer && s->peer->closed)
		fib_socket_let_go(s->peer);
	errno = error;
}

int close(int fd)
{
	retire(fd);
	return fib_real()->close(fd);
}

int dup(int fd)
{
	return duplicated(fd, fib_real()->dup(fd));
}

/* fd takes the place of another descriptor. */
static void replace(int fd, int other)
{
	const int error = errno;

	if (fd != other && fib_real()->fcntl(fd, F_GETFD) >= 0)
		retire(other);
	errno = error;
}

int dup2(int fd, int other)
{
	replace(fd, other);
	return duplicated(fd, fib_real()->dup2(fd, other));
}

int dup3(int fd, int other, int flags)
{
	replace(fd, other);
	return duplicated(fd, fib_real()->dup3(fd, other, flags));
}

/* No command has more than one argument, which fits into a pointer. */
int fcntl(int fd, int command, ...)
{
	va_list ap;
	void *arg;
	int rc;

	va_start(ap, command);
	arg = va_arg(ap, void *);
	va_end(ap);
	rc = fib_real()->fcntl(fd, command, arg);
	return command == F_DUPFD || command == F_DUPFD_CLOEXEC ? duplicated(fd, rc) : rc;
}

int fcntl64(int fd, int command, ...) __attribute__((alias("fcntl")));
