/* SPDX-License-Identifier: MIT */
/* draft.c - whoever ends a tool does not find half a file. */
#include "tool/draft.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#include "inspect/text/draft.h"

static void end(int number)
{
	if (ins_draft_path[0])
		unlink(ins_draft_path);
	signal(number, SIG_DFL);
	raise(number);
}

void tool_draft_guard(void)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
	const struct sigaction action = {.sa_handler = end};
	size_t i;

	for (i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
		sigaction(numbers[i], &action, NULL);
	signal(SIGXFSZ, SIG_IGN);
}
