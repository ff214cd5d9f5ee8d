/* SPDX-License-Identifier: MIT */
/* holder.h - who holds something, in words. */
#ifndef FIB_SYNC_HOLDER_H
#define FIB_SYNC_HOLDER_H

#include <stdint.h>

#define FIB_HOLDER_TEXT 80

/*
 * Write who `holder` is, a number as fib_caller() gives it with or without FIB_HOLDER_CONTENDED: "nobody",
 * "thread 4711", "fiber 7", and for the caller itself also its name: fiber 7 "worker".
 */
void fib_holder_text(char text[FIB_HOLDER_TEXT], uint64_t holder);

#endif
