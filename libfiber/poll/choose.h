/* SPDX-License-Identifier: MIT */
/* choose.h - choose the poller of a runtime */
#ifndef FIB_POLL_CHOOSE_H
#define FIB_POLL_CHOOSE_H

#include <stddef.h>

#include "poll/poller.h"

/* A sentence that says why the wanted poller is not used; empty if it is. */
struct fib_poller_note {
	char text[160];
};

/* The pollers of this build, in order of preference. */
extern const struct fib_poller_ops *const fib_pollers[];
extern const size_t fib_pollers_count;

/*
 * Open the poller that FIBER_POLLER names, or the first of the table that this machine has. If the
 * machine forbids the wanted one, the first available is opened and *ret_note says why. 0; -EINVAL
 * for an unknown name, after a line on stderr; -EMFILE, -ENFILE, -ENOMEM.
 */
int fib_poller_choose(struct fib_poller **ret, struct fib_poller_note *ret_note);

/* The same with n pollers in order of preference. wanted: the name; NULL or empty: none. */
int fib_poller_choose_from(const struct fib_poller_ops *const pollers[], size_t n,
			   const char *wanted, struct fib_poller **ret,
			   struct fib_poller_note *ret_note);

#endif
