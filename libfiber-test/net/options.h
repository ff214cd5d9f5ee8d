/* SPDX-License-Identifier: MIT */
/* options.h - options of sockets */
#ifndef FIB_TEST_NET_OPTIONS_H
#define FIB_TEST_NET_OPTIONS_H

#include "net/sockets.h"

/* An accepted connection has the options of its listener. */
void fib_options_inherit(struct fib_socket *s, const struct fib_socket *listener);

#endif
