/* SPDX-License-Identifier: MIT */
/* cmocka.h - assertions of cmocka in a process that runs schedules */
#ifndef FIB_TEST_CMOCKA_H
#define FIB_TEST_CMOCKA_H

/*
 * A failed assertion writes its message and its place to stderr and aborts, instead of jumping to
 * another stack. Nothing where the program is not linked with cmocka.
 */
void fib_cmocka_settle(void);

#endif
