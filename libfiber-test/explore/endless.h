/* SPDX-License-Identifier: MIT */
/* endless.h - why a wait cannot end any more */
#ifndef FIB_TEST_ENDLESS_H
#define FIB_TEST_ENDLESS_H

#include "explore/waits.h"

#define FIB_ENDLESS_ROOM 128u

/*
 * "no fiber is left that could signal it", in buf of FIB_ENDLESS_ROOM bytes. NULL: some fiber can run,
 * fiber i waits for one other fiber, or its wait is none that fibers end.
 */
const char *fib_endless_why(const struct fib_waits *waits, size_t i, char *buf);

#endif
