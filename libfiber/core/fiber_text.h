/* SPDX-License-Identifier: MIT */
/* fiber_text.h - what a message calls a fiber */
#ifndef FIB_CORE_FIBER_TEXT_H
#define FIB_CORE_FIBER_TEXT_H

#include <stdint.h>

#include "base/log.h"

struct fib_os_pipe;

/*
 * The name in quotes; of a fiber without a name the function it starts in, as "(httpd+0x12a0)",
 * which addr2line(1) resolves; "" in quotes if that is unknown. entry: the function's address, 0:
 * unknown. pipe: for fib_os_peek_through(). Takes no lock. Returns buf.
 */
const char *fib_fiber_text(char buf[FIB_LOG_NAME], const char *name, uint64_t entry,
			   struct fib_os_pipe *pipe);

#endif
