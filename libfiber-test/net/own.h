/* SPDX-License-Identifier: MIT */
/*
 * own.h - calls of libfiber itself
 *
 * In the objects of libfiber/os the names of libc's functions are replaced by these
 * (scripts/explore.mk); libfiber-test calls them itself. They do the same, but do not fail as calls of the program do
 * (explore/faults.h): the public function that calls them has its own place for that.
 */
#ifndef FIB_TEST_NET_OWN_H
#define FIB_TEST_NET_OWN_H

#include <pthread.h>
#include <sys/socket.h>
#include <sys/types.h>

int fib_own_socket(int family, int type, int protocol);
int fib_own_pipe2(int ends[2], int flags);
int fib_own_eventfd(unsigned value, int flags);
int fib_own_timerfd_create(int clock, int flags);
int fib_own_connect(int fd, const struct sockaddr *at, socklen_t size);
int fib_own_accept(int fd, struct sockaddr *at, socklen_t *size);
int fib_own_accept4(int fd, struct sockaddr *at, socklen_t *size, int flags);

int fib_own_open(const char *path, int flags, ...);
int fib_own_open64(const char *path, int flags, ...);

int fib_own_pthread_tryjoin_np(pthread_t thread, void **ret);
pid_t fib_own_waitpid(pid_t pid, int *ret_status, int options);

ssize_t fib_own_send(int fd, const void *buf, size_t size, int flags);
ssize_t fib_own_sendto(int fd, const void *buf, size_t size, int flags, const struct sockaddr *to,
		       socklen_t length);
ssize_t fib_own_sendmsg(int fd, const struct msghdr *m, int flags);

#endif
