/* SPDX-License-Identifier: MIT */
/* arena.h - memory for one schedule, freed at once; malloc() is the program's */
#ifndef FIB_TEST_ARENA_H
#define FIB_TEST_ARENA_H

#include <stddef.h>

/* size bytes until the next reset, with any contents. Never NULL. */
void *fib_arena_take(size_t size);
void fib_arena_reset(void);

/* size bytes of zeros for ever. Never NULL. */
void *fib_arena_keep(size_t size);

#endif
