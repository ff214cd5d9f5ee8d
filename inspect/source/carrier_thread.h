/* SPDX-License-Identifier: MIT */
/* carrier_thread.h - ask a process which thread runs a fiber */
#ifndef INS_CARRIER_THREAD_H
#define INS_CARRIER_THREAD_H

#include <stdint.h>

struct fib_wire_client;

/*
 * Find the thread of the carrier that runs fiber id, by its number in the process. *ret_tid is 0: no
 * carrier runs it now, or the program is too old to say. Returns 0 or a negative errno.
 */
int ins_carrier_thread(struct fib_wire_client *client, uint64_t id, uint64_t *ret_tid);

#endif
