/* SPDX-License-Identifier: MIT */
/* threads.c - count the threads of this process by name, as the kernel has them */
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tests/harness/threads.h"

static bool is_called(const char *tid, const char *name)
{
	char path[300], text[32] = "";
	FILE *file;

	snprintf(path, sizeof path, "/proc/self/task/%s/comm", tid);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (!fgets(text, sizeof text, file))
		text[0] = 0;
	fclose(file);
	text[strcspn(text, "\n")] = 0;
	return !strcmp(text, name);
}

unsigned harness_threads_called(const char *name)
{
	DIR *const threads = opendir("/proc/self/task");
	struct dirent *thread;
	unsigned n = 0;

	while (threads && (thread = readdir(threads)))
		n += is_called(thread->d_name, name);
	if (threads)
		closedir(threads);
	return n;
}
