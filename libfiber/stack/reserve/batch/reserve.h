/* SPDX-License-Identifier: MIT */
/* reserve.h - how many stacks a carrier reserves at once: many, because others compete for the pool's lock */
#ifndef FIB_STACK_RESERVE_H
#define FIB_STACK_RESERVE_H

#define FIB_STACK_RESERVE 32u

#endif
