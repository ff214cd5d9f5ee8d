/* SPDX-License-Identifier: MIT */
/* name.h - look up names. See name.c for the rule. */
#ifndef FIB_IO_NAME_H
#define FIB_IO_NAME_H

/* Maximum number of lookups in progress, out of the threads of fiber_block(). */
#define FIB_NAME_LOOKUPS_MAX 32u

/* In a forked child: no lookup is in progress. */
void fib_name_forget(void);

#endif
