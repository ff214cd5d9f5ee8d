/* SPDX-License-Identifier: MIT */
/* name.h - looking up names. See name.c for the rule. */
#ifndef FIB_IO_NAME_H
#define FIB_IO_NAME_H

/* At most so many lookups are under way, of the threads that fiber_block() has. */
#define FIB_NAME_LOOKUPS_MAX 32u

/* In a forked child: none is under way. */
void fib_name_forget(void);

#endif
