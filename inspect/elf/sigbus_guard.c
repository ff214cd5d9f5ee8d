/* SPDX-License-Identifier: MIT */
/*
 * sigbus_guard.c - ending with a word when a file is cut under our eyes
 *
 * The files of a program are mapped, by us and by libdw, and read where the unwinder happens to need them.
 * A library that is copied over in place, instead of being replaced, is cut for a moment; whoever
 * touches the part that is gone gets SIGBUS. There is nothing to return to in the middle of libdw, so
 * the tool says what happened and ends as one that could not read its target.
 */
#include "inspect/elf/sigbus_guard.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static const char *guarded;

static void say(const char *text)
{
	/* Nobody is left to be told that this failed. */
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		return;
}

static void end(int number)
{
	(void)number;
	say(guarded);
	say(": a file of the program was cut while it was read: it is being written over; try "
	    "again\n");
	_exit(2);
}

void ins_sigbus_guard(const char *tool)
{
	struct sigaction action = {.sa_handler = end};

	guarded = tool;
	sigaction(SIGBUS, &action, NULL);
}
