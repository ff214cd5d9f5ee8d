/* SPDX-License-Identifier: MIT */
/*
 * thread_at_live.c - list the threads of a live process and read where each is
 *
 * All data are from /proc/PID/task/TID. The counts of context switches are read before the place:
 * if both are the same in a second reading, the thread has slept there all the time.
 */
#include "inspect/process/thread_at_live.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/process/thread.h"
#include "inspect/process/threads.h"
#include "inspect/text/member.h"
#include "inspect/text/read_file.h"
#include "layout/row.h"

int ins_thread_ids_live(struct ins_source *source, struct ins_thread_ids *ret)
{
	struct ins_threads threads = {0};
	/* A first thread that has exited stays listed until the others have. */
	const bool left = ins_member(source->pid) != source->pid;
	size_t i;

	ins_threads_list(source->pid, &threads);
	ret->count = 0;
	ret->tid = calloc(threads.count + 1, sizeof *ret->tid);
	for (i = 0; ret->tid && i < threads.count; i++)
		if (!left || threads.at[i].tid != source->pid)
			ret->tid[ret->count++] = (uint64_t)threads.at[i].tid;
	ins_threads_free(&threads);
	return ret->tid ? 0 : -ENOMEM;
}

/* The line of a status that starts with key; NULL: none. */
static const char *line_of(const char *status, const char *key)
{
	const char *at = strstr(status, key);

	return at ? at + strlen(key) : NULL;
}

/* The last number of a line: the thread's number in its own pid namespace. */
static uint64_t last_number(const char *line, uint64_t otherwise)
{
	const char *end = line ? line + strcspn(line, "\n") : NULL;

	if (!line)
		return otherwise;
	while (end > line && end[-1] >= '0' && end[-1] <= '9')
		end--;
	return strtoull(end, NULL, 10);
}

static uint64_t number_of(const char *status, const char *key)
{
	const char *line = line_of(status, key);

	return line ? strtoull(line, NULL, 10) : 0;
}

/* Read a file of the thread. */
static int read_of(const struct ins_source *source, uint64_t tid, const char *name, char **ret)
{
	char path[96];
	size_t size;

	snprintf(path, sizeof path, "/proc/%d/task/%" PRIu64 "/%s", (int)source->pid, tid, name);
	return ins_read_file(path, ret, &size);
}

static int take_status(const struct ins_source *source, struct ins_thread_at *at)
{
	const char *state;
	char *text;
	int rc = read_of(source, at->tid, "status", &text);

	if (rc < 0)
		return rc == -ENOENT ? -ESRCH : rc;
	state = line_of(text, "\nState:\t");
	at->inner = last_number(line_of(text, "\nNSpid:\t"), at->tid);
	at->switches = number_of(text, "\nvoluntary_ctxt_switches:\t") +
		       number_of(text, "\nnonvoluntary_ctxt_switches:\t");
	at->runs = state && *state == 'R';
	rc = state && (*state == 'Z' || *state == 'X') ? -ESRCH : 0;
	free(text);
	return rc;
}

static void take_times(const struct ins_source *source, struct ins_thread_at *at)
{
	char *text, *end;

	if (read_of(source, at->tid, "schedstat", &text) < 0)
		return;
	at->cpu = strtoull(text, &end, 10);
	at->runnable = strtoull(end, NULL, 10);
	free(text);
}

/* What does not change when the thread runs, or is not compared. */
static void take_more(const struct ins_source *source, struct ins_thread_at *at)
{
	char name[INS_THREAD_NAME];

	ins_thread_name(source->pid, at->tid, name);
	snprintf(at->name, sizeof at->name, "%.31s", name);
	take_times(source, at);
}

int ins_thread_at_live(struct ins_source *source, uint64_t tid, enum ins_thread_ask ask,
		       struct ins_thread_at *ret)
{
	struct fib_sleeper_place place;
	int rc;

	memset(ret, 0, sizeof *ret);
	ret->tid = tid;
	ret->call = -1;
	ret->cpu = ret->runnable = FIB_ROW_UNKNOWN;
	rc = take_status(source, ret);
	if (rc < 0)
		return rc;
	if (ask == INS_THREAD_ALL)
		take_more(source, ret);
	rc = ins_thread_place(source->pid, tid, &place);
	if (rc == -ENOENT || rc == -ESRCH)
		return -ESRCH;
	ret->runs = rc == 0 || (rc < 0 && ret->runs);
	if (rc != 1)
		return 0;
	ret->call = place.call;
	memcpy(ret->argument, place.argument, sizeof ret->argument);
	ret->registers.pc = place.pc;
	ret->registers.sp = place.sp;
	return 0;
}
