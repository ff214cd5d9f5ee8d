/* SPDX-License-Identifier: MIT */
/* off_carrier.h - make a call that can only block on another thread */
#ifndef FPX_CALL_OFF_CARRIER_H
#define FPX_CALL_OFF_CARRIER_H

/*
 * Run fn(arg) on a thread of fiber_block() and park until it has returned. arg may be on the stack:
 * no cancellation ends the wait. Returns 0, or a negative errno if fn was not called.
 */
int fpx_off_carrier(void *(*fn)(void *), void *arg);

/*
 * The same for a call that waits for a disk. Without a thread it is made here: a disk's time is
 * short, and the program does not expect such an error. Returns 0, or a negative errno if fn was not
 * called.
 */
int fpx_for_disk(void *(*fn)(void *), void *arg);

#endif
