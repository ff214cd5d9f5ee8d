/* SPDX-License-Identifier: MIT */
/*
 * of_others.c - find a process of another user by its name
 *
 * Sockets of other users are in folders that may not be entered. A server often runs as a user of
 * its own, and "no process of that name" would be wrong then. /proc tells the names of all
 * processes, unless it hides them.
 */
#include "tool/of_others.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "inspect/process/permission.h"
#include "inspect/process/threads.h"

static bool has_fibers(pid_t pid)
{
	struct ins_threads threads = {0};
	bool found = false;
	size_t i;

	ins_threads_list(pid, &threads);
	for (i = 0; i < threads.count && !found; i++)
		found = strncmp(threads.at[i].name, "fiber-", strlen("fiber-")) == 0;
	ins_threads_free(&threads);
	return found;
}

pid_t tool_of_others(const char *name)
{
	DIR *dir = geteuid() ? opendir("/proc") : NULL;
	char its[INS_THREAD_NAME];
	struct ins_error error;
	struct dirent *entry;
	pid_t found = 0;

	while (dir && (entry = readdir(dir))) {
		const pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid <= 0 || !ins_thread_name(pid, (uint64_t)pid, its) || strcmp(its, name) ||
		    ins_permission_owner(pid, &error) == 0)
			continue;
		found = found ? found : pid;
		if (!has_fibers(pid))
			continue;
		found = pid;
		break;
	}
	if (dir)
		closedir(dir);
	return found;
}
