/* SPDX-License-Identifier: MIT */
/* atomic_file.c - remove drafts of files when a tool is terminated */
#include "tool/atomic_file.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#include "inspect/text/atomic_file.h"

static void end(int number)
{
	if (ins_atomic_file_path[0])
		unlink(ins_atomic_file_path);
	signal(number, SIG_DFL);
	raise(number);
}

void tool_atomic_file_guard(void)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
	const struct sigaction action = {.sa_handler = end};
	size_t i;

	for (i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
		sigaction(numbers[i], &action, NULL);
	signal(SIGXFSZ, SIG_IGN);
}
