/* SPDX-License-Identifier: MIT */
/*
 * reserve.h - how many stacks a carrier reserves at once: a process of one schedule needs few, and
 * each has a guard, which is two mappings
 */
#ifndef FIB_STACK_RESERVE_H
#define FIB_STACK_RESERVE_H

#define FIB_STACK_RESERVE 4u

#endif
