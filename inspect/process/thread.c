/* SPDX-License-Identifier: MIT */
/* thread.c - a plain thread of a process */
#include "inspect/process/thread.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "inspect/process/permission.h"
#include "inspect/text/member.h"
#include "inspect/text/read_file.h"

/*
 * Whether the process has the same pid in its own pid namespace as in ours. The innermost number is
 * the last.
 */
static bool same_numbers(pid_t pid)
{
	char text[256];
	const char *last;

	if (ins_permission_status(pid, "NSpid", text, sizeof text) < 0)
		return false;
	last = strrchr(text, '\t');
	return strtol(last ? last + 1 : text, NULL, 10) == pid;
}

bool ins_thread_name(pid_t pid, uint64_t tid, char name[INS_THREAD_NAME])
{
	char path[96], *text;
	size_t size;

	name[0] = 0;
	snprintf(path, sizeof path, "/proc/%d/task/%" PRIu64 "/comm", (int)pid, tid);
	if (ins_read_file(path, &text, &size) < 0)
		return false;
	text[strcspn(text, "\n")] = 0;
	snprintf(name, INS_THREAD_NAME, "%s", text);
	free(text);
	return true;
}

int ins_thread_status(pid_t pid, uint64_t tid, const char *key, char *buf, size_t size)
{
	char path[96], start[64], *text, *at;
	size_t length;
	int rc;

	buf[0] = 0;
	snprintf(path, sizeof path, "/proc/%d/task/%" PRIu64 "/status", (int)pid, tid);
	snprintf(start, sizeof start, "\n%s:\t", key);
	rc = ins_read_file(path, &text, &length);
	if (rc < 0)
		return rc;
	at = strstr(text, start);
	if (at) {
		at += strlen(start);
		at[strcspn(at, "\n")] = 0;
		snprintf(buf, size, "%s", at);
	}
	free(text);
	return at ? 0 : -ENODATA;
}

int ins_thread_place(pid_t pid, uint64_t tid, struct fib_sleeper_place *ret)
{
	char path[96], *text;
	size_t size;
	int rc;

	snprintf(path, sizeof path, "/proc/%d/task/%" PRIu64 "/syscall", (int)pid, tid);
	rc = ins_read_file(path, &text, &size);
	if (rc < 0)
		return rc;
	rc = fib_sleeper_parse(text, ret);
	free(text);
	return rc;
}

enum ins_thread ins_thread_look(pid_t pid, uint64_t tid, char name[INS_THREAD_NAME])
{
	char path[96], *text;
	size_t size;
	int rc;

	name[0] = 0;
	if (pid <= 0 || !same_numbers(pid))
		return INS_THREAD_UNKNOWN;
	snprintf(path, sizeof path, "/proc/%d/task/%" PRIu64 "/comm", (int)pid, tid);
	rc = ins_read_file(path, &text, &size);
	if (rc == 0) {
		text[strcspn(text, "\n")] = 0;
		snprintf(name, INS_THREAD_NAME, "%s", text);
		free(text);
		return tid == (uint64_t)pid && ins_member(pid) != pid ? INS_THREAD_ENDED
								      : INS_THREAD_ALIVE;
	}
	/* The process itself may have ended. */
	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	return (rc == -ENOENT || rc == -ESRCH) && access(path, F_OK) == 0 ? INS_THREAD_ENDED
									  : INS_THREAD_UNKNOWN;
}
