/* SPDX-License-Identifier: MIT */
/*
 * io.h - plain descriptors
 *
 * Each call tries first and parks the fiber where the descriptor is not ready; a plain thread
 * blocks in poll(2). File status flags stay as the program set them: a blocking descriptor does
 * not block a carrier. Deadlines are absolute nanoseconds on fiber_now()'s clock. Besides the
 * errors of the system call of the same name: -ETIMEDOUT past the deadline, -ECANCELED in a
 * cancelled fiber, -EBADF when the descriptor is closed with fiber_close() meanwhile, -EDEADLK
 * in a pinned fiber under FIBER_PINNED_ERROR, -ENOMEM without memory to wait. EINTR is never
 * returned. A descriptor that fibers have waited on is closed with fiber_close(): who waits for one
 * that is closed otherwise waits on until the deadline, or gets -EBADF when something happens to
 * the next that has its number, and nothing of it. No call is async-signal-safe.
 */
#ifndef FIBER_IO_H
#define FIBER_IO_H

#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <fiber/api.h>

FIBER_BEGIN_DECLS

struct addrinfo; /* <netdb.h>, which strict C11 keeps it from */

/*
 * Bytes moved, 0 at end of file; short counts as with read(2) and write(2). A socket or a pipe that
 * nobody reads gives -EPIPE and no SIGPIPE, whatever the program does with that. count: at most
 * IOV_MAX, else -EINVAL.
 *
 * Of a regular file or a block device what is not in memory is moved by a thread of fiber_block(),
 * or, for a regular file where the poller is uring, by the kernel, and no carrier waits for the
 * disk. Such a call is not given up once it has begun: a deadline, a
 * cancellation and fiber_close() count before that, so it moves the file's offset only by
 * what it returns: with uring it moves it first, and puts it back when less came of it, unless
 * somebody else has moved it since. With a deadline in the past it gives what is in memory, or -ETIMEDOUT.
 *
 * A terminal, and whatever else cannot be asked not to wait and is in blocking mode, is looked at
 * with poll(2) first: where another process reads or writes it too, that may hold up a carrier.
 */
FIBER_API ssize_t fiber_read(int fd, void *buf, size_t size, int64_t deadline);
FIBER_API ssize_t fiber_write(int fd, const void *buf, size_t size, int64_t deadline);
FIBER_API ssize_t fiber_readv(int fd, const struct iovec *pieces, int count, int64_t deadline);
FIBER_API ssize_t fiber_writev(int fd, const struct iovec *pieces, int count, int64_t deadline);

/* All of size bytes: fewer only at the end of the file, past the deadline, in a cancelled fiber or
 * after an error. Those are told when nothing has been moved; else the bytes that have, and the
 * next call tells. */
FIBER_API ssize_t fiber_read_full(int fd, void *buf, size_t size, int64_t deadline);
FIBER_API ssize_t fiber_write_full(int fd, const void *buf, size_t size, int64_t deadline);

/*
 * recv(2), send(2) and their kin, with their flags. MSG_DONTWAIT gives -EAGAIN where the call would
 * wait. MSG_WAITALL is for fiber_recv of a stream, which then is fiber_read_full; the others pass
 * over it. Nothing sends SIGPIPE. Descriptors that fiber_recvmsg brings are close-on-exec with
 * MSG_CMSG_CLOEXEC and not otherwise.
 */
FIBER_API ssize_t fiber_recv(int fd, void *buf, size_t size, int flags, int64_t deadline);
FIBER_API ssize_t fiber_send(int fd, const void *buf, size_t size, int flags, int64_t deadline);
FIBER_API ssize_t fiber_recvfrom(int fd, void *buf, size_t size, int flags, struct sockaddr *addr,
				 socklen_t *addrlen, int64_t deadline);
FIBER_API ssize_t fiber_sendto(int fd, const void *buf, size_t size, int flags,
			       const struct sockaddr *addr, socklen_t addrlen, int64_t deadline);
FIBER_API ssize_t fiber_recvmsg(int fd, struct msghdr *msg, int flags, int64_t deadline);
FIBER_API ssize_t fiber_sendmsg(int fd, const struct msghdr *msg, int flags, int64_t deadline);

/* The new descriptor, close-on-exec and otherwise with the flags accept(2) gives it. Where the
 * process or the system has no descriptor or no memory left for somebody who has come, it tries
 * again every 10 ms; past the deadline it then gives -EMFILE, -ENFILE, -ENOBUFS or -ENOMEM. Other
 * processes may accept from the same listener: one that comes too late goes on waiting as it should.
 * Before Linux 6.10, and without io_uring, that is so for a non-blocking listener only; with a
 * blocking one it may then hold up its carrier until somebody else connects. */
FIBER_API int fiber_accept(int fd, struct sockaddr *addr, socklen_t *addrlen, int64_t deadline);

/* 0 when connected. After -ETIMEDOUT the attempt goes on in the system: close the socket. -EAGAIN
 * from a Unix socket whose peer's backlog is full: nothing announces room there. */
FIBER_API int fiber_connect(int fd, const struct sockaddr *addr, socklen_t addrlen,
			    int64_t deadline);

/* Wait until one of events (poll(2)'s bits) is so; returns those that are, POLLERR and POLLHUP
 * included. */
