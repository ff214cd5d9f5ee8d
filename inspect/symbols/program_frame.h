/* SPDX-License-Identifier: MIT */
/* program_frame.h - find the innermost frame of the program itself */
#ifndef INS_PROGRAM_FRAME_H
#define INS_PROGRAM_FRAME_H

#include "inspect/symbols/symbolize.h"
#include "inspect/unwind/unwind.h"

/*
 * The index of the innermost frame that belongs neither to the C library nor to libfiber. If there
 * is none, the call into libfiber, else the innermost frame; 0 for an empty walk.
 */
unsigned ins_program_frame(struct ins_symbols *symbols, const struct ins_walk *walk);

#endif
