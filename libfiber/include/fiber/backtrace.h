/* SPDX-License-Identifier: MIT */
/*
 * backtrace.h - library libfiber-backtrace: a fiber's frames, printed by the program itself
 *
 * A library of its own, because it needs libunwind and libfiber must not: link with
 * `pkg-config --libs libfiber-backtrace`. Not part of <fiber.h>.
 */
#ifndef FIBER_BACKTRACE_H
#define FIBER_BACKTRACE_H

#include <stdio.h>

#include <fiber/api.h>
#include <fiber/fiber.h>

FIBER_BEGIN_DECLS

/*
 * Print the fiber and its frames, innermost first, at most max_frames (<= 0: 256). The handle
 * must stay valid meanwhile. A suspended fiber is walked on a copy of its stack, so it may wake
 * up meanwhile; the calling fiber is walked as it is. The number of frames; -EBUSY for a fiber
 * that runs elsewhere or would not hold still, -ESRCH for one that has ended, -EFAULT for one
 * whose stack pointer is outside its stack, -ENOTSUP where the port's stacks cannot be
 * walked, -ENOMEM; the line printed then says so. From a fiber or a
 * thread, not from a signal handler: it takes the loader's locks and allocates. On a fiber it
 * takes 16 KiB of stack.
 */
FIBER_API int fiber_print_backtrace(struct fiber *fiber, FILE *out, int max_frames);

FIBER_END_DECLS

#endif
