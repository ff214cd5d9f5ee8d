/* SPDX-License-Identifier: MIT */
/* quiet.h - write without SIGPIPE; for os/ only, because it returns -1 and sets errno */
#ifndef FIB_OS_QUIET_H
#define FIB_OS_QUIET_H

#include <sys/types.h>
#include <sys/uio.h>

/*
 * writev(2), with flags 0 or RWF_NOWAIT as in pwritev2(2), that fails with EPIPE without SIGPIPE.
 * The program's disposition of the signal is not changed, nor whether one is pending.
 */
ssize_t fib_os_quiet_writev(int fd, const struct iovec *v, int count, int flags);

#endif
