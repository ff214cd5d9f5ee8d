/* SPDX-License-Identifier: MIT */
/*
 * permission.c - explain which right is missing
 *
 * The kernel returns EPERM for nine different reasons. The user needs to know which one, because
 * the remedies differ: another user, a sysctl, a container option. So this file checks the same
 * facts as the kernel in the same order (ptrace(2), "Ptrace access mode checking"): users and
 * groups, whether the process is dumpable, its capabilities, and then Yama. CAP_SYS_PTRACE in the
 * user namespace of the process overrides all of them but the last value of Yama's setting.
 *
 * When the kernel refuses access, the process' status and its map of users can still be read.
 */
#include "inspect/process/permission.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inspect/text/as_user.h"
#include "inspect/text/read_file.h"

#define NOT_DUMPABLE                                                                         \
	"is not dumpable (set-user-ID, file capabilities, a file that is not to be read, a " \
	"change of its user, or "                                                            \
	"PR_SET_DUMPABLE)"
#define YAMA "/proc/sys/kernel/yama/ptrace_scope"

/* In the order of their numbers. */
static const char *const capability_names[] = {
	"chown",
	"dac_override",
	"dac_read_search",
	"fowner",
	"fsetid",
	"kill",
	"setgid",
	"setuid",
	"setpcap",
	"linux_immutable",
	"net_bind_service",
	"net_broadcast",
	"net_admin",
	"net_raw",
	"ipc_lock",
	"ipc_owner",
	"sys_module",
	"sys_rawio",
	"sys_chroot",
	"sys_ptrace",
	"sys_pacct",
	"sys_admin",
	"sys_boot",
	"sys_nice",
	"sys_resource",
	"sys_time",
	"sys_tty_config",
	"mknod",
	"lease",
	"audit_write",
	"audit_control",
	"setfcap",
	"mac_override",
	"mac_admin",
	"syslog",
	"wake_alarm",
	"block_suspend",
	"audit_read",
	"perfmon",
	"bpf",
	"checkpoint_restore",
};

/* The identity of a process that the kernel compares. */
struct who {
	unsigned uid[3], gid[3]; /* real, effective, saved */
	uint64_t permitted, bounding;
	bool traces;	 /* CAP_SYS_PTRACE is effective */
	bool never_more; /* no_new_privs: execve cannot give it more rights */
};

int ins_permission_status(pid_t pid, const char *key, char *buf, size_t size)
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

static uint64_t mask(pid_t pid, const char *key)
{
	char text[64];

	return ins_permission_status(pid, key, text, sizeof text) < 0 ? 0
								      : strtoull(text, NULL, 16);
}

static bool numbers(pid_t pid, const char *key, unsigned number[3])
{
	char text[128];

	return ins_permission_status(pid, key, text, sizeof text) == 0 &&
	       sscanf(text, "%u %u %u", &number[0], &number[1], &number[2]) == 3;
}

static bool look(pid_t pid, struct who *ret)
{
	ret->permitted = mask(pid, "CapPrm");
	ret->bounding = mask(pid, "CapBnd");
	ret->traces = mask(pid, "CapEff") >> CAP_SYS_PTRACE & 1;
	ret->never_more = mask(pid, "NoNewPrivs") != 0;
	return numbers(pid, "Uid", ret->uid) && numbers(pid, "Gid", ret->gid);
}

/*
 * Whether we may read the process, though not attach to it. Then every check before Yama's has
 * passed.
 */
static bool may_look(pid_t pid)
{
	char path[64], name[64];

	snprintf(path, sizeof path, "/proc/%d/ns/user", (int)pid);
	return readlink(path, name, sizeof name) > 0;
}

/* Whether a process that we may not read is in another user namespace than we. */
static bool is_elsewhere(pid_t pid)
{
	char path[64], *map[2] = {NULL, NULL};
	size_t size[2];
	bool differ;

	snprintf(path, sizeof path, "/proc/%d/uid_map", (int)pid);
	differ = ins_read_file(path, &map[0], &size[0]) == 0 &&
		 ins_read_file("/proc/self/uid_map", &map[1], &size[1]) == 0 &&
		 strcmp(map[0], map[1]) != 0;
	free(map[0]);
	free(map[1]);
	return differ;
}

/* Whether the process is not dumpable: its files then belong to root, but their folder does not. */
static bool is_secret(pid_t pid, const struct who *it)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	return stat(path, &st) == 0 && st.st_uid != it->uid[1];
}

/* How to get CAP_SYS_PTRACE. */
static const char *how(const struct who *we)
{
	if (!(we->bounding >> CAP_SYS_PTRACE & 1))
		return "CAP_SYS_PTRACE, which no process of this container has: look from outside, "
		       "or "
		       "start it with --cap-add=SYS_PTRACE";
	if (we->never_more)
		return "CAP_SYS_PTRACE, which sudo cannot give here (no_new_privs): look from "
		       "another shell";
	return "CAP_SYS_PTRACE (sudo)";
}

static const char *user_name(unsigned uid)
{
	const struct passwd *pw = getpwuid(uid);

	return pw ? pw->pw_name : "another user";
}

static const char *group_name(unsigned gid)
{
	const struct group *group = getgrgid(gid);

	return group ? group->gr_name : "another group";
}

static const char *list_capabilities(uint64_t mask, char *buf, size_t size)
{
	size_t used = 0;
	unsigned i;

	buf[0] = 0;
	for (i = 0; i < 64 && used < size; i++) {
		const char *comma = used ? ", " : "";

		if (!(mask >> i & 1))
			continue;
		if (i < sizeof capability_names / sizeof capability_names[0])
			used += (size_t)snprintf(buf + used, size - used, "%s%s", comma,
						 capability_names[i]);
		else
			used += (size_t)snprintf(buf + used, size - used, "%s%u", comma, i);
	}
	return buf;
}

