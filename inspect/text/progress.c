/* SPDX-License-Identifier: MIT */
/* progress.c - a progress line that is overwritten in place */
#include "inspect/text/progress.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FIRST INT64_C(1000000000)
#define AGAIN INT64_C(500000000)
#define CALLS 64 /* calls between two readings of the clock */

static int64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

void ins_progress_begin(struct ins_progress *progress, const char *what)
{
	*progress = (struct ins_progress){.what = what, .wanted = isatty(STDERR_FILENO)};
	if (!progress->wanted)
		return;
	progress->shared = isatty(STDOUT_FILENO);
	progress->next = now() + FIRST;
}

static bool due(struct ins_progress *p)
{
	int64_t at;

	if (!p->wanted)
		return false;
	at = now();
	if (at < p->next)
		return false;
	p->next = at + AGAIN;
	p->drawn = true;
	return true;
}

/* 1234567 as "1,234,567". */
static const char *grouped(uint64_t number, char buf[32])
{
	char digits[24];
	int n = snprintf(digits, sizeof digits, "%llu", (unsigned long long)number), i;
	char *to = buf;

	for (i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = 0;
	return buf;
}

void ins_progress_fibers(struct ins_progress *progress, uint64_t done, uint64_t total)
{
	char a[32], b[32];

	if (!progress->wanted || ++progress->calls % CALLS || !due(progress))
		return;
	fprintf(stderr, "\r%s%s%s%s fibers\033[K", grouped(done, a), total ? " of " : "",
		total ? grouped(total, b) : "", progress->what);
	fflush(stderr);
}

void ins_progress_bytes(struct ins_progress *progress, uint64_t done)
{
	char a[32];

	if (!due(progress))
		return;
	fprintf(stderr, "\r%s: %s MiB\033[K", progress->what, grouped(done >> 20, a));
	fflush(stderr);
}

void ins_progress_end(struct ins_progress *progress)
{
	if (progress->drawn)
		fputs("\r\033[K", stderr);
	progress->drawn = false;
}

void ins_progress_give_way(struct ins_progress *progress, bool lines)
{
	if (!progress->wanted || !progress->shared)
		return;
	ins_progress_end(progress);
	progress->wanted = lines;
}
