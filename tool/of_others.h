/* SPDX-License-Identifier: MIT */
/* of_others.h - find a process of another user by its name */
#ifndef TOOL_OF_OTHERS_H
#define TOOL_OF_OTHERS_H

#include <sys/types.h>

/*
 * A process of another user whose system name this is, which this user may not ask; 0: there is
 * none, or this is root. One with fibers, as far as the names of its threads tell, comes first.
 */
pid_t tool_of_others(const char *name);

#endif