static bool same(const unsigned number[3])
{
	return number[0] == number[1] && number[0] == number[2];
}

/* Compare two processes as the kernel does. True: access is refused, and buf says why. */
static bool compare(pid_t pid, const struct who *it, const struct who *we, char *buf, size_t size)
{
	const uint64_t more = it->permitted & ~we->permitted;
	char list[700], sudo[INS_AS_USER_SIZE];

	if (!same(it->uid))
		snprintf(buf, size, "runs as several users at once (uid %u, %u, %u): needs %s",
			 it->uid[0], it->uid[1], it->uid[2], how(we));
	else if (it->uid[0] != we->uid[0])
		snprintf(buf, size,
			 "belongs to %s (uid %u) and you are uid %u: run this as that user%s%s%s "
			 "or with %s",
			 user_name(it->uid[0]), it->uid[0], we->uid[0], we->never_more ? "" : " (",
			 we->never_more ? "" : ins_as_user(it->uid[0], sudo),
			 we->never_more ? "" : ")", how(we));
	else if (!same(it->gid))
		snprintf(buf, size, "runs as several groups at once (gid %u, %u, %u): needs %s",
			 it->gid[0], it->gid[1], it->gid[2], how(we));
	else if (it->gid[0] != we->gid[0])
		snprintf(buf, size,
			 "belongs to %s (gid %u) and you are gid %u: run this in that group (sg, "
			 "sudo -g) or with %s",
			 group_name(it->gid[0]), it->gid[0], we->gid[0], how(we));
	else if (is_secret(pid, it))
		snprintf(buf, size, NOT_DUMPABLE ": needs %s", how(we));
	else if (more)
		snprintf(buf, size, "has capabilities that you have not (%s): needs %s",
			 list_capabilities(more, list, sizeof list), how(we));
	/* Its files belong to root in both cases. */
	else if (it->uid[0] == 0)
		snprintf(buf, size, NOT_DUMPABLE ", or a security module forbids it: needs %s",
			 how(we));
	else
		return false;
	return true;
}

static bool ask_yama(pid_t pid, const struct who *we, char *buf, size_t size)
{
	FILE *f = fopen(YAMA, "re");
	int scope = 0;

	if (f && fscanf(f, "%d", &scope) != 1)
		scope = 0;
	if (f)
		fclose(f);
	if (scope >= 3)
		snprintf(buf, size,
			 "cannot be read: " YAMA " is %d: no process may be until the machine "
			 "restarts; 'kill -ABRT %d' ends it with a core file, which may",
			 scope, (int)pid);
	else if (scope == 2 && !we->traces)
		snprintf(buf, size, "cannot be read: " YAMA " is 2: needs %s, or 0 in that file",
			 how(we));
	else if (scope == 1 && !we->traces)
		snprintf(buf, size,
			 "cannot be read: " YAMA " is 1: only its ancestors may: needs %s, or 0 in "
			 "that file, or prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY) in the program",
			 how(we));
	else
		return false;
	return true;
}

const char *ins_permission_reason(pid_t pid, int rc, char *buf, size_t size)
{
	struct who it, we;

	if (!look(getpid(), &we) || !look(pid, &it)) {
		snprintf(buf, size, "cannot be read: %s", strerror(-rc));
		return buf;
	}
	if (!may_look(pid)) {
		if (is_elsewhere(pid)) {
			snprintf(buf, size,
				 "runs in another user namespace (a container) than you%s: run "
				 "this as root of the host, or inside of that container",
				 we.traces ? ", where your CAP_SYS_PTRACE does not count" : "");
			return buf;
		}
		if (!we.traces && compare(pid, &it, &we, buf, size))
			return buf;
	}
	if (ask_yama(pid, &we, buf, size))
		return buf;
	snprintf(buf, size,
		 "cannot be read: %s: a sandbox (seccomp) or security module (AppArmor, SELinux) "
		 "forbids it: run this outside of it",
		 strerror(-rc));
	return buf;
}

int ins_permission_explain(pid_t pid, int rc, struct ins_error *error)
{
	char reason[sizeof error->text];

	return ins_error_set(error, -EPERM, "process %d: %s", (int)pid,
			     ins_permission_reason(pid, rc, reason, sizeof reason));
}

int ins_permission_seen(pid_t pid, struct ins_error *error)
{
	char text[64];

	if (pid <= 0)
		return ins_error_set(error, -ESRCH, "process %d: no such process", (int)pid);
	if (ins_permission_status(pid, "State", text, sizeof text) == 0)
		return 0;
	if (kill(pid, 0) < 0 && errno == ESRCH)
		return ins_error_set(error, -ESRCH, "process %d: no such process", (int)pid);
	return ins_error_set(
		error, -EACCES,
		"process %d: /proc hides it (hidepid): it is another user's, or may not "
		"be traced: run this as its user or as root (sudo)",
		(int)pid);
}

int ins_permission_owner(pid_t pid, struct ins_error *error)
{
	int rc = ins_permission_seen(pid, error);
	char sudo[INS_AS_USER_SIZE];
	struct who it;

	if (rc < 0 || !look(pid, &it) || geteuid() == 0 || it.uid[1] == geteuid())
		return rc;
	return ins_error_set(error, -EACCES,
			     "process %d: permission denied: it belongs to %s (uid %u) and you are "
			     "uid %u: run this as that user (%s) or as root",
			     (int)pid, user_name(it.uid[1]), it.uid[1], (unsigned)geteuid(),
			     ins_as_user(it.uid[1], sudo));
}
