/* SPDX-License-Identifier: MIT */
/* futex.h - find what a thread that sleeps in futex(2) waits for */
#ifndef INS_FUTEX_H
#define INS_FUTEX_H

#include "inspect/threads/sleeper.h"

/*
 * Fill in the wait of a row: kind, object, argument, deadline and holder, which is a number of the
 * process' own pid namespace. holder stays 0 if it cannot be told.
 */
void ins_futex_wait(const struct ins_sleeper *sleeper, struct fib_row *row);

#endif
