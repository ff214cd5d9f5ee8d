/* SPDX-License-Identifier: MIT */
/* progress.c - draw the progress of an exploration */
#include "explore/progress.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "explore/settings.h"
#include "os/virtual.h"
#include "text/escape.h"

#define AGAIN  INT64_C(200000000) /* ns */
#define SECOND INT64_C(1000000000)

void fib_progress_begin(struct fib_progress *progress, const struct fiber_test_options *options)
{
	const enum fib_progress_when when = fib_settings()->progress;

	*progress = (struct fib_progress){.options = options, .start = fib_virtual_real()};
	progress->wanted =
		when == FIB_PROGRESS_ALWAYS || (when == FIB_PROGRESS_AUTO && isatty(STDERR_FILENO));
	progress->next = progress->start + AGAIN;
}

static unsigned width(void)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) < 0 || !size.ws_col)
		return 79;
	return size.ws_col - 1u;
}

/* Seconds until the last schedule at this rate, or until the time limit; -1: neither exists. */
static int64_t left(const struct fib_progress *p, uint64_t schedules, int64_t now)
{
	const struct fiber_test_options *o = p->options;
	const int64_t spent = now - p->start;
	int64_t least = o->time_limit < 0 ? -1 : (o->time_limit - spent) / SECOND;
	double rest;

	if (o->schedules != UINT64_MAX && schedules && o->schedules >= schedules) {
		rest = (double)spent / 1e9 / (double)schedules * (double)(o->schedules - schedules);
		if (least < 0 || rest < (double)least)
			least = (int64_t)rest;
	}
	return least;
}

void fib_progress_show(struct fib_progress *progress, uint64_t schedules, unsigned findings)
{
	const struct fiber_test_options *o = progress->options;
	const int64_t now = fib_virtual_real();
	char line[512], name[64], of[32] = "", time[32] = "";
	int64_t rest;

	if (!progress->wanted || now < progress->next)
		return;
	progress->next = now + AGAIN;
	progress->drawn = true;
	rest = left(progress, schedules, now);
	if (o->schedules != UINT64_MAX)
		snprintf(of, sizeof of, " of %llu", (unsigned long long)o->schedules);
	if (rest >= 0)
		snprintf(time, sizeof time, ", %lld s left", (long long)rest);
	snprintf(line, sizeof line, "%s: %llu%s schedules, %.0f/s, %.60s, %u finding%s%s",
		 fib_plain(o->name, name, sizeof name), (unsigned long long)schedules, of,
		 (double)schedules * 1e9 / (double)(now - progress->start), o->strategy, findings,
		 findings == 1 ? "" : "s", time);
	fprintf(stderr, "\r%.*s\033[K", (int)width(), line);
	fflush(stderr);
}

void fib_progress_end(struct fib_progress *progress)
{
	if (progress->drawn)
		fputs("\r\033[K", stderr);
	progress->drawn = false;
}
