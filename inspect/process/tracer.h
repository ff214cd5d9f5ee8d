/* SPDX-License-Identifier: MIT */
/* tracer.h - who or what keeps a thread from being stopped. */
#ifndef INS_TRACER_H
#define INS_TRACER_H

#include <stddef.h>
#include <sys/types.h>

/* Thread tid of a process whose memory we may read could not be traced: rc, a negative errno. The reason and the remedy. Returns buf. */
const char *ins_tracer_explain(pid_t pid, pid_t tid, int rc, char *buf, size_t size);

#define INS_TRACER_EXPLAIN_SIZE 256 /* bytes that do for it */

#endif
