/* SPDX-License-Identifier: MIT */
/*
 * os.h - what we ask of the operating system
 *
 * Every function here is a leaf out of line that returns the negative errno: a fiber that migrates
 * would otherwise read another thread's errno. Nobody above this layer includes <errno.h> for the
 * variable.
 */
#ifndef FIB_OS_OS_H
#define FIB_OS_OS_H

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

/* Whether that negative errno says that a sandbox, or the kernel, does not let us make the call at all. */
static inline bool fib_os_is_refusal(int rc)
{
	return rc == -EPERM || rc == -EACCES || rc == -ENOSYS;
}

/* -- clock.c -- */
int64_t fib_os_now(void);	  /* ns, CLOCK_MONOTONIC */
int64_t fib_os_thread_cpu(void);  /* ns that the calling thread has run, or -errno; a system call */
int64_t fib_os_process_cpu(void); /* the same of all threads together */
int64_t fib_os_wall(void);	  /* ns, CLOCK_REALTIME */

/* -- futex.c: private futexes -- */
/* Sleep while *word == expected, until the absolute deadline (ns, INT64_MAX: none). 0, -EAGAIN when the word
 * differs, -ETIMEDOUT, -EINTR. Spurious wake-ups happen. */
int fib_os_futex_wait(_Atomic uint32_t *word, uint32_t expected, int64_t deadline);
void fib_os_futex_wake(_Atomic uint32_t *word, int count);

/* -- pages.c -- */
size_t fib_os_page_size(void);
/* Reserve address space without access. NULL-free: 0 and *ret, or -ENOMEM. */
int fib_os_reserve(size_t size, void **ret);
int fib_os_commit(void *at, size_t size); /* make reserved pages readable and writable */
/* Map memory for stacks: readable, writable, no huge pages, no swap reservation. */
int fib_os_map_stacks(size_t size, void **ret);
/* Map memory that is readable and writable, in one system call. 0 and *ret, or -ENOMEM. */
int fib_os_map_buffer(size_t size, void **ret);
void fib_os_unmap(void *at, size_t size);
/* Make [at, at + size) fault on access, as a mapping of its own or inside its mapping: -ENOSYS where the kernel
 * cannot; or turn the first kind into the second. 0, or a negative errno. */
int fib_os_guard_split(void *at, size_t size);
int fib_os_guard_inside(void *at, size_t size);
/* The second kind n times, at, at + stride ...: in one system call where there is such a thing. How many were made from
 * the first on, at least one, or a negative errno. */
int fib_os_guard_inside_many(void *at, size_t size, size_t stride, unsigned n);
int fib_os_guard_join(void *at, size_t size);
/* Have the kernel provide the pages that the n addresses lie in, at once where it can; else each comes with the first
 * touch. Their contents stay. */
void fib_os_provide(void *const *at, unsigned n);
void fib_os_discard(void *at, size_t size); /* give the pages back, contents become zero */

/* How many bytes of address space this process may have in all (RLIMIT_AS); UINT64_MAX: no limit. */
uint64_t fib_os_space_limit(void);

/* -- memory.c -- */
/* Copy size bytes of this process' own memory that may not be there: 0, or -EFAULT; never faults. Uses
 * process_vm_readv, or a pipe where that is forbidden. Any number of callers, also in signal handlers; errno
 * does not survive it. */
int fib_os_peek(uint64_t address, void *buf, size_t size);
/* Bytes of this process that are in memory, or -errno. statm: /proc/self/statm, open. */
int64_t fib_os_resident(int statm);
/* Resident bytes from the lowest resident page of [low, low + size) to its end, or -errno. By mincore(2), or _by
 * /proc/self/pagemap, which is open. */
int64_t fib_os_high_water(uint64_t low, size_t size);
int64_t fib_os_high_water_by(int pagemap, uint64_t low, size_t size);

/* -- memory_many.c -- */
/* What fib_os_peek_many() may copy through; opened by the caller, when it is worth that, and closed by it. */
struct fib_os_pipe {
	int fds[2];	   /* -1: not open */
	uint64_t identity; /* fib_os_identity() of both ends */
};
#define FIB_OS_NO_PIPE ((struct fib_os_pipe){{-1, -1}, 0})
bool fib_os_pipe_open(
	struct fib_os_pipe *
		pipe); /* false: no descriptor is left, or valgrind runs the program; nothing has changed */
void fib_os_pipe_close(struct fib_os_pipe *pipe);
/* Whether both ends are still this pipe: the program may have closed them and use their numbers. */
bool fib_os_pipe_ours(const struct fib_os_pipe *pipe);

/* fib_os_peek() by write(2) and read(2) on the pipe; where the pipe is not open, or fails, fib_os_peek(). A pipe that fails is
 * forgotten, not closed. */
int fib_os_peek_through(struct fib_os_pipe *pipe, uint64_t address, void *buf, size_t size);

/* The same for n pieces, with few system calls while none is missing. */
struct fib_os_piece {
	uint64_t address;
	void *buf;
	size_t size;
	int rc; /* what fib_os_peek_through() would have returned */
};
void fib_os_peek_many(struct fib_os_piece pieces[], size_t n, struct fib_os_pipe *pipe);

/* -- report.c: for reports that may be made in a signal handler -- */
int fib_os_error_kept(void); /* the interrupted one's errno, which is to be given back: */
void fib_os_error_restore(int kept);
/* Write all of it, waiting as the descriptor does; where it does not wait itself, a second for each piece.
 * 0, or a negative errno. Async-signal-safe. */
