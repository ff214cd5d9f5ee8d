/* SPDX-License-Identifier: MIT */
/* condition.c - read whether a process runs, and how near it is to its limits */
#include "inspect/process/condition.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/text/member.h"

#define TEXT 4096 /* enough for each of these files */

/* Read a small file as text; "" if it cannot be read. */
static const char *read_text(const char *path, char text[TEXT])
{
	FILE *file = fopen(path, "re");
	size_t n = file ? fread(text, 1, TEXT - 1, file) : 0;

	text[n] = 0;
	if (file)
		fclose(file);
	return text;
}

static const char *read_of(pid_t pid, const char *name, char text[TEXT])
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	return read_text(path, text);
}

/* What follows `key` at the start of a line; "" if no line has it. */
static const char *after(const char *text, const char *key)
{
	const size_t n = strlen(key);

	while (text) {
		if (strncmp(text, key, n) == 0)
			return text + n + strspn(text + n, " \t");
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return "";
}

static uint64_t count_descriptors(pid_t pid)
{
	char path[64];
	uint64_t count = 0;
	DIR *dir;

	snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	if (!dir)
		return 0;
	while (readdir(dir))
		count++;
	closedir(dir);
	return count > 2 ? count - 2 : 0; /* without . and .. */
}

static void read_process(pid_t pid, struct ins_condition *ret)
{
	char text[TEXT];
	const char *status = read_of(pid, "status", text);
	const char state = *after(status, "State:");

	ret->stopped = state == 'T';
	ret->traced = state == 't';
	ret->descriptors_most =
		strtoull(after(read_of(pid, "limits", text), "Max open files"), NULL, 10);
	ret->descriptors = count_descriptors(pid);
}

/* A file of the process' control group, of version 2. */
static const char *read_group(const char *folder, const char *name, char text[TEXT])
{
	char path[TEXT + 64];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	return read_text(path, text);
}

static void read_control_group(pid_t pid, const char *cgroups, struct ins_condition *ret)
{
	char text[TEXT], folder[TEXT];
	const char *group = after(read_of(pid, "cgroup", text), "0::");
	uint64_t cache;

	snprintf(folder, sizeof folder, "%s%.*s", cgroups, (int)strcspn(group, "\n"), group);
	ret->frozen = *after(read_group(folder, "cgroup.events", text), "frozen") == '1';
	ret->has_quota = strchr("0123456789", *read_group(folder, "cpu.max", text)) && text[0];
	ret->throttled =
		strtoull(after(read_group(folder, "cpu.stat", text), "nr_throttled"), NULL, 10);
	ret->memory_most = strtoull(read_group(folder, "memory.max", text), NULL, 10);
	ret->memory = strtoull(read_group(folder, "memory.current", text), NULL, 10);
	/* The kernel gives up the cache of files before it ends a process. */
	read_group(folder, "memory.stat", text);
	cache = strtoull(after(text, "inactive_file "), NULL, 10) +
		strtoull(after(text, "active_file "), NULL, 10);
	ret->memory = ret->memory > cache ? ret->memory - cache : 0;
}

void ins_condition_read(pid_t pid, const char *cgroups, struct ins_condition *ret)
{
	*ret = (struct ins_condition){0};
	pid = ins_member(pid);
	read_process(pid, ret);
	read_control_group(pid, cgroups ? cgroups : "/sys/fs/cgroup", ret);
}
