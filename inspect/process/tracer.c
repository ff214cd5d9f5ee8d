/* SPDX-License-Identifier: MIT */
/*
 * tracer.c - explain why a thread cannot be traced
 *
 * Reading memory takes the same rights as tracing, and memory could be read. So either another
 * tracer has the thread, or a seccomp filter or a security module forbids ptrace(2).
 */
#include "inspect/process/tracer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/process/thread.h"

const char *ins_tracer_explain(pid_t pid, pid_t tid, int rc, char *buf, size_t size)
{
	char tracer[32] = "", name[INS_THREAD_NAME];
	long who;

	ins_thread_status(pid, (uint64_t)tid, "TracerPid", tracer, sizeof tracer);
	who = strtol(tracer, NULL, 10);
	if (who > 0) {
		ins_thread_name((pid_t)who, (uint64_t)who, name);
		snprintf(buf, size, "process %ld (%s) traces it already: end that", who,
			 name[0] ? name : "unknown");
	} else if (rc == -EPERM || rc == -EACCES || rc == -ENOSYS) {
		snprintf(buf, size,
			 "ptrace(2) is forbidden here, though memory may be read: by a sandbox "
			 "(seccomp) or a security module: allow it");
	} else {
		snprintf(buf, size, "%s", strerror(-rc));
	}
	return buf;
}