FIBER_API int fiber_wait_fd(int fd, short events, int64_t deadline);

/* poll(2): how many have revents. Without any of them by the deadline -ETIMEDOUT and not 0. What is
 * closed with fiber_close() meanwhile has POLLNVAL. There may be as many as one likes; where a
 * thread or a pinned fiber waits, as many as the process may have descriptors. */
FIBER_API int fiber_poll(struct pollfd *fds, nfds_t n, int64_t deadline);

/* The same for two arrays of n: the lowest index of those that are ready, -EBADF when that is not
 * an open descriptor, or one is negative. n of 0: -EINVAL. */
FIBER_API int fiber_await_fds(const int *fds, const short *events, size_t n, int64_t deadline);

/*
 * open(2), on a thread of fiber_block(), or by the kernel where the poller is uring: of a FIFO or on a network it may take for ever. The new
 * descriptor, close-on-exec only with O_CLOEXEC. After -ETIMEDOUT and -ECANCELED the attempt goes
 * on there and keeps its thread for as long, or the kernel is asked to give it up, which a runtime
 * that finishes waits for; a descriptor that comes of it all the same is closed. With a
 * deadline in the past, and in a fiber that is cancelled already, nothing is attempted. -EAGAIN:
 * no thread can be made.
 */
FIBER_API int fiber_open(const char *path, int flags, mode_t mode, int64_t deadline);

/* close(2), after waking every fiber that waits on the descriptor with -EBADF. A pinned fiber, and
 * a thread, waits for it in the operating system and is not woken. */
FIBER_API int fiber_close(int fd);

/*
 * Run fn(arg) on a thread of its own, for what can only block, and wait until it returns. A
 * fiber parks, a thread blocks. *ret: what fn returned. Threads are made as they are needed, at
 * most 64 in a process; what comes when all are busy is served first in, first out. A thread
 * that has had nothing to do for 3 seconds ends. fn runs as on any plain thread, with signals
 * blocked, on a stack of the system's default size, and must return.
 *
 * Once fn was handed over it runs to its end whatever happens to the caller. So after 0,
 * -ETIMEDOUT and -ECANCELED fn has been called or will be, also when the deadline had passed
 * before the call; after the last two its result is dropped and arg must last until fn is
 * through with it, so with a deadline, or in a fiber that may be cancelled, arg best belongs to
 * fn, which frees it. After -EAGAIN (no thread can be made, and there is none that would come to
 * it), -ENOMEM and -EDEADLK (pinned, under FIBER_PINNED_ERROR) fn is never called and arg is the
 * caller's. A runtime does not wait for calls whose callers have gone.
 */
FIBER_API int fiber_block(void *(*fn)(void *), void *arg, void **ret, int64_t deadline);

/*
 * getaddrinfo(3): 0 and a list for freeaddrinfo(3). Names are looked up on threads of fiber_block(),
 * at most 32 at once; who comes then waits for his turn. Past the deadline it returns whatever name
 * servers do: the lookup goes on alone, and frees what it used and finds. The arguments are copied.
 * Numeric addresses and ports are read at once, without a thread. Errors are the negative errno
 * instead of EAI_*:
 *
 *	EAI_NONAME  -ENOENT    EAI_ADDRFAMILY  -EADDRNOTAVAIL  EAI_SERVICE   -EPROTONOSUPPORT
 *	EAI_NODATA  -ENODATA   EAI_FAMILY      -EAFNOSUPPORT   EAI_SOCKTYPE  -ESOCKTNOSUPPORT
 *	EAI_AGAIN   -EAGAIN    EAI_MEMORY      -ENOMEM         EAI_BADFLAGS  -EINVAL
 *	EAI_FAIL    -EIO       EAI_OVERFLOW    -EOVERFLOW      EAI_SYSTEM    its errno
 *
 * -EAGAIN also where no thread can be made: either way it may work later. -ETIMEDOUT and
 * -ECANCELED are always about the caller's wait.
 */
FIBER_API int fiber_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
				struct addrinfo **ret, int64_t deadline);

/*
 * waitpid(2): the pid of the child and its status, or 0 where options has WNOHANG and no child has
 * anything to tell. A child that ended before is found whatever the deadline. -ECHILD: no such
 * child, or somebody else has waited for it meanwhile; -EINVAL: options that are none, or
 * __WNOTHREAD. The end of one child is waited for by a descriptor of that moment. Where pid is 0
 * or negative, or options has WUNTRACED or WCONTINUED, the system has none, and a thread is made
 * for as long as the wait lasts: -EAGAIN where it cannot be.
 */
FIBER_API int fiber_waitpid(pid_t pid, int *ret_status, int options, int64_t deadline);

/*
 * pthread_join(3): wait until the thread has ended, and join it. *ret: what it returned. On every
 * error it has not been joined and still can be, here or with pthread_join(3). -EDEADLK: it is the
 * calling thread, or pinned; -EINVAL: detached, or somebody joins it already. As with
 * pthread_join(3), two must not join the same thread. Before Linux 6.9 a thread is made for as
 * long as the wait lasts: -EAGAIN where it cannot be.
 */
FIBER_API int fiber_thread_join(pthread_t thread, void **ret, int64_t deadline);

FIBER_END_DECLS

#endif
