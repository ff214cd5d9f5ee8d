/* SPDX-License-Identifier: MIT */
/* holder.h - describe the holder of a lock in words */
#ifndef FIB_SYNC_HOLDER_H
#define FIB_SYNC_HOLDER_H

#include <stdint.h>

#define FIB_HOLDER_TEXT 80

/*
 * Write a description of `holder`, a number as returned by fib_caller(), with or without
 * FIB_HOLDER_CONTENDED: "nobody", "thread 4711" or "fiber 7". The calling fiber gets its name too:
 * fiber 7 "worker".
 */
void fib_holder_text(char text[FIB_HOLDER_TEXT], uint64_t holder);

#endif
