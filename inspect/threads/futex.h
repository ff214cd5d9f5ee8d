/* SPDX-License-Identifier: MIT */
/* futex.h - find what a thread that sleeps in futex(2) waits for */
#ifndef INS_FUTEX_H
#define INS_FUTEX_H

#include "inspect/threads/sleeper.h"

/*
 * Fill in the wait of a row: kind, object, argument, deadline and holder: FIB_HOLDER_THREAD | a
 * number of the process' own pid namespace, or a fiber's id. It stays 0 if it cannot be told. The
 * argument of a join is of the same form.
 */
void ins_futex_wait(const struct ins_sleeper *sleeper, struct fib_row *row);

#endif
