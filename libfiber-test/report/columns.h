/* SPDX-License-Identifier: MIT */
/* columns.h - the trace as text: a column for each fiber */
#ifndef FIB_TEST_COLUMNS_H
#define FIB_TEST_COLUMNS_H

#include <stdio.h>

#define FIB_COLUMNS_LINES 40u

/* Write what is near a switch, at most FIB_COLUMNS_LINES lines with the headline, the last ones. */
void fib_columns_near_switches(FILE *out);

/* Write every step. */
void fib_columns_all(FILE *out);

#endif
