/* SPDX-License-Identifier: MIT */
/* quiet.h - writing to what nobody reads, without a signal. For the leaves of os/ only: it gives -1 and errno. */
#ifndef FIB_OS_QUIET_H
#define FIB_OS_QUIET_H

#include <sys/types.h>
#include <sys/uio.h>

/* writev(2), with flags 0 or RWF_NOWAIT as pwritev2(2) has them; EPIPE comes without SIGPIPE. What the program does with
 * that signal, and whether one is pending, stays as it was. */
ssize_t fib_os_quiet_writev(int fd, const struct iovec *v, int count, int flags);

#endif
