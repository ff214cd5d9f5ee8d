/* SPDX-License-Identifier: MIT */
/*
 * choose.c - the poller is epoll; in place of libfiber/poll/choose.c
 *
 * io_uring would work while fibers run, in an order of its own.
 */
#include "poll/choose.h"

int fib_poller_choose(struct fib_poller **ret, struct fib_poller_note *ret_note)
{
	ret_note->text[0] = 0;
	return fib_poller_epoll.open(ret);
}
