/* SPDX-License-Identifier: MIT */
/* counts.h - what the carriers of a runtime have done since a work began */
#ifndef BENCH_MODEL_COUNTS_H
#define BENCH_MODEL_COUNTS_H

#include <stdint.h>

/* The measured part of a work begins: in a fiber. */
void fib_counts_begin(void);

/* It has ended. Print "NAME VALUE" for everything that was counted. ops: operations it did. */
void fib_counts_end(int64_t ops);

/* An operation took ns. At most as many as FIB_COUNTS_DELAYS are kept. */
#define FIB_COUNTS_DELAYS (1u << 20)
void fib_counts_delay(int64_t ns);

#endif
