/* SPDX-License-Identifier: MIT */
/*
 * sigbus_guard.c - exit with a message if a mapped file is truncated
 *
 * The program's files are mapped, by this tool and by libdw, and read where the unwinder needs
 * them. A library that is overwritten in place, instead of being replaced, is truncated for a
 * moment. An access to the missing part raises SIGBUS. There is no way to recover in the middle of
 * libdw, so the tool prints what happened and exits with the code for a target that cannot be read.
 */
#include "inspect/elf/sigbus_guard.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static const char *guarded;

static void say(const char *text)
{
	/* A failure of this write cannot be reported. */
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		return;
}

static void end(int number)
{
	(void)number;
	say(guarded);
	say(": a file of the program was cut while it was read (is it being rebuilt?); try "
	    "again\n");
	_exit(2);
}

void ins_sigbus_guard(const char *tool)
{
	struct sigaction action = {.sa_handler = end};

	guarded = tool;
	sigaction(SIGBUS, &action, NULL);
}
