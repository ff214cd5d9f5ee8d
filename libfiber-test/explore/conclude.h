/* SPDX-License-Identifier: MIT */
/* conclude.h - make a reported finding of a schedule: minimise it, name it by a token, describe it */
#ifndef FIB_TEST_CONCLUDE_H
#define FIB_TEST_CONCLUDE_H

#include "explore/outcome.h"
#include "explore/pool.h"

/* Fill in *ret, whose texts are the caller's to free. Returns 0 or -ENOMEM. */
int fib_conclude(const struct fib_test *test, struct fib_caught *caught, struct fib_found *ret);

/* Write the token of the choices that a schedule has made so far. */
void fib_conclude_running(const struct fib_test *test, const struct fib_shared *shared,
			  char ret[FIB_TOKEN_ROOM]);

#endif
