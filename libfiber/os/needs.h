/* SPDX-License-Identifier: MIT */
/* needs.h - whether the system allows the calls without which no runtime works */
#ifndef FIB_OS_NEEDS_H
#define FIB_OS_NEEDS_H

/*
 * Try each of these calls, until one is refused. 0: the system allows all of them; the answer is
 * kept, and later calls of this function do nothing. Otherwise the negative errno of a refusal
 * (fib_os_is_refusal()), and the name of the call in *ret_call. Other errors, such as a lack of
 * memory or descriptors, are none of its business.
 */
int fib_os_needs(const char **ret_call);

#endif
