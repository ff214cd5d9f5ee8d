/* SPDX-License-Identifier: MIT */
/*
 * report.c - say in words how a schedule led to its finding
 *
 * First the deadlocks, with the lines of `fiberctl deadlock`, then all other fibers, then the trace.
 */
#include "report/report.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "explore/endless.h"
#include "explore/explorer.h"
#include "explore/waits.h"
#include "memory.h"
#include "net/real.h"
#include "report/columns.h"
#include "report/objects.h"
#include "report/place.h"
#include "report/trace.h"
#include "text/escape.h"

static struct {
	bool wanted;
	const char *first; /* before the fibers; NULL: nothing */
} report;

void fib_report_begin(void)
{
	report.wanted = true;
	report.first = NULL;
	fib_trace_begin();
}

bool fib_report_is_wanted(void)
{
	return report.wanted;
}

void fib_report_begin_with(const char *text)
{
	report.first = text;
}

void fib_report_note(uint32_t number, const char *text, const void *at)
{
	fib_trace_note(number, text, at);
}

void fib_report_fault(uint32_t number, const char *call, const char *way, const void *at)
{
	fib_trace_fault(number, call, way, at);
}

/* The id of a fiber within the schedule. */
static unsigned long long number_of(uint64_t id)
{
	return id - fib_explorer_first_id() + 1;
}

/* "fiber 2 "alice to bob"" */
static void put_name(FILE *out, uint64_t id, const char *name)
{
	fprintf(out, "fiber %llu \"", number_of(id));
	fib_put_plain(out, name);
	fputs("\"", out);
}

/* "mutex "bob"" */
static void put_wait(FILE *out, const struct fiber_info *info)
{
	const struct fib_object *object = fib_objects_at(info->wait_object);
	char label[FIB_OBJECT_LABEL];

	fputs(info->wait_kind, out);
	if (object) {
		fprintf(out, " %s", fib_object_short(object, label));
	} else if (info->wait_object_name[0]) {
		fputs(" \"", out);
		fib_put_plain(out, info->wait_object_name);
		fputs("\"", out);
	}
}

/* Whether the call takes a lock. */
static bool takes_lock(const char *call)
{
	return strstr(call, "lock") && !strstr(call, "unlock");
}

/* Where the holder took the object: its last such call. */
static void put_taken(FILE *out, const struct fiber_info *info)
{
	const uint64_t holder = number_of(info->holder_id);
	const struct fib_entry *e;
	char place[256];
	size_t i;

	for (i = fib_trace_count(); i > 0; i--) {
		e = fib_trace_at(i - 1);
		if (e->kind != FIB_ENTRY_CALL || e->number != holder ||
		    e->address != info->wait_object || !takes_lock(e->text))
			continue;
		fprintf(out, "  fiber %u took it in step %zu, called by %s\n", e->number, i,
			fib_place_text(e->at, place, sizeof place));
		return;
	}
}

static void put_fiber(FILE *out, const struct fib_waits *w, size_t i)
{
	static const char *const states[] = {"created", "runnable", "running", "suspended", "dead"};
	const struct fiber_info *info = &w->all[i];
	const struct fib_intent *intent;
	char place[256], text[FIB_ENDLESS_ROOM];
	const char *why = fib_endless_why(w, i, text);

	put_name(out, info->id, info->name);
	fprintf(out, " [%s", states[info->state]);
	if (info->state == FIBER_SUSPENDED) {
		fputs(": ", out);
		put_wait(out, info);
		if (info->holder_id)
			fprintf(out, " held by %llu", number_of(info->holder_id));
		if (info->target_id)
			fprintf(out, " %llu", number_of(info->target_id));
	}
	fputs("]\n", out);
	if (number_of(info->id) <= fib_explorer_fibers()) {
		intent = fib_explorer_intent((uint32_t)number_of(info->id));
		if (intent->call)
			fprintf(out, "  in %s, called by %s\n", intent->call,
				fib_place_text(intent->at, place, sizeof place));
	}
	if (info->holder_id)
		put_taken(out, info);
	if (why)
		fprintf(out, "  %s\n", why);
}

static void put_deadlock(FILE *out, const struct fib_waits *w, const struct fib_deadlock *d)
{
	const struct fiber_info *first = &w->all[d->first];

	fputs("deadlock: ", out);
	if (d->kind == FIB_DEADLOCK_CYCLE) {
		fprintf(out, "%u fibers wait for each other in a cycle", d->count);
	} else if (d->kind == FIB_DEADLOCK_SELF) {
		put_name(out, first->id, first->name);
		fputs(" waits for what it holds itself", out);
	} else if (d->kind == FIB_DEADLOCK_ANCESTOR) {
		const struct fiber_info *to = &w->all[fib_waits_next(w, d->first)];

		put_name(out, first->id, first->name);
		fputs(" joins its ancestor ", out);
		put_name(out, to->id, to->name);
		fputs(", whose descendants all wait for it or cannot go on either", out);
	} else {
		put_wait(out, first);
		fputs(" is held by ", out);
		put_name(out, first->holder_id,
			 fib_trace_name((uint32_t)number_of(first->holder_id)));
		fprintf(out, ", which has ended; %u fiber%s for it", d->count,
			d->count == 1 ? " waits" : "s wait");
	}
	if (d->behind)
		fprintf(out, ", and %u fiber%s behind %s", d->behind,
			d->behind == 1 ? " waits" : "s wait", d->count == 1 ? "it" : "them");
	fputc('\n', out);
}

/* A cycle is shown in its order. */
static void put_members(FILE *out, const struct fib_waits *w, int number)
{
	const struct fib_deadlock *d = &w->deadlocks[number];
	size_t i = d->first;
	unsigned k;

	if (d->kind != FIB_DEADLOCK_ENDED) {
		for (k = 0; k < d->count; k++, i = fib_waits_next(w, i))
			put_fiber(out, w, i);
		return;
	}
	for (; i < w->n; i++)
		if (w->in[i] == number)
			put_fiber(out, w, i);
}

static void put_fibers(FILE *out)
{
	struct fib_waits w;
	size_t i;

	fib_waits_read(NULL, fib_explorer_first_id(), &w);
	for (i = 0; i < w.count; i++) {
		put_deadlock(out, &w, &w.deadlocks[i]);
		put_members(out, &w, (int)i);
	}
	for (i = 0; i < w.n; i++)
		if (w.in[i] < 0)
			put_fiber(out, &w, i);
	fib_waits_free(&w);
}

void fib_report_write(char *buf, size_t size)
{
	size_t used;
	FILE *out;

	memset(buf, 0, size);
	fib_memory_report(buf, size);
	used = strlen(buf);
	out = fmemopen(buf + used, size - used, "w");
	if (!out)
		return;
	if (report.first)
		fputs(report.first, out);
	put_fibers(out);
	if (fib_trace_count())
		fputs("trace:\n", out);
	fib_columns_near_switches(out);
	fclose(out);
}

void fib_report_trace(int fd)
{
	FILE *out = fdopen(fib_real()->dup(fd), "w");

	if (!out)
		return;
	fib_columns_all(out);
	fclose(out);
}
