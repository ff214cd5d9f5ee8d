/* SPDX-License-Identifier: MIT */
/* choose.h - which poller a runtime gets */
#ifndef FIB_POLL_CHOOSE_H
#define FIB_POLL_CHOOSE_H

#include <stddef.h>

#include "poll/poller.h"

/* A sentence: why it is not the poller that was wanted; empty when it is. */
struct fib_poller_note {
	char text[160];
};

/*
 * Open the poller that FIBER_POLLER names, or the first of the table that this machine has. Where the machine
 * forbids the wanted one the first of those that it has is opened, and *ret_note says why. 0; -EINVAL for a name that is
 * none, after a line on stderr; -EMFILE, -ENFILE, -ENOMEM.
 */
int fib_poller_choose(struct fib_poller **ret, struct fib_poller_note *ret_note);

/* The same, out of n pollers in order of preference. wanted: the name, NULL or empty for none. */
int fib_poller_choose_from(const struct fib_poller_ops *const pollers[], size_t n,
			   const char *wanted, struct fib_poller **ret,
			   struct fib_poller_note *ret_note);

#endif
