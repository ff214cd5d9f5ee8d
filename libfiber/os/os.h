/* SPDX-License-Identifier: MIT */
/*
 * os.h - the interface to the operating system
 *
 * Every function is out of line and returns the negative errno. A fiber that migrates to another
 * thread could otherwise read the errno of the wrong thread. Above this layer <errno.h> is included
 * only for the constants.
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

/* Whether the negative errno rc says that a sandbox, or the kernel, forbids the call. */
static inline bool fib_os_is_refusal(int rc)
{
	return rc == -EPERM || rc == -EACCES || rc == -ENOSYS;
}

/* -- clock.c -- */
int64_t fib_os_now(void);	  /* ns, CLOCK_MONOTONIC */
int64_t fib_os_thread_cpu(void);  /* CPU time of the calling thread, ns, or -errno; a system call */
int64_t fib_os_process_cpu(void); /* CPU time of all threads, likewise */
int64_t fib_os_wall(void);	  /* ns, CLOCK_REALTIME */

/* -- futex.c: private futexes -- */
/*
 * Sleep while *word == expected, until the absolute deadline (ns, INT64_MAX: none). 0, -EAGAIN
 * (*word differs), -ETIMEDOUT, -EINTR. Spurious wake-ups happen.
 */
int fib_os_futex_wait(_Atomic uint32_t *word, uint32_t expected, int64_t deadline);
void fib_os_futex_wake(_Atomic uint32_t *word, int count);

/* -- pages.c -- */
size_t fib_os_page_size(void);
/* Reserve address space without access. 0 and *ret, never NULL; or -ENOMEM. */
int fib_os_reserve(size_t size, void **ret);
int fib_os_commit(void *at, size_t size); /* make reserved pages readable and writable */
/* Map memory for stacks: readable, writable, no huge pages, no swap reservation. */
int fib_os_map_stacks(size_t size, void **ret);
/* To be called before [at, at + size), a new mapping, is split by fib_os_guard_split(): then
 * fib_os_guard_join() can make it one mapping again. Takes a page. */
void fib_os_will_split(void *at, size_t size);
/* Map memory that is readable and writable, in one system call. 0 and *ret, or -ENOMEM. */
int fib_os_map_buffer(size_t size, void **ret);
void fib_os_unmap(void *at, size_t size);
/*
 * Make [at, at + size) fault on access. _split: as a mapping of its own. _inside: within its
 * mapping; -ENOSYS if the kernel cannot. _join: turn the first kind into the second. 0, or a
 * negative errno.
 */
int fib_os_guard_split(void *at, size_t size);
int fib_os_guard_inside(void *at, size_t size);
/*
 * fib_os_guard_inside() n times, at, at + stride ...: in one system call if the kernel can. Returns
 * how many were made, counted from the first, at least one; or a negative errno.
 */
int fib_os_guard_inside_many(void *at, size_t size, size_t stride, unsigned n);
int fib_os_guard_join(void *at, size_t size);
void fib_os_discard(void *at, size_t size); /* return the pages; their contents become zero */
/* Returns whether the mapping of the page at, which is unused, is locked (mlockall(2)): the kernel
 * makes no guard inside it. */
bool fib_os_is_locked(void *at);
/* Remove guards made inside mappings: their pages become zero. Other pages stay. 0, or a negative
 * errno: then some may have been removed. */
int fib_os_guard_remove(void *at, size_t size);
/* Advice about pages, which keep their contents; without effect where the kernel cannot. _cold:
 * take them first when memory gets short. _out: write them to swap now. */
void fib_os_advise_cold(void *at, size_t size);
void fib_os_advise_out(void *at, size_t size);
/* Resident bytes of [low, low + size), which begins with a page; 0 if a part is not mapped. */
size_t fib_os_resident_in(uint64_t low, size_t size);
/* fib_os_discard(). Returns the bytes that are not resident any more; locked memory stays. */
size_t fib_os_give_back(uint64_t low, size_t size);

/* The limit of the address space of this process in bytes (RLIMIT_AS); UINT64_MAX: none. */
uint64_t fib_os_space_limit(void);

/* -- memory.c -- */
/*
 * Copy size bytes of this process' own memory that may be unmapped: 0, or -EFAULT; never faults.
 * Uses process_vm_readv, or a pipe if that is forbidden. Any number of callers, also in signal
 * handlers. Changes errno.
 */
