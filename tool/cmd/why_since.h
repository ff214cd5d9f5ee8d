/* SPDX-License-Identifier: MIT */
/* why_since.h - an older snapshot that why compares a program with */
#ifndef TOOL_WHY_SINCE_H
#define TOOL_WHY_SINCE_H

#include "inspect/why/look.h"

/*
 * Give a look that was taken the snapshot at path as its older reading (look->since). Returns TOOL_WELL,
 * or the exit code after a message: it is no snapshot, or not an older one of the same process.
 */
int tool_why_since(struct ins_look *look, const char *path);

#endif
