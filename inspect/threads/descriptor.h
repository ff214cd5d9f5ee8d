/* SPDX-License-Identifier: MIT */
/* descriptor.h - find the descriptor that a thread waits for in a system call */
#ifndef INS_DESCRIPTOR_H
#define INS_DESCRIPTOR_H

#include "inspect/threads/sleeper.h"

/*
 * Fill in the wait of a row if the thread sleeps in a system call on descriptors: read(2), poll(2),
 * accept(2), epoll_wait(2) and the like. object_name becomes the name of the descriptor, if that can
 * be found (process/descriptors.h). False: it is in another call, and the row is unchanged.
 */
bool ins_descriptor_wait(const struct ins_sleeper *sleeper, struct fib_row *row);

#endif
