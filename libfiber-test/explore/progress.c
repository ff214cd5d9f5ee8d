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
#define LINE   512
#define SECOND INT64_C(1000000000)
#define YEAR   (365 * 24 * 3600.0) /* s */
#define FEW    1e9		   /* schedules that are written in full */

void fib_progress_begin(struct fib_progress *progress, const struct fiber_test_options *options)
{
	const enum fib_progress_when when = fib_settings()->progress;

	*progress = (struct fib_progress){.options = options, .start = fib_virtual_real()};
	progress->wanted =
		when == FIB_PROGRESS_ALWAYS || (when == FIB_PROGRESS_AUTO && isatty(STDERR_FILENO));
	progress->next = progress->start + AGAIN;
}

/* Of the line; a file has no width. */
static int width(void)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) < 0)
		return LINE;
	return size.ws_col ? size.ws_col - 1 : 79;
}

/* How many schedules there will be: the limit, or what is left of the tree; 0: not known. */
static double total_of(const struct fib_progress *p, uint64_t schedules, double explored)
{
	const double limit = (double)p->options->schedules;
	const double all = explored > 0 ? (double)schedules / explored : 0;

	if (p->options->schedules == UINT64_MAX)
		return all;
	return all > 0 && all < limit ? all : limit;
}

/* Seconds until the last schedule at this rate, or until the time limit; -1: neither is known. */
static double left(const struct fib_progress *p, uint64_t schedules, double total, int64_t now)
{
	const double spent = (double)(now - p->start) / (double)SECOND;
	const double limit = (double)p->options->time_limit / (double)SECOND - spent;
	double rest = -1;

	if (total > 0 && schedules)
		rest = spent / (double)schedules * (total - (double)schedules);
	if (p->options->time_limit >= 0 && (rest < 0 || limit < rest))
		rest = limit;
	return rest;
}

/* " of 2000", " of ~27915", " of ~3e+12" */
static void put_total(char *buf, size_t size, double total, uint64_t limit)
{
	if (limit != UINT64_MAX && total == (double)limit)
		snprintf(buf, size, " of %llu", (unsigned long long)limit);
	else if (total >= FEW)
		snprintf(buf, size, " of ~%.1g", total);
	else if (total > 0)
		snprintf(buf, size, " of ~%llu", (unsigned long long)total);
}

static void put_left(char *buf, size_t size, double seconds)
{
	if (seconds >= YEAR)
		snprintf(buf, size, ", %.1g years left", seconds / YEAR);
	else if (seconds >= 0)
		snprintf(buf, size, ", %lld s left", (long long)seconds);
}

void fib_progress_show(struct fib_progress *progress, uint64_t schedules, double explored,
		       unsigned findings)
{
	const struct fiber_test_options *o = progress->options;
	const int64_t now = fib_virtual_real();
	char line[LINE], name[64], of[40] = "", time[40] = "";
	double total;

	if (!progress->wanted || now < progress->next)
		return;
	progress->next = now + AGAIN;
	progress->drawn = true;
	total = total_of(progress, schedules, explored);
	put_total(of, sizeof of, total, o->schedules);
	put_left(time, sizeof time, left(progress, schedules, total, now));
	snprintf(line, sizeof line, "%s: %llu%s schedules, %.0f/s, %.60s, %u finding%s%s",
		 fib_plain(o->name, name, sizeof name), (unsigned long long)schedules, of,
		 (double)schedules * 1e9 / (double)(now - progress->start), o->strategy, findings,
		 findings == 1 ? "" : "s", time);
	fprintf(stderr, "\r%.*s\033[K", width(), line);
	fflush(stderr);
}

void fib_progress_end(struct fib_progress *progress)
{
	if (progress->drawn)
		fputs("\r\033[K", stderr);
	progress->drawn = false;
}
