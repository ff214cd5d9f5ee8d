/* SPDX-License-Identifier: MIT */
/* member.c - find a thread of a process that has its memory */
#include "inspect/text/member.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "inspect/text/read_file.h"

int ins_member_has_memory(pid_t tid)
{
	char path[64], *text;
	size_t size;
	int rc;

	snprintf(path, sizeof path, "/proc/%d/statm", (int)tid);
	rc = ins_read_file(path, &text, &size);
	if (rc < 0)
		return rc;
	/* The first number is the size of the address space. */
	rc = strtoull(text, NULL, 10) != 0;
	free(text);
	return rc;
}

pid_t ins_member(pid_t pid)
{
	pid_t found = pid;
	struct dirent *entry;
	char path[64];
	DIR *dir;

	if (ins_member_has_memory(pid) != 0)
		return pid;
	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (dir && found == pid && (entry = readdir(dir))) {
		const long tid = strtol(entry->d_name, NULL, 10);

		if (tid > 0 && ins_member_has_memory((pid_t)tid) == 1)
			found = (pid_t)tid;
	}
	if (dir)
		closedir(dir);
	return found;
}
