/* SPDX-License-Identifier: MIT */
/* events.h - the common part of 'pinned' and 'slow': print a ring of events */
#ifndef FIBERCTL_EVENTS_H
#define FIBERCTL_EVENTS_H

#include "fiberctl/fiberctl.h"
#include "wire/wire.h"

/*
 * Request the events of a ring and print them. what: "pinned wait", "long run". Returns the exit
 * code.
 */
int ctl_events(const struct tool_arguments *arguments, enum fib_wire_ring ring, const char *what);

#endif
