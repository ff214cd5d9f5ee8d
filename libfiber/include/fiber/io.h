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
 * returned. A descriptor that fibers have waited on is closed with fiber_close(). No call is
 * async-signal-safe.
 */
#ifndef FIBER_IO_H
#define FIBER_IO_H

#include <pthread.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <fiber/api.h>

FIBER_BEGIN_DECLS

/* Bytes moved, 0 at end of file; short counts as with read(2) and write(2). A socket without a
 * reader gives -EPIPE and no SIGPIPE. */
FIBER_API ssize_t fiber_read(int fd, void *buf, size_t size, int64_t deadline);
FIBER_API ssize_t fiber_write(int fd, const void *buf, size_t size, int64_t deadline);

/* The new descriptor, close-on-exec and otherwise with the flags accept(2) gives it. */
FIBER_API int fiber_accept(int fd, struct sockaddr *addr, socklen_t *addrlen, int64_t deadline);

/* 0 when connected. After -ETIMEDOUT the attempt goes on in the system: close the socket. -EAGAIN
 * from a Unix socket whose peer's backlog is full: nothing announces room there. */
FIBER_API int fiber_connect(int fd, const struct sockaddr *addr, socklen_t addrlen,
			    int64_t deadline);

/* Wait until one of events (poll(2)'s bits) is so; returns those that are, POLLERR and POLLHUP
 * included. */
FIBER_API int fiber_wait_fd(int fd, short events, int64_t deadline);

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
