/* SPDX-License-Identifier: MIT */
/* events.h - what 'pinned' and 'slow' have in common: a ring of events, grouped by place, or followed. */
#ifndef FIBERCTL_EVENTS_H
#define FIBERCTL_EVENTS_H

#include "fiberctl/fiberctl.h"
#include "wire/wire.h"

/* Ask for the events of a ring and print them. what: "pinned wait", "long run". The exit code. */
int ctl_events(const struct tool_arguments *arguments, enum fib_wire_ring ring, const char *what);

#endif
