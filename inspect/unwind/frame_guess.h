/* SPDX-License-Identifier: MIT */
/* frame_guess.h - the stack of a thread that sleeps in the system, whose frame pointer nobody knows. */
#ifndef INS_FRAME_GUESS_H
#define INS_FRAME_GUESS_H

#include "inspect/unwind/unwind.h"

/* Walk a fiber of which only sp and pc are known. True and a walk that is whole; false: there is none, and *ret says
 * nothing. */
bool ins_frame_guess(struct ins_unwinder *unwinder, const struct ins_fiber *fiber,
		     struct ins_walk *ret);

#endif
