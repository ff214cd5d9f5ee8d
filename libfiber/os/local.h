/* SPDX-License-Identifier: MIT */
/*
 * local.h - what the control socket asks of the operating system
 *
 * Local sockets, the folder they live in, and what wakes a resting thread: others, or the clock. Leaves that
 * return the negative errno, like os.h.
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
/* A socket that listens at path, readable and writable by its owner only; non-blocking,
 * close-on-exec. The descriptor, -ENAMETOOLONG past FIB_OS_LOCAL_MAX, -EADDRINUSE when path exists. */
int fib_os_local_listen(const char *path, int backlog);
/* Whether somebody listens at path: 0, -ECONNREFUSED when nobody does, -ENOTSOCK for what is no
 * socket, -ENOENT, ... Never waits. */
int fib_os_local_probe(const char *path);
/* Whether who listens there is this process. */
bool fib_os_local_ours(const char *path);
/* Who is at the other end, as the kernel says. */
struct fib_os_who {
	pid_t pid; /* 0: of another pid namespace, and cannot be seen from here */
	uid_t uid;
};
/* Accept one connection: non-blocking, close-on-exec. The descriptor, and who has connected; or a negative errno. */
int fib_os_local_accept(int fd);
int fib_os_local_who(int fd, struct fib_os_who *ret); /* 0, or a negative errno */
/* On such a connection: read(2) and write(2), -EAGAIN instead of waiting. By threads that block SIGPIPE. */
ssize_t fib_os_local_read(int fd, void *buf, size_t size);
ssize_t fib_os_local_write(int fd, const void *buf, size_t size);

/* -- the waker: an eventfd -- */
int fib_os_event(void);
void fib_os_event_set(int fd); /* makes it readable. Async-signal-safe; leaves errno as it was */
void fib_os_event_clear(int fd);

/* -- a timer that poll(2) finds readable: a timerfd -- */
int fib_os_timer(void);
/* Whether fd is such a timer of ours still. */
bool fib_os_timer_ours(int fd);
/* Set it to expire at an absolute time (ns), 0: never, and not to be readable until then. False: it is not ours, and was left
 * alone. */
bool fib_os_timer_set(int fd, int64_t at);

/* -- files and folders -- */
struct fib_os_entry {
	bool folder; /* a real directory: a symbolic link is none */
	bool socket;
	mode_t mode; /* permission bits */
	uid_t owner;
	uint64_t device, inode;
	int64_t age;	   /* s since it was modified */
	uint32_t modified; /* the nanoseconds of that time */
};
int fib_os_look(const char *path, struct fib_os_entry *ret); /* does not follow a link */
int fib_os_make_folder(const char *path, mode_t mode);	     /* -EEXIST, ... */
int fib_os_rename(const char *from, const char *to);
int fib_os_unlink(const char *path);
/* Call each(arg, name) for every entry of the folder. Allocates. */
int fib_os_each_entry(const char *folder, void (*each)(void *arg, const char *name), void *arg);
int fib_os_open(const char *path); /* to read; close-on-exec */
/* Set the modification time of a file to this second, and to these nanoseconds of it. Does not follow a link. */
int fib_os_set_modified(const char *path, uint32_t nanoseconds);

/* -- processes -- */
bool fib_os_pid_exists(pid_t pid);
/* When process pid started, in ticks since the machine did, as /proc tells. 0, or -ENODATA. */
int fib_os_started(pid_t pid, uint64_t *ret_ticks);
uid_t fib_os_uid(void);			      /* the effective one */
const char *fib_os_setting(const char *name); /* of the environment; NULL in a setuid program */

#endif
