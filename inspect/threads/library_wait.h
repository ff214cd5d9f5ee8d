/* SPDX-License-Identifier: MIT */
/* library_wait.h - find what a thread that sleeps in the fiber library waits for */
#ifndef INS_LIBRARY_WAIT_H
#define INS_LIBRARY_WAIT_H

#include "inspect/threads/sleeper.h"

/*
 * Fill in the wait of a row if the thread, which is in futex(2), sleeps in the library on behalf of
 * itself: kind, object with its name, argument, and holder: a fiber's id, or FIB_HOLDER_THREAD | a
 * number of the process' own pid namespace. False: it sleeps elsewhere, and the row is unchanged.
 */
bool ins_library_wait(const struct ins_sleeper *sleeper, struct fib_row *row);

#endif
