/* SPDX-License-Identifier: MIT */
/* heap.h - learn of blocks that are allocated */
#ifndef FIB_TEST_HEAP_H
#define FIB_TEST_HEAP_H

/* A schedule starts. The call makes a linker take heap.c, and with it malloc(), into each program. */
void fib_heap_begin(void);

#endif
