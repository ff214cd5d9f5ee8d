/* SPDX-License-Identifier: MIT */
/*
 * rights.c - telling which right is missing
 *
 * The kernel says EPERM for five different reasons. A person on call needs to know which one: the
 * remedies are as different as another user, a sysctl and a container option. So the same facts are
 * looked at that the kernel looks at, in the same order.
 */
#include "inspect/rights.h"

#include <errno.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int ins_rights_status(pid_t pid, const char *key, char *buf, size_t size)
{
	char path[64], line[512];
	size_t n = strlen(key);
	int rc = -ENODATA;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	while (fgets(line, sizeof line, f)) {
		char *value = line + n + 1;

		if (strncmp(line, key, n) != 0 || line[n] != ':')
			continue;
		value += strspn(value, " \t");
		value[strcspn(value, "\n")] = 0;
		snprintf(buf, size, "%s", value);
		rc = 0;
		break;
	}
	fclose(f);
	return rc;
}

static bool may_trace_all(void)
{
	char text[64];

	if (ins_rights_status(getpid(), "CapEff", text, sizeof text) < 0)
		return false;
	return (strtoull(text, NULL, 16) >> CAP_SYS_PTRACE) & 1;
}

static int yama_scope(void)
{
	FILE *f = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
	int scope = 0;

	if (!f)
		return 0;
	if (fscanf(f, "%d", &scope) != 1)
		scope = 0;
	fclose(f);
	return scope;
}

static int explain_other_user(pid_t pid, uid_t uid, struct ins_error *error)
{
	struct passwd *pw = getpwuid(uid);

	return ins_error_set(error, -EPERM,
			     "process %d: belongs to %s (uid %u) and you are uid %u: run this as "
			     "that user or with CAP_SYS_PTRACE (sudo)",
			     (int)pid, pw ? pw->pw_name : "another user", (unsigned)uid,
			     (unsigned)geteuid());
}

int ins_rights_explain(pid_t pid, int rc, struct ins_error *error)
{
	bool all = may_trace_all();
	int scope = yama_scope();
	char text[128], path[64];
	struct stat st;
	uid_t uid;

	if (ins_rights_status(pid, "Uid", text, sizeof text) < 0)
		return ins_error_set(error, -EPERM, "process %d: cannot be read: %s", (int)pid,
				     strerror(-rc));
	uid = (uid_t)strtoul(text, NULL, 10);
	if (!all && uid != geteuid())
		return explain_other_user(pid, uid, error);
	/* The files of a process that is not dumpable are root's; the folder they are in is not. */
	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	if (!all && stat(path, &st) == 0 && st.st_uid != uid)
		return ins_error_set(error, -EPERM,
				     "process %d: is not dumpable (set-user-ID, file capabilities, "
				     "or PR_SET_DUMPABLE): needs CAP_SYS_PTRACE (sudo)",
				     (int)pid);
	if (scope >= 3)
		return ins_error_set(error, -EPERM,
				     "process %d: /proc/sys/kernel/yama/ptrace_scope is %d: no "
				     "process may be read until the machine restarts",
				     (int)pid, scope);
	if (!all && scope > 0)
		return ins_error_set(error, -EPERM,
				     "process %d: /proc/sys/kernel/yama/ptrace_scope is %d: needs "
				     "CAP_SYS_PTRACE (sudo), or 0 in that file",
				     (int)pid, scope);
	return ins_error_set(error, -EPERM, "process %d: cannot be read: %s: %s", (int)pid,
			     strerror(-rc),
			     all ? "a sandbox or security module forbids it"
				 : "needs CAP_SYS_PTRACE in the process' user namespace");
}
