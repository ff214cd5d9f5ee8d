/* SPDX-License-Identifier: MIT */
/*
 * silence.c - explain why the process behind a control socket does not answer
 *
 * A live process may not answer because it is stopped, or because its own seccomp filter refuses a
 * system call that an answer needs. It is reported as ended only if it has ended.
 */
#include "inspect/process/silence.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/process/permission.h"
#include "inspect/text/member.h"

bool ins_process_is_alive(pid_t pid)
{
	if (pid <= 0 || ins_member_has_memory(ins_member(pid)) == 0)
		return false;
	/* /proc may be hidden. */
	return kill(pid, 0) == 0 || errno == EPERM;
}

/* "/run/user/0/fiber/1234.sock": 1234; 0: the name has no pid. */
static pid_t pid_of(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char *end;
	long pid = name[0] >= '1' && name[0] <= '9' ? strtol(name, &end, 10) : 0;

	return pid > 0 && pid <= INT_MAX && strcmp(end, ".sock") == 0 ? (pid_t)pid : 0;
}

static bool has_filter(pid_t pid)
{
	char mode[32];

	return ins_permission_status(pid, "Seccomp", mode, sizeof mode) == 0 && mode[0] != '0';
}

/* Explain why a live process does not answer; NULL: rc does not tell. */
static const char *living(pid_t pid, int rc, char *buf, size_t size)
{
	const char *filter = has_filter(pid) ? "its seccomp filter refuses a system call that it "
					       "needs for that (libfiber(7))"
					     : NULL;

	switch (rc) {
	case -ECONNREFUSED:
		snprintf(buf, size, "process %d lives, but does not listen: %s; use fibertrace %d",
			 (int)pid,
			 filter ? filter
				: "the program has closed the socket, or runs another program now",
			 (int)pid);
		return buf;
	case -ECONNRESET:
	case -EPIPE:
		snprintf(buf, size,
			 "process %d lives, but closed the connection before the answer was whole%s"
			 "%s; use fibertrace %d",
			 (int)pid, filter ? ": " : "", filter ? filter : "", (int)pid);
		return buf;
	case -ETIMEDOUT:
		if (!filter)
			return NULL;
		snprintf(buf, size,
			 "no answer: the process is stopped, its service thread hangs, or %s; use "
			 "fibertrace %d",
			 filter, (int)pid);
		return buf;
	case -EXDEV:
		return "its machine has another byte order: only a tool of that machine can ask it";
	default:
		return NULL;
	}
}

const char *ins_process_silence(const char *path, pid_t pid, int rc, char *buf, size_t size)
{
	const char *text = NULL;

	if (!pid)
		pid = pid_of(path);
	if (ins_process_is_alive(pid))
		text = living(pid, rc, buf, size);
	return text ? text : ins_access_explain(path, INS_ACCESS_CONNECT, rc, buf, size);
}
