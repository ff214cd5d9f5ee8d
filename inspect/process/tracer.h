/* SPDX-License-Identifier: MIT */
/* tracer.h - explain why a thread cannot be traced */
#ifndef INS_TRACER_H
#define INS_TRACER_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Explain why thread tid, of a process whose memory we may read, could not be traced, and the
 * remedy. rc: a negative errno. Returns buf.
 */
const char *ins_tracer_explain(pid_t pid, pid_t tid, int rc, char *buf, size_t size);

#define INS_TRACER_EXPLAIN_SIZE 256 /* enough bytes for it */

#endif
