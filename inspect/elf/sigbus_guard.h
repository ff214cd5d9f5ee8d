/* SPDX-License-Identifier: MIT */
/* sigbus_guard.h - files that are cut while they are mapped. */
#ifndef INS_SIGBUS_GUARD_H
#define INS_SIGBUS_GUARD_H

/*
 * Say "TOOL: ..." and end with exit code 2 when a mapped file turns out shorter than it was, instead of
 * dying by SIGBUS. tool is a constant string. First thing in main().
 */
void ins_sigbus_guard(const char *tool);

#endif
