/* SPDX-License-Identifier: MIT */
/* reserve.h - how much a carrier takes at once: much, because others compete for the pool's lock and
 * for the counter of ids */
#ifndef FIB_STACK_RESERVE_H
#define FIB_STACK_RESERVE_H

#define FIB_STACK_RESERVE 32u
#define FIB_ID_RESERVE	  64u /* at most; a power of two */

#endif
