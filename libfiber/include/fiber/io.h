/* SPDX-License-Identifier: MIT */
/*
 * io.h - I/O on plain descriptors
 *
 * Each call tries first and parks the fiber when the descriptor is not ready; a plain thread blocks
 * in poll(2). File status flags stay as the program set them: a blocking descriptor does not block
 * a carrier. Deadlines are absolute nanoseconds on fiber_now()'s clock. No call is
 * async-signal-safe.
 *
 * Calls return the errors of the system call of the same name and: -ETIMEDOUT past the deadline;
 * -ECANCELED in a cancelled fiber; -EBADF when the descriptor is closed with fiber_close() during
 * the call; -EDEADLK in a pinned fiber under FIBER_PINNED_ERROR; -ENOMEM without memory to wait.
 * EINTR is never returned.
 *
 * Use fiber_close() to close a descriptor that fibers have waited on. If it is closed another way,
 * a waiter waits until the deadline, or gets -EBADF when an event arrives for the next descriptor
 * with the same number; that event is not delivered to it.
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

struct addrinfo; /* from <netdb.h>, which does not declare it in strict C11 */

/*
 * Read and write. Return the number of bytes moved, 0 at end of file; short counts as with read(2)
 * and write(2). A socket or pipe without a reader gives -EPIPE and no SIGPIPE, whatever the
 * program's disposition of SIGPIPE. count: at most IOV_MAX, else -EINVAL.
 *
 * Data of a regular file or block device that is not in memory is moved by a thread of
 * fiber_block(), or, for a regular file with the poller uring, by the kernel, so no carrier waits
 * for the disk. Such a transfer is not aborted once it has begun: a deadline, a cancellation and
 * fiber_close() take effect only before that. The file's offset therefore moves only by the count
 * returned. With uring the offset is moved first, and set back when the transfer was shorter,
 * unless other code has moved it since. With a deadline in the past the call returns the data in
 * memory, or -ETIMEDOUT.
 *
 * Descriptors in blocking mode that have no non-blocking call, such as terminals, are checked with
 * poll(2) first. If another process reads or writes them too, the call may block a carrier.
 */
FIBER_API ssize_t fiber_read(int fd, void *buf, size_t size, int64_t deadline);
FIBER_API ssize_t fiber_write(int fd, const void *buf, size_t size, int64_t deadline);
FIBER_API ssize_t fiber_readv(int fd, const struct iovec *pieces, int count, int64_t deadline);
FIBER_API ssize_t fiber_writev(int fd, const struct iovec *pieces, int count, int64_t deadline);

/* Move all of size bytes. Fewer are moved only at the end of the file, past the deadline, in a
 * cancelled fiber or after an error. The error is returned when nothing was moved; otherwise the
 * count is returned, and the next call returns the error. */
FIBER_API ssize_t fiber_read_full(int fd, void *buf, size_t size, int64_t deadline);
FIBER_API ssize_t fiber_write_full(int fd, const void *buf, size_t size, int64_t deadline);

/*
 * The calls recv(2), send(2) and relatives, with their flags. MSG_DONTWAIT gives -EAGAIN where the
 * call would wait. MSG_WAITALL has an effect only in fiber_recv() of a stream, which then acts as
 * fiber_read_full(); other calls ignore it. No call sends SIGPIPE. Descriptors received by
 * fiber_recvmsg() are close-on-exec only with MSG_CMSG_CLOEXEC.
 */
FIBER_API ssize_t fiber_recv(int fd, void *buf, size_t size, int flags, int64_t deadline);
FIBER_API ssize_t fiber_send(int fd, const void *buf, size_t size, int flags, int64_t deadline);
FIBER_API ssize_t fiber_recvfrom(int fd, void *buf, size_t size, int flags, struct sockaddr *addr,
				 socklen_t *addrlen, int64_t deadline);
FIBER_API ssize_t fiber_sendto(int fd, const void *buf, size_t size, int flags,
			       const struct sockaddr *addr, socklen_t addrlen, int64_t deadline);
FIBER_API ssize_t fiber_recvmsg(int fd, struct msghdr *msg, int flags, int64_t deadline);
FIBER_API ssize_t fiber_sendmsg(int fd, const struct msghdr *msg, int flags, int64_t deadline);

/*
 * Accept a connection. Returns the new descriptor, close-on-exec and otherwise with the flags of
 * accept(2).
 *
 * When the process or the system has no descriptor or no memory left for a waiting connection, the
 * call tries again every 10 ms; past the deadline it then returns -EMFILE, -ENFILE, -ENOBUFS or
 * -ENOMEM.
 *
 * Other processes may accept from the same listener: when they take the connection first, the call
 * continues to wait. Before Linux 6.10 without io_uring this holds for a non-blocking listener
 * only: with a blocking one the call may then block its carrier until the next connection.
 */
FIBER_API int fiber_accept(int fd, struct sockaddr *addr, socklen_t *addrlen, int64_t deadline);

/* Connect. Returns 0 when connected. After -ETIMEDOUT the attempt continues in the system: close
 * the socket. -EAGAIN from a Unix socket whose peer's backlog is full: the system does not signal
 * when there is room. */
FIBER_API int fiber_connect(int fd, const struct sockaddr *addr, socklen_t addrlen,
			    int64_t deadline);

/* Wait until one of events (poll(2)'s bits) is ready. Returns the ready ones, including POLLERR and
 * POLLHUP. */
FIBER_API int fiber_wait_fd(int fd, short events, int64_t deadline);

/* poll(2). Returns the number of entries with revents; without any by the deadline -ETIMEDOUT, not
 * 0. A descriptor closed with fiber_close() during the call gets POLLNVAL. n has no limit in a
 * fiber; in a thread or a pinned fiber it is the process's limit of descriptors. */