int fib_os_peek(uint64_t address, void *buf, size_t size);
/* Resident bytes of this process, or -errno. statm: an open /proc/self/statm. */
int64_t fib_os_resident(int statm);
/*
 * Resident bytes from the lowest resident page of [low, low + size) to its end, or -errno. Uses
 * mincore(2); _by uses an open /proc/self/pagemap.
 */
int64_t fib_os_high_water(uint64_t low, size_t size);
int64_t fib_os_high_water_by(int pagemap, uint64_t low, size_t size);

/* -- memory_many.c -- */
/* A pipe for fib_os_peek_many(). The caller opens it, if that pays, and closes it. */
struct fib_os_pipe {
	int fds[2];	   /* -1: not open */
	uint64_t identity; /* fib_os_identity() of both ends */
};
#define FIB_OS_NO_PIPE ((struct fib_os_pipe){{-1, -1}, 0})
bool fib_os_pipe_open(
	struct fib_os_pipe *
		pipe); /* false: no descriptors left, or valgrind runs the program; nothing was changed */
void fib_os_pipe_close(struct fib_os_pipe *pipe);
/*
 * Whether both ends are still this pipe: the program may have closed them and reused the numbers.
 */
bool fib_os_pipe_ours(const struct fib_os_pipe *pipe);

/*
 * fib_os_peek() with write(2) and read(2) on the pipe; if the pipe is not open, or fails, with
 * fib_os_peek(). A pipe that fails is marked as not open, and is not closed.
 */
int fib_os_peek_through(struct fib_os_pipe *pipe, uint64_t address, void *buf, size_t size);

/* The same for n pieces, with few system calls as long as all are mapped. */
struct fib_os_piece {
	uint64_t address;
	void *buf;
	size_t size;
	int rc; /* the result fib_os_peek_through() would have for it */
};
void fib_os_peek_many(struct fib_os_piece pieces[], size_t n, struct fib_os_pipe *pipe);

/* -- report.c: for reports that may be made in a signal handler -- */
int fib_os_error_kept(void); /* the errno of the interrupted code, to be restored: */
void fib_os_error_restore(int kept);
/*
 * Write all bytes. Waits as the descriptor does; on a non-blocking one up to a second for each
 * piece. 0, or a negative errno. Async-signal-safe.
 */
int fib_os_write_all(int fd, const void *buf, size_t size);

/* -- process.c -- */
unsigned fib_os_cpus(void); /* usable by this process: affinity and cgroup quota, at least 1 */
uint32_t fib_os_tid(void);
void fib_os_yield(void);
#define FIB_OS_NO_CPU UINT32_MAX
uint32_t fib_os_cpu(void); /* the CPU that the caller runs on, FIB_OS_NO_CPU: cannot be had */
/*
 * Make every running thread of this process execute a full fence before this returns: 0, or -EPERM
 * if the process has not called _prepare. _prepare returns a negative errno if the kernel cannot. A
 * forked child must call it again.
 */
int fib_os_barrier_prepare(void);
int fib_os_barrier(void);
void fib_os_thread_name(const char *name); /* of the calling thread, cut at 15 bytes */
const char *fib_os_program(void);	   /* short name of the running program */

/* -- loaded.c -- */
/*
 * The library or program that holds this code is never unloaded from now on; dlclose() leaves it
 * mapped. Do not call with a lock held.
 */
void fib_os_stay_loaded(void);

/*
 * Format address for people: "0x55e1234 (program+0x1234)", or the address alone if the loader does
 * not know it. Not for signal handlers.
 */
void fib_os_place_name(uint64_t address, char *text, size_t size);

/* -- signal.c -- */
/*
 * Install a handler for memory faults, once. It runs on the thread's alternate stack. report gets
 * the faulting address and the ucontext_t; it is not called for a signal that was sent; it must
 * return. Then a previous handler is called, or the default action is restored, so that the fault
 * repeats and the core shows the faulting code.
 */
int fib_os_fault_handler(void (*report)(uint64_t address, void *ucontext));
/* Give the calling thread an alternate signal stack; remove it again. */
int fib_os_altstack_enter(void **ret);
void fib_os_altstack_leave(void *stack);
/* Whether sp is in the alternate stack of the calling thread. Async-signal-safe. */
bool fib_os_on_altstack(uint64_t sp);
/* Where that stack ends, or 0 if sp is not in it. Async-signal-safe. */
uint64_t fib_os_altstack_top(uint64_t sp);

