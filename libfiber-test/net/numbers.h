/* SPDX-License-Identifier: MIT */
/*
 * numbers.h - what libfiber remembers of descriptor numbers, for one schedule
 *
 * A number means another file in each schedule. What libfiber remembers of it decides which system
 * calls are made, so a schedule must not find what another one has left.
 */
#ifndef FIB_TEST_NET_NUMBERS_H
#define FIB_TEST_NET_NUMBERS_H

/* The number is given to the poller, so something is remembered of it. */
void fib_numbers_note(int fd);

/* Forget it. At the beginning of a schedule. */
void fib_numbers_begin(void);

#endif
