/* SPDX-License-Identifier: MIT */
/* table.c - the pollers of a Linux build with libkqueue, in order of preference */
#include "base/compiler.h"
#include "poll/choose.h"

const struct fib_poller_ops *const fib_pollers[] = {
	&fib_poller_epoll,
	&fib_poller_uring,
	&fib_poller_poll,
	&fib_poller_kqueue,
};
const size_t fib_pollers_count = fib_countof(fib_pollers);
