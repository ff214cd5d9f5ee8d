/* SPDX-License-Identifier: MIT */
/*
 * backtrace.h - library libfiber-backtrace: a program prints the frames of its own fibers
 *
 * This is a separate library because it needs libunwind and libfiber must not. Link with
 * `pkg-config --libs libfiber-backtrace`. <fiber.h> does not include this header.
 */
#ifndef FIBER_BACKTRACE_H
#define FIBER_BACKTRACE_H

#include <stdio.h>

#include <fiber/api.h>
#include <fiber/fiber.h>

FIBER_BEGIN_DECLS

/*
 * Print the fiber and its frames, innermost first, at most max_frames (<= 0: 256). The handle must
 * stay valid during the call. The frames of a suspended fiber are read from a copy of its stack, so
 * the fiber may wake up meanwhile. The calling fiber's stack is read directly.
 *
 * Returns the number of frames; -EBUSY when the fiber runs on another carrier or changed during
 * every attempt to copy it; -ESRCH when it has exited; -EFAULT when its stack pointer is outside
 * its stack; -ENOTSUP where the stacks of this port cannot be unwound; -ENOMEM. On an error the
 * line printed names the reason.
 *
 * From a fiber or a thread, not from a signal handler: the call takes the loader's locks and
 * allocates memory. On a fiber it needs 16 KiB of stack.
 */
FIBER_API int fiber_print_backtrace(struct fiber *fiber, FILE *out, int max_frames);

FIBER_END_DECLS

#endif