int fib_os_write_all(int fd, const void *buf, size_t size);

/* -- process.c -- */
unsigned fib_os_cpus(void); /* usable by this process: affinity and cgroup quota, at least 1 */
uint32_t fib_os_tid(void);
void fib_os_yield(void);
/* Make every running thread of this process pass a full fence before it returns: 0, or -EPERM in a process that has
 * not called _prepare, which returns a negative errno where there is no such thing. A forked child prepares anew. */
int fib_os_barrier_prepare(void);
int fib_os_barrier(void);
void fib_os_thread_name(const char *name); /* of the calling thread, cut at 15 bytes */
const char *fib_os_program(void);	   /* short name of the running program */

/* -- loaded.c -- */
/* From now on the library or program that this code is in is never unloaded; dlclose() leaves it mapped. Not with
 * a lock held. */
void fib_os_stay_loaded(void);

/* Write where address is, for people: "0x55e1234 (program+0x1234)", or the address alone where the loader does not know it.
 * Not in a signal handler. */
void fib_os_place_name(uint64_t address, char *text, size_t size);

/* -- signal.c -- */
/* Install a handler for memory faults that runs on the thread's alternate stack, once. Called with the faulting
 * address and the ucontext_t, not for a signal that was sent; it reports and returns. Then a previous handler is called, or the default action put back
 * so that the fault repeats and a core shows the culprit. */
int fib_os_fault_handler(void (*report)(uint64_t address, void *ucontext));
/* Give the calling thread an alternate signal stack; take it away again. */
int fib_os_altstack_enter(void **ret);
void fib_os_altstack_leave(void *stack);
/* Whether sp is in the alternate stack of the calling thread. Async-signal-safe. */
bool fib_os_on_altstack(uint64_t sp);

/* -- file.c: reading and writing; -EAGAIN instead of blocking, and no SIGPIPE -- */
/* What a file that is no socket may say besides: no errno. */
enum {
	FIB_OS_UNSURE =
		-5000,	    /* it blocks when nothing is there, and only poll(2) knows: _unsure */
	FIB_OS_SLOW = -5001 /* on a disk, and not in memory: _slow */
};
ssize_t fib_os_read(int fd, void *buf, size_t size);
ssize_t fib_os_write(int fd, const void *buf, size_t size);
ssize_t fib_os_readv(int fd, const struct iovec *v, int count);
ssize_t fib_os_writev(int fd, const struct iovec *v, int count);
/* After FIB_OS_UNSURE: poll(2), then the call. Blocks if somebody else comes in between. */
ssize_t fib_os_read_unsure(int fd, const struct iovec *v, int count);
ssize_t fib_os_write_unsure(int fd, const struct iovec *v, int count);
/* After FIB_OS_SLOW: the plain call, which waits for the disk. */
ssize_t fib_os_read_slow(int fd, const struct iovec *v, int count);
ssize_t fib_os_write_slow(int fd, const struct iovec *v, int count);
/*
 * The same for a call that names its place in the file itself: have the next bytes of a regular file for oneself, by moving
 * the offset that all share past them at once. size: how many are wanted. How many they are, which when reading is no more than the
 * file has, and where (*ret_at; -1: at the end, wherever that is, and the call moves the offset); 0: for _slow.
 */
size_t fib_os_claim(int fd, size_t size, bool writing, int64_t *ret_at);
/* Only those before `moved` were moved: put the offset back to there, unless it is not at `end` any more. */
void fib_os_unclaim(int fd, int64_t moved, int64_t end);
/* Read at an offset, without moving the file's own: a file of /proc, which never blocks. */
ssize_t fib_os_read_at(int fd, void *buf, size_t size, uint64_t offset);
int fib_os_open_file(const char *path, int flags, mode_t mode); /* may block for ever */
int fib_os_close(int fd);
/* Differs where fd is another open file than it was, and both have a place in a file system, or are sockets or pipes.
 * 0: fd is not open. */
uint64_t fib_os_identity(int fd);

/* -- io.c: sockets; -EAGAIN instead of blocking, and no SIGPIPE -- */
ssize_t fib_os_recvfrom(int fd, void *buf, size_t size, int flags, struct sockaddr *addr,
			socklen_t *addrlen);
ssize_t fib_os_sendto(int fd, const void *buf, size_t size, int flags, const struct sockaddr *addr,
		      socklen_t addrlen);
ssize_t fib_os_recvmsg(int fd, struct msghdr *msg, int flags);
ssize_t fib_os_sendmsg(int fd, const struct msghdr *msg, int flags);
bool fib_os_is_stream(int fd); /* a socket whose messages have no ends */
int fib_os_accept(int fd, struct sockaddr *addr, socklen_t *addrlen); /* close-on-exec */
/* Whether that holds for a blocking socket, too, that other processes accept from at the same time. */
bool fib_os_accept_is_sure(void);
int fib_os_connect(int fd, const struct sockaddr *addr, socklen_t addrlen); /* -EINPROGRESS */
bool fib_os_is_tcp(int fd);
int fib_os_socket_error(int fd);	/* SO_ERROR as 0 or negative errno */
int fib_os_ready(int fd, short events); /* poll(2)'s bits: 0, -EAGAIN, -EBADF; does not wait */
int fib_os_poll(struct pollfd *fds, nfds_t n, int64_t deadline); /* restarts after signals */
/* Whether a line can be written to stderr now: where nobody reads it, to wait for room in it would stop the clock and the
 * control socket. */
bool fib_os_may_print(void);

#endif
