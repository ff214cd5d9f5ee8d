/* SPDX-License-Identifier: MIT */
/* verdict.h - what is wrong with a program, in a word */
#ifndef CTL_VERDICT_H
#define CTL_VERDICT_H

#include <stddef.h>
#include <sys/types.h>

#include "inspect/model/source.h"
#include "tool/sockets.h"

/*
 * Look once at the fibers of a source, the process pid: "ok", or the worst finding of `why` and how
 * many fibers it concerns, "deadlock 2"; "-" if it cannot be read. One look cannot tell what lasts,
 * so it finds less than `why` does. Returns buf.
 */
const char *ctl_verdict_of(struct ins_source *source, pid_t pid, char *buf, size_t size);

/* The same for the program behind a socket. */
const char *ctl_verdict(const struct tool_socket *socket, char *buf, size_t size);

#endif