FIBER_API int fiber_poll(struct pollfd *fds, nfds_t n, int64_t deadline);

/* Wait for n descriptors, given in two arrays. Returns the lowest index of the ready ones; -EBADF
 * when that descriptor is not open, or when any is negative; -EINVAL for n of 0. */
FIBER_API int fiber_await_fds(const int *fds, const short *events, size_t n, int64_t deadline);

/*
 * open(2), on a thread of fiber_block() or, with the poller uring, by the kernel: opening a FIFO or
 * a file on a network may take forever. Returns the new descriptor, close-on-exec only with
 * O_CLOEXEC.
 *
 * After -ETIMEDOUT and -ECANCELED the attempt continues and keeps its thread; with uring the kernel
 * is asked to cancel it, and a runtime that finishes waits for that. A descriptor that such an
 * attempt still opens is closed. With a deadline in the past, and in a fiber that is already
 * cancelled, nothing is attempted. -EAGAIN: no thread could be created.
 */
FIBER_API int fiber_open(const char *path, int flags, mode_t mode, int64_t deadline);

/* close(2). Every fiber that waits on the descriptor wakes with -EBADF first. Pinned fibers and
 * threads wait in the operating system and do not wake. */
FIBER_API int fiber_close(int fd);

/*
 * Report that another call is about to close fd, or to replace it by another file (dup2(2),
 * fclose(3), close_range(2)). Every fiber that waits on the descriptor wakes with -EBADF. Call it
 * again after a call that has replaced fd. Pinned fibers and threads do not wake. Returns 0; -EBADF
 * for a negative fd.
 */
FIBER_API int fiber_forget_fd(int fd);

/*
 * Report that fd is new, from socket(2) or the like, and that its end will be reported: by
 * fiber_close() or fiber_forget_fd(). A wait for it then needs fewer system calls, as for a
 * descriptor from fiber_accept(). Returns 0; -EBADF for a negative fd.
 */
FIBER_API int fiber_new_fd(int fd);

/*
 * Run the blocking function fn(arg) on a thread of its own and wait until it returns. A fiber
 * parks, a thread blocks. *ret is what fn returned. Threads are created as needed, at most 64 in a
 * process. When all are busy, calls are queued first in, first out. A thread that was idle for 3
 * seconds exits. fn runs as on any plain thread, with signals blocked, on a stack of the system's
 * default size, and must return.
 *
 * Once fn was handed over it runs to its end, whatever happens to the caller. So after 0,
 * -ETIMEDOUT and -ECANCELED fn has been or will be called, also when the deadline had passed before
 * the call. After -ETIMEDOUT and -ECANCELED the result is dropped and arg must last until fn has
 * finished with it. So with a deadline, or in a fiber that may be cancelled, let fn own arg and
 * free it.
 *
 * After -EAGAIN (no thread can be created and no existing one would take the call), -ENOMEM and
 * -EDEADLK (pinned, under FIBER_PINNED_ERROR) fn is never called and arg is the caller's. A runtime
 * does not wait for calls whose callers have left.
 */
FIBER_API int fiber_block(void *(*fn)(void *), void *arg, void **ret, int64_t deadline);

/*
 * getaddrinfo(3). Returns 0 and a list for freeaddrinfo(3). Names are looked up on threads of
 * fiber_block(), at most 32 at once; further lookups are queued. Past the deadline the call returns
 * even if name servers do not answer: the lookup continues alone and frees what it used and found.
 * The arguments are copied. Numeric addresses and ports are converted directly, without a thread.
 * Errors are a negative errno instead of EAI_*:
 *
 *	EAI_NONAME  -ENOENT    EAI_ADDRFAMILY  -EADDRNOTAVAIL  EAI_SERVICE   -EPROTONOSUPPORT
 *	EAI_NODATA  -ENODATA   EAI_FAMILY      -EAFNOSUPPORT   EAI_SOCKTYPE  -ESOCKTNOSUPPORT
 *	EAI_AGAIN   -EAGAIN    EAI_MEMORY      -ENOMEM         EAI_BADFLAGS  -EINVAL
 *	EAI_FAIL    -EIO       EAI_OVERFLOW    -EOVERFLOW      EAI_SYSTEM    its errno
 *
 * -EAGAIN is also returned when no thread can be created; in both cases a later call may succeed.
 * -ETIMEDOUT and -ECANCELED always refer to the caller's wait.
 */
FIBER_API int fiber_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
				struct addrinfo **ret, int64_t deadline);

/*
 * waitpid(2). Returns the pid of the child and its status, or 0 when options has WNOHANG and no
 * child has a status to report. A child that exited earlier is found whatever the deadline.
 * -ECHILD: no such child, or another caller has waited for it during the call; -EINVAL: invalid
 * options, or __WNOTHREAD.
 *
 * To wait for one child the call opens a descriptor for it. Where pid is 0 or negative, or options
 * has WUNTRACED or WCONTINUED, the system has no such descriptor, and a thread is created for the
 * duration of the wait: -EAGAIN if that fails.
 */
FIBER_API int fiber_waitpid(pid_t pid, int *ret_status, int options, int64_t deadline);

/*
 * pthread_join(3): wait until the thread has exited, and join it. *ret is what it returned. After
 * any error the thread is not joined and can be joined later, here or with pthread_join(3).
 * -EDEADLK: it is the calling thread, or the caller is pinned; -EINVAL: detached, or already being
 * joined. As with pthread_join(3), two callers must not join the same thread. Before Linux 6.9 a
 * thread is created for the duration of the wait: -EAGAIN if that fails.
 */
FIBER_API int fiber_thread_join(pthread_t thread, void **ret, int64_t deadline);

FIBER_END_DECLS

#endif
