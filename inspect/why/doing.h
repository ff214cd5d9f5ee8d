/* SPDX-License-Identifier: MIT */
/* doing.h - what a fiber does that runs: it computes, or is in a system call; and where */
#ifndef INS_WHY_DOING_H
#define INS_WHY_DOING_H

#include "inspect/why/look.h"

/*
 * "computing", "in system call nanosleep" (running.h); "": the fiber waits or does not run, or that is
 * not known. The source is asked now: a moment after its readings. Returns buf.
 */
const char *ins_why_doing(const struct ins_look *look, const struct ins_fiber *fiber, char *buf,
			  size_t size);

/*
 * That with the place: "computing at store.c:230 in compact". If the place is not known now, the one at
 * which the program itself has seen this run: "computing, and was seen at ..", "seen computing at ..".
 * Only a place: " at store.c:230 in compact". place: the place alone, "" without one. Returns buf; "" if
 * nothing is known.
 */
#define INS_WHY_PLACE 256
const char *ins_why_doing_at(struct ins_look *look, const struct ins_fiber *fiber,
			     char place[INS_WHY_PLACE], char *buf, size_t size);

#endif
