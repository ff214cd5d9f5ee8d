/* SPDX-License-Identifier: MIT */
/* linear.h - check the histories of a schedule that ended well */
#ifndef FIB_TEST_LINEAR_H
#define FIB_TEST_LINEAR_H

/* Does not return if one is bad, or if the search reached its limits (finding.h). */
void fib_linear_check(void);

#endif
