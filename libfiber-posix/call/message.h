/* SPDX-License-Identifier: MIT */
/* message.h - one message, as part of a call that moves many */
#ifndef FPX_CALL_MESSAGE_H
#define FPX_CALL_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

/* Whether the system does not wait, by the flags of the call. */
bool fpx_never_waits(int flags);

/* recvmsg(2) and sendmsg(2) in a fiber, without SIGPIPE. Return a negative errno. */
ssize_t fpx_receive_message(int fd, struct msghdr *msg, int flags);
ssize_t fpx_send_message(int fd, const struct msghdr *msg, int flags);

/*
 * MSG_WAITALL for a message in pieces, whose first n bytes have arrived: receive the rest. Returns
 * how many bytes there are then; n if it is an error. What arrives with control data ends the message.
 */
ssize_t fpx_receive_rest(int fd, const struct msghdr *msg, int flags, ssize_t n);

/*
 * A blocking send moves all bytes of a stream. n: what a try has sent. Sends the rest, parking as long
 * as the socket allows. Returns how many bytes are sent then; n if it is an error.
 */
ssize_t fpx_send_rest(int fd, const struct iovec *v, size_t count, ssize_t n);

/* Send the signal of a broken connection for n of -EPIPE, unless the caller does not want it. Returns n. */
ssize_t fpx_signalled(ssize_t n, int flags);

#endif
