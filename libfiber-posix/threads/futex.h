/* SPDX-License-Identifier: MIT */
/* futex.h - futex(2) between fibers and threads */
#ifndef FPX_THREADS_FUTEX_H
#define FPX_THREADS_FUTEX_H

/* What syscall(2) returns for SYS_futex with these arguments. */
long fpx_futex(const long *arguments);

#endif
