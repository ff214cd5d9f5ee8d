/* SPDX-License-Identifier: MIT */
/*
 * reserve.h - how many stacks a carrier reserves at once: a process of one schedule needs few, and
 * each has a guard, which is two mappings
 */
#ifndef FIB_STACK_RESERVE_H
#define FIB_STACK_RESERVE_H

#define FIB_STACK_RESERVE 4u
/* The explorer numbers the fibers of a schedule by their ids, in the order of spawning. */
#define FIB_ID_RESERVE 1u

#endif
