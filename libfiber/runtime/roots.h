/* SPDX-License-Identifier: MIT */
/* roots.h - memory that a leak checker must look for pointers in. */
#ifndef FIB_RUNTIME_ROOTS_H
#define FIB_RUNTIME_ROOTS_H

#include <stddef.h>

#include "core/record.h"

/* Call add for the record of a fiber and for the used part of its stack, if it lives. Returns how often. */
unsigned fib_roots_of(const struct fiber *fiber, void (*add)(const void *low, size_t size));

/* From now on, when the process exits, tell LeakSanitizer of all fibers that live then, if the program has it. 0, or a negative
 * errno. Any thread. */
int fib_roots_watch(void);

#endif
