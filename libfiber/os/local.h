/* SPDX-License-Identifier: MIT */
/*
 * local.h - operating system functions for the control socket
 *
 * Local sockets, their folder, and what wakes a waiting thread: an eventfd or a timer. Functions
 * return the negative errno, as in os.h.
 */
#ifndef FIB_OS_LOCAL_H
#define FIB_OS_LOCAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The longest path a local socket can have, without its NUL. */
#define FIB_OS_LOCAL_MAX 107

/* -- sockets -- */
/* A stream socket of AF_UNIX, non-blocking, close-on-exec. Returns the descriptor, or a negative errno. */
int fib_os_local_socket(void);
/*
 * Make a socket that listens at path, accessible to its owner only; non-blocking, close-on-exec.
 * Returns the descriptor, -ENAMETOOLONG past FIB_OS_LOCAL_MAX, -EADDRINUSE if path exists.
 */
int fib_os_local_listen(const char *path, int backlog);
/*
 * Probe path: 0: a process listens; -ECONNREFUSED: none does; -ENOTSOCK: no socket; -ENOENT, ...
 * Never waits.
 */
int fib_os_local_probe(const char *path);
/* Whether the listener at path is this process. */
bool fib_os_local_ours(const char *path);
/* The process at the other end, as reported by the kernel. */
struct fib_os_who {
	pid_t pid; /* 0: it is in a pid namespace that is not visible here */
	uid_t uid;
};
/*
 * Accept one connection: non-blocking, close-on-exec. Returns the descriptor, or a negative errno.
 */
int fib_os_local_accept(int fd);
int fib_os_local_who(int fd, struct fib_os_who *ret); /* 0, or a negative errno */
/*
 * read(2) and write(2) on such a connection; -EAGAIN instead of waiting. The thread must block
 * SIGPIPE.
 */
ssize_t fib_os_local_read(int fd, void *buf, size_t size);
ssize_t fib_os_local_write(int fd, const void *buf, size_t size);

/* -- the waker: an eventfd -- */
int fib_os_event(void);
void fib_os_event_set(int fd); /* makes it readable. Async-signal-safe; leaves errno as it was */
void fib_os_event_clear(int fd);

/* -- a timer that poll(2) finds readable: a timerfd -- */
int fib_os_timer(void);
/* Whether fd is still such a timer, made by this library. */
bool fib_os_timer_ours(int fd);
/*
 * Set the timer to an absolute time (ns), 0: never; it is not readable until then. False: fd is not
 * a timer of this library any more, and was not touched.
 */
bool fib_os_timer_set(int fd, int64_t at);

/* -- files and folders -- */
struct fib_os_entry {
	bool folder; /* a real directory, no symbolic link */
	bool socket;
	mode_t mode; /* permission bits */
	uid_t owner;
	uint64_t device, inode;
	int64_t age;	   /* s since its modification */
	uint32_t modified; /* the nanoseconds of that time */
};
int fib_os_look(const char *path, struct fib_os_entry *ret); /* does not follow a link */
int fib_os_make_folder(const char *path, mode_t mode);	     /* -EEXIST, ... */
int fib_os_rename(const char *from, const char *to);
int fib_os_unlink(const char *path);
/* Call each(arg, name) for every entry of the folder. Allocates. */
int fib_os_each_entry(const char *folder, void (*each)(void *arg, const char *name), void *arg);
int fib_os_open(const char *path); /* for reading; close-on-exec */
/* Set the modification time to the current second and these nanoseconds. Does not follow a link. */
int fib_os_set_modified(const char *path, uint32_t nanoseconds);

/* -- processes -- */
bool fib_os_pid_exists(pid_t pid);
/* The start time of process pid, in ticks since boot, from /proc. 0, or -ENODATA. */
int fib_os_started(pid_t pid, uint64_t *ret_ticks);
uid_t fib_os_uid(void);			      /* the effective one */
const char *fib_os_setting(const char *name); /* of the environment; NULL in a setuid program */

#endif
