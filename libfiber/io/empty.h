/* SPDX-License-Identifier: MIT */
/* empty.h - do not try to read what is probably empty */
#ifndef FIB_IO_EMPTY_H
#define FIB_IO_EMPTY_H

#include <stdint.h>

#include "io/descriptor.h"

/* A read after the look found nothing. */
void fib_empty_found(int fd, const struct fib_look *look);

/* The first try of a read found something, or failed. look->empty != 0. */
void fib_empty_not(int fd, const struct fib_look *look);

/*
 * Before the first try of a read of at least one byte; look->empty != 0. Wait, if the try would
 * probably find nothing. Returns 0: try; 1: waited, look again and try; -EBADF: the number means
 * another file by now; -ECANCELED: try, and do not wait again. Whatever else ended the wait, such as the deadline, ends the wait after the
 * try too.
 */
int fib_empty_await(int fd, const struct fib_look *look, int64_t deadline);

#endif
