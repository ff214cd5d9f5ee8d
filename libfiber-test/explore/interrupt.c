/* SPDX-License-Identifier: MIT */
/* interrupt.c - note SIGINT and SIGTERM */
#include "explore/interrupt.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

static volatile sig_atomic_t arrived;
static bool enabled;

static void note(int signal)
{
	arrived = signal;
}

void fib_interrupt_enable(void)
{
	struct sigaction action = {.sa_handler = note}, before;

	/* A shell starts background processes with SIGINT ignored. */
	if (sigaction(SIGINT, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
		sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	enabled = true;
}

int fib_interrupted(void)
{
	return arrived;
}

void fib_interrupt_ignore(void)
{
	if (!enabled)
		return;
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
}