/* -- file.c, files.c: reading and writing; -EAGAIN instead of blocking, and no SIGPIPE -- */
/* Further results for files that are no sockets; not errno values. */
enum {
	FIB_OS_UNSURE =
		-5000, /* it blocks if no data is there, and only poll(2) can tell: use _unsure */
	FIB_OS_SLOW = -5001 /* the data is on a disk and not in memory: use _slow */
};
ssize_t fib_os_read(int fd, void *buf, size_t size);
ssize_t fib_os_write(int fd, const void *buf, size_t size);
/*
 * The same. *plain: out: fd is no socket, and RWF_NOWAIT works for it; in: this was so when fd was used
 * last, so recv(2) or send(2) are not tried. If fd is another file by now, the result is right all the
 * same, with one exception: -EAGAIN may then mean that the data is on a disk. A caller that waits
 * because of it, and finds fd ready, must try again without *plain.
 */
ssize_t fib_os_read_as(int fd, void *buf, size_t size, bool *plain);
ssize_t fib_os_write_as(int fd, const void *buf, size_t size, bool *plain);
ssize_t fib_os_readv(int fd, const struct iovec *v, int count);
ssize_t fib_os_writev(int fd, const struct iovec *v, int count);
/*
 * After FIB_OS_UNSURE: poll(2), then the call. Blocks if another reader takes the data in between.
 */
ssize_t fib_os_read_unsure(int fd, const struct iovec *v, int count);
ssize_t fib_os_write_unsure(int fd, const struct iovec *v, int count);
/* After FIB_OS_SLOW: the plain call, which waits for the disk. */
ssize_t fib_os_read_slow(int fd, const struct iovec *v, int count);
ssize_t fib_os_write_slow(int fd, const struct iovec *v, int count);
/*
 * For a call after FIB_OS_SLOW that gives the position in the file itself: reserve the next bytes
 * of a regular file by moving the shared offset past them. size: how many are wanted. Returns how
 * many were reserved (for reading not more than the file has), and their position in *ret_at (-1:
 * at the end of the file, whatever it is; the call itself moves the offset). Returns 0: use _slow.
 */
size_t fib_os_claim(int fd, size_t size, bool writing, int64_t *ret_at);
/*
 * Only the bytes before `moved` were moved: set the offset back to it, unless it is not at `end`
 * any more.
 */
void fib_os_unclaim(int fd, int64_t moved, int64_t end);
/* Read at an offset without moving the file's own. For files of /proc, which never block. */
ssize_t fib_os_read_at(int fd, void *buf, size_t size, uint64_t offset);
int fib_os_open_file(const char *path, int flags, mode_t mode); /* may block for ever */
int fib_os_close(int fd);
/*
 * A number that differs for different open files, if both are in a file system, or are sockets or
 * pipes. 0: fd is not open.
 */
uint64_t fib_os_identity(int fd);

/* -- io.c, sockets.c: sockets; -EAGAIN instead of blocking, and no SIGPIPE -- */
ssize_t fib_os_recvfrom(int fd, void *buf, size_t size, int flags, struct sockaddr *addr,
			socklen_t *addrlen);
ssize_t fib_os_sendto(int fd, const void *buf, size_t size, int flags, const struct sockaddr *addr,
		      socklen_t addrlen);
ssize_t fib_os_recvmsg(int fd, struct msghdr *msg, int flags);
ssize_t fib_os_sendmsg(int fd, const struct msghdr *msg, int flags);
bool fib_os_is_stream(int fd); /* a socket without message boundaries */
int fib_os_accept(int fd, struct sockaddr *addr, socklen_t *addrlen); /* close-on-exec */
/* Whether accept also does not block on a blocking socket that other processes accept from. */
bool fib_os_accept_is_sure(void);
int fib_os_connect(int fd, const struct sockaddr *addr, socklen_t addrlen); /* -EINPROGRESS */
bool fib_os_is_tcp(int fd);
/* Whether poll(2) finds fd readable whenever a read would return at once: a pipe, a UNIX socket. */
bool fib_os_poll_is_exact(int fd);
int fib_os_socket_error(int fd);	/* SO_ERROR as 0 or negative errno */
int fib_os_ready(int fd, short events); /* poll(2) bits: 0, -EAGAIN, -EBADF; does not wait */
int fib_os_poll(struct pollfd *fds, nfds_t n, int64_t deadline); /* restarts after signals */
/* Whether a line can be written to stderr now: where nobody reads it, to wait for room in it would stop the clock and the
 * control socket. */
bool fib_os_may_print(void);

#endif
