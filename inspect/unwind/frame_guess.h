/* SPDX-License-Identifier: MIT */
/* frame_guess.h - find the frame pointer of a thread that sleeps in the kernel */
#ifndef INS_FRAME_GUESS_H
#define INS_FRAME_GUESS_H

#include "inspect/unwind/unwind.h"

/*
 * Walk a fiber of which only sp and pc are known. True: *ret is a whole walk; false: there is none,
 * and *ret is meaningless.
 */
bool ins_frame_guess(struct ins_unwinder *unwinder, const struct ins_fiber *fiber,
		     struct ins_walk *ret);

#endif
