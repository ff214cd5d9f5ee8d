/* SPDX-License-Identifier: MIT */
/*
 * sockets.h - the internet sockets of a schedule
 *
 * Each is a UNIX socket of the kernel, so waiting, closing and duplicating are the kernel's. What the
 * kernel cannot know (addresses, options, the other end) is in a struct fib_socket, which is found
 * by the inode number of the descriptor: duplicates and descriptors that libc closed by itself need
 * no bookkeeping.
 */
#ifndef FIB_TEST_NET_SOCKETS_H
#define FIB_TEST_NET_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/un.h>

#include "net/address.h"

#define FIB_SOCKET_EPOLLS 4u
#define FIB_SOCKET_VALUE  128u

/* An option that the program has set. */
struct fib_socket_option {
	struct fib_socket_option *next;
	int level, name;
	socklen_t size;
	unsigned char value[FIB_SOCKET_VALUE];
};

/* A datagram that the kernel's queue has no room for. */
struct fib_overflow {
	struct fib_overflow *next;
	size_t size;
	unsigned char bytes[];
};

struct fib_socket {
	struct fib_socket *next; /* with the same hash */
	uint64_t inode;
	unsigned serial;
	int family;
	bool stream;
	bool port_chosen; /* by the system, not by the program */
	bool named;	  /* the kernel knows it by fib_socket_name() */
	bool listening, connected;
	bool closed;
	bool shared; /* another process may have it */
	bool reuse_address, reuse_port, v6_only;
	bool read_shut;	     /* shutdown(SHUT_RD) */
	bool write_shut;     /* shutdown(SHUT_WR) */
	unsigned references; /* descriptors; too many where libc closed one by itself */
	int backlog;	     /* of a listener */
	unsigned queued;     /* connections that a listener has not accepted */
	int lingering;	     /* the descriptor of a closed one whose peer is open; -1: none */
	unsigned veiled;     /* bytes that keep it from being writable: connect.c */
	int send_room;	     /* SO_SNDBUF while it is veiled */
	int error;	     /* pending: SO_ERROR */
	int64_t receive_timeout, send_timeout; /* ns; 0: none */
	struct fib_address local, remote;
	struct fib_socket *peer; /* of a stream: the other end; NULL: it is not accepted yet */
	struct fib_socket_option *options;
	struct fib_overflow *overflow, **overflow_end;
	size_t overflow_bytes;
	int epolls[FIB_SOCKET_EPOLLS]; /* of the program, which watch it */
	unsigned epoll_count;
};

/* A schedule begins or ends. At the end all sockets that are still open are closed. */
void fib_sockets_begin(void);
void fib_sockets_end(void);

/*
 * The socket behind a descriptor; NULL: it is none of these, or the calling thread runs no schedule.
 */
struct fib_socket *fib_socket_of(int fd);

/* Enter the UNIX socket fd. NULL: out of memory. */
struct fib_socket *fib_socket_add(int fd, int family, bool stream);

/* The number of sockets of this schedule; socket i, in the order in which they were made. */
unsigned fib_socket_count(void);
struct fib_socket *fib_socket_at(unsigned i);

/* Give the kernel's socket its name, if it has none. 0 or a negative errno. */
int fib_socket_make_name(struct fib_socket *s, int fd);
socklen_t fib_socket_name(const struct fib_socket *s, struct sockaddr_un *ret);
/* The socket with this name; NULL: there is none. */
struct fib_socket *fib_socket_named(const struct sockaddr_un *name, socklen_t size);

/* A descriptor of this process that refers to it; -1: none does. Slow. */
int fib_socket_descriptor(const struct fib_socket *s);

/* Whether a descriptor of this process refers to it. Slow. */
bool fib_socket_alive(struct fib_socket *s);

/*
 * The pending error of s, which is then none, as SO_ERROR gives it. It also ends the wait of a
 * connection for its listener.
 */
int fib_socket_take_error(struct fib_socket *s, int fd);

/* Discard what a closed socket keeps. */
void fib_socket_let_go(struct fib_socket *s);

#endif
