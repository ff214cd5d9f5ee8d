/* SPDX-License-Identifier: MIT */
/* thread_wait.h - find what a sleeping thread waits for */
#ifndef INS_THREAD_WAIT_H
#define INS_THREAD_WAIT_H

#include "inspect/threads/sleeper.h"

/* Whether the thread's stack has to be walked to find what it waits for. */
bool ins_thread_wait_needs_walk(const struct ins_thread_at *at);

/*
 * Fill in the wait of a row. holder is as ins_futex_wait() sets it. A thread that is
 * in no system call waits for nothing.
 */
void ins_thread_wait(const struct ins_sleeper *sleeper, struct fib_row *row);

#endif
