/* SPDX-License-Identifier: MIT */
/* bytes.h - order by bytes that are sent through descriptors */
#ifndef FIB_TEST_BYTES_H
#define FIB_TEST_BYTES_H

/* A schedule starts. */
void fib_bytes_begin(void);

#endif
