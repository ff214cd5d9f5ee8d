/* SPDX-License-Identifier: MIT */
/* await.h - descriptor cases of a select */
#ifndef FIB_IO_AWAIT_H
#define FIB_IO_AWAIT_H

#include "sync/select.h"

/* For fib_select_serve_fds(). */
extern const struct fib_fd_ops fib_await_ops;

#endif
