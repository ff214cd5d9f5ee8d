/* SPDX-License-Identifier: MIT */
/* sigbus_guard.h - handle files that are truncated while they are mapped */
#ifndef INS_SIGBUS_GUARD_H
#define INS_SIGBUS_GUARD_H

/*
 * If a mapped file becomes shorter, print "TOOL: ..." and exit with code 2 instead of dying by
 * SIGBUS. tool is a constant string. Call it first in main().
 */
void ins_sigbus_guard(const char *tool);

#endif
