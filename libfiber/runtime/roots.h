/* SPDX-License-Identifier: MIT */
/* roots.h - tell LeakSanitizer where fibers keep pointers */
#ifndef FIB_RUNTIME_ROOTS_H
#define FIB_RUNTIME_ROOTS_H

#include <stddef.h>

#include "core/record.h"

/* If the fiber is live, call add for its record and for the used part of its stack. Returns the
 * number of calls. */
unsigned fib_roots_of(const struct fiber *fiber, void (*add)(const void *low, size_t size));

/* If the program has LeakSanitizer, register all fibers that are live when the process exits.
 * Returns 0, or a negative errno. Any thread. */
int fib_roots_watch(void);

#endif
