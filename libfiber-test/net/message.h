/* SPDX-License-Identifier: MIT */
/* message.h - look into a struct msghdr */
#ifndef FIB_TEST_NET_MESSAGE_H
#define FIB_TEST_NET_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

/* The bytes of its pieces. */
size_t fib_message_size(const struct msghdr *m);

/* Whether it passes descriptors. */
bool fib_message_has_rights(const struct msghdr *m);

/*
 * Write into room the pieces of m without the first `skip` bytes, at most `count` of them. Returns
 * their number.
 */
size_t fib_message_rest(const struct msghdr *m, size_t skip, struct iovec *room, size_t count);

/* Copy its bytes. */
void fib_message_copy(const struct msghdr *m, unsigned char *to);

#endif
