/* SPDX-License-Identifier: MIT */
/* doing.h - what a fiber does that runs: it computes, or is in a system call */
#ifndef INS_WHY_DOING_H
#define INS_WHY_DOING_H

#include "inspect/why/look.h"

/*
 * "computing", "in system call nanosleep" (running.h); "": the fiber waits or does not run, or that is
 * not known. The source is asked now: a moment after its readings. Returns buf.
 */
const char *ins_why_doing(const struct ins_look *look, const struct ins_fiber *fiber, char *buf,
			  size_t size);

#endif
