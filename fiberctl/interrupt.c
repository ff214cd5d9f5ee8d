/* SPDX-License-Identifier: MIT */
/*
 * interrupt.c - wait for a time or until the user interrupts the tool
 *
 * A user who interrupts a measurement wants to see what was measured so far. The signals are blocked
 * except during the sleep, so that none is lost between the check and the sleep.
 */
#include "fiberctl/interrupt.h"

#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>

#include "inspect/text/duration.h"

#define SECOND INT64_C(1000000000)

static volatile sig_atomic_t interrupted;
static sigset_t before; /* the signals that were blocked */

static void interrupt(int number)
{
	(void)number;
	interrupted = 1;
}

static void handle(void (*handler)(int))
{
	const struct sigaction action = {.sa_handler = handler};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

void ctl_interrupt_begin(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, &before);
	handle(interrupt);
}

void ctl_interrupt_end(void)
{
	sigprocmask(SIG_SETMASK, &before, NULL);
	handle(SIG_DFL);
}

bool ctl_interrupt_sleep(int64_t until)
{
	int64_t left = until - ins_duration_now();
	struct timespec time;

	while (!interrupted && left > 0) {
		time = (struct timespec){.tv_sec = left / SECOND, .tv_nsec = left % SECOND};
		ppoll(NULL, 0, &time, &before);
		left = until - ins_duration_now();
	}
	return !interrupted;
}
