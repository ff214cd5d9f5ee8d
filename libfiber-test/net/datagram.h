/* SPDX-License-Identifier: MIT */
/* datagram.h - datagrams; functions return the negative errno and never wait */
#ifndef FIB_TEST_NET_DATAGRAM_H
#define FIB_TEST_NET_DATAGRAM_H

#include "explore/faults.h"
#include "net/sockets.h"

/* Bytes that a datagram has in the kernel before those of the program. */
#define FIB_DATAGRAM_HEADER 32u

/*
 * As sendmsg(2) and recvmsg(2) on a UDP socket. call: by which the program sends; NULL: a public
 * function of libfiber sends.
 */
ssize_t fib_datagram_send(struct fib_socket *s, int fd, const struct msghdr *m, int flags,
			  const struct fib_call *call);
ssize_t fib_datagram_receive(struct fib_socket *s, int fd, struct msghdr *m, int flags);

#endif
