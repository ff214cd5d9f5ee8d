/* SPDX-License-Identifier: MIT */
/* trim.h - give memory that no fiber needs now back to the system */
#ifndef FIBER_TRIM_H
#define FIBER_TRIM_H

#include <fiber/api.h>

FIBER_BEGIN_DECLS

/*
 * What fiber_trim() does with the stacks of fibers that have been suspended for idle_ns or longer.
 *
 * UNUSED gives back the part of each stack that the fiber has used and left again. It concerns only
 * fibers that no other thread could run meanwhile: those of the caller's runtime if it has one
 * carrier, else those bound to the caller's carrier. None of these may be suspended in a context
 * (context.h) whose memory is a part of its own stack: its frames below that memory would be lost.
 * COLD asks the kernel to take the pages of the stacks first when memory gets short (madvise(2),
 * MADV_COLD). PAGEOUT asks it to write them to swap now (MADV_PAGEOUT); without swap it has no
 * effect. COLD and PAGEOUT concern all runtimes of the process, and a fiber may run meanwhile: its
 * stack keeps its contents. None of them concerns stacks of the program (fiber_attr.stack).
 */
enum fiber_trim_flags { FIBER_TRIM_UNUSED = 1, FIBER_TRIM_COLD = 2, FIBER_TRIM_PAGEOUT = 4 };

/*
 * Give back the memory, and where the kernel allows it the page tables, of all stacks that no fiber
 * has: those in the pool, and in a fiber also those that its carrier keeps. Other carriers keep up
 * to 32 each. (A stack that was not used for a second loses its memory anyway, without this call,
 * when a carrier sleeps, but not its page tables.) Then do what flags ask for, a sum of enum
 * fiber_trim_flags; idle_ns has no effect without flags.
 *
 * Takes some microseconds a stack, so in a fiber it may hold the carrier for long. From any thread
 * or fiber; not from a signal handler. Does not wait. Records of fibers, 512 bytes each, are reused
 * and never given back.
 *
 * Returns the bytes of memory that are not resident any more, without page tables; -EINVAL for
 * unknown flags, COLD with PAGEOUT, or a negative idle_ns; -EPERM for UNUSED outside a fiber.
 */
FIBER_API int64_t fiber_trim(unsigned flags, int64_t idle_ns);

FIBER_END_DECLS

#endif
