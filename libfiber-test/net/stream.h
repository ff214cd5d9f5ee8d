/* SPDX-License-Identifier: MIT */
/* stream.h - the bytes of a connection; functions return the negative errno and never wait */
#ifndef FIB_TEST_NET_STREAM_H
#define FIB_TEST_NET_STREAM_H

#include "net/sockets.h"

/* As sendmsg(2) and recvmsg(2) on a TCP socket. Raises no SIGPIPE. */
ssize_t fib_stream_send(struct fib_socket *s, int fd, const struct msghdr *m, int flags);
ssize_t fib_stream_receive(struct fib_socket *s, int fd, struct msghdr *m, int flags);

#endif
