/* SPDX-License-Identifier: MIT */
/* link_cancel.h - glibc: each system call can be repeated, whatever the program uses */
#ifndef FIB_OS_LINUX_LIBC_LINK_CANCEL_H
#define FIB_OS_LINUX_LIBC_LINK_CANCEL_H

static inline void fib_os_link_cancel(void)
{
}

#endif
