/* SPDX-License-Identifier: MIT */
/*
 * report.c - show how a schedule led to its finding
 *
 * The trace has a line for each call of a fiber. The report shows at most SHOWN of them: the last
 * calls before a switch to another fiber, and the first after it, from the end backwards.
 */
#include "report/report.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fiber/introspect.h>

#include "base/check.h"
#include "core/names.h"
#include "core/registry.h"
#include "explore/explorer.h"
#include "memory.h"
#include "os/os.h"
#include "report/place.h"

#define SHOWN 40u

struct entry {
	uint32_t number;
	struct fib_intent intent;
	char *note; /* NULL: a call */
	int64_t now;
};

static struct {
	struct entry *at;
	size_t n, room;
	bool wanted;
	const char *first; /* before the fibers; NULL: nothing */
} trace;

static struct entry *add(uint32_t number)
{
	if (trace.n == trace.room) {
		trace.room = trace.room ? 2 * trace.room : 256;
		trace.at = realloc(trace.at, trace.room * sizeof *trace.at);
		fib_check(trace.at);
	}
	trace.at[trace.n] = (struct entry){.number = number, .now = fib_os_now()};
	return &trace.at[trace.n++];
}

static void add_call(uint32_t number, const struct fib_intent *intent)
{
	add(number)->intent = *intent;
}

void fib_report_begin(void)
{
	trace.n = 0;
	trace.wanted = true;
	trace.first = NULL;
	fib_explorer_trace(add_call);
}

bool fib_report_is_wanted(void)
{
	return trace.wanted;
}

void fib_report_begin_with(const char *text)
{
	trace.first = text;
}

void fib_report_note(uint32_t number, const char *text, const void *at)
{
	struct entry *e = add(number);

	e->note = strdup(text);
	e->intent.at = at;
}

struct text {
	char *at, *end;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(t->at, (size_t)(t->end - t->at), fmt, ap);
	va_end(ap);
	if (n > 0)
		t->at += n < t->end - t->at ? n : t->end - t->at - 1;
}

/* Names come from the program: nothing in them may control a terminal. */
static const char *clean(const char *name, char *buf, size_t size)
{
	size_t i;

	for (i = 0; name[i] && i + 1 < size; i++)
		buf[i] = isprint((unsigned char)name[i]) && name[i] != '"' ? name[i] : '?';
	buf[i] = 0;
	return buf;
}

/* The id of a fiber within the schedule. */
static unsigned long long number_of(uint64_t id, uint64_t first)
{
	return id - first + 1;
}

struct fibers {
	struct text *text;
	uint64_t first; /* the id of fiber 1 */
};

static int put_fiber(const struct fiber_info *info, void *arg)
{
	static const char *const states[] = {"created", "runnable", "running", "suspended", "dead"};
	struct fibers *f = arg;
	struct text *t = f->text;
	const unsigned long long number = number_of(info->id, f->first);
	const struct fib_intent *intent;
	char name[64], object[64], place[256];

	if (info->state == FIBER_DEAD || info->id < f->first)
		return 0;
	put(t, "fiber %llu \"%s\" [%s", number, clean(info->name, name, sizeof name),
	    states[info->state]);
	if (info->state == FIBER_SUSPENDED) {
		put(t, ": %s", info->wait_kind);
		if (info->wait_object_name[0])
			put(t, " \"%s\"", clean(info->wait_object_name, object, sizeof object));
		if (info->holder_id)
			put(t, " held by %llu", number_of(info->holder_id, f->first));
		if (info->target_id)
			put(t, " %llu", number_of(info->target_id, f->first));
	}
	put(t, "]\n");
	if (number <= fib_explorer_fibers()) {
		intent = fib_explorer_intent((uint32_t)number);
		if (intent->call)
			put(t, "  in %s, called by %s\n", intent->call,
			    fib_place_text(intent->at, place, sizeof place));
	}
	return 0;
}

static void put_entry(struct text *t, size_t i)
{
	const struct entry *e = &trace.at[i];
	char place[256], line[512];

	if (e->note) {
		put(t, "%6zu  fiber %u  note: %s", i + 1, e->number,
		    clean(e->note, line, sizeof line));
		if (e->intent.at)
			put(t, "  %s", fib_place_text(e->intent.at, place, sizeof place));
		put(t, "\n");
		return;
	}
	put(t, "%6zu  fiber %u  %s", i + 1, e->number, e->intent.call);
	if (e->intent.object)
		put(t, " %p", e->intent.object);
	put(t, "  %s\n", fib_place_text(e->intent.at, place, sizeof place));
}

/* Whether entry i is near a switch, is a note, or is the last one. */
static bool matters(size_t i)
{
	return trace.at[i].note || i + 1 == trace.n || i == 0 ||
	       trace.at[i].number != trace.at[i + 1].number ||
	       trace.at[i].number != trace.at[i - 1].number;
}

static void put_trace(struct text *t)
{
	size_t i, from = trace.n, shown = 0, next;

	while (from > 0 && shown < SHOWN)
		shown += matters(--from);
	if (from)
		put(t, "  ... the trace begins %zu calls earlier\n", from);
	for (i = next = from; i < trace.n; i++) {
		if (!matters(i))
			continue;
		if (i > next)
			put(t, "        ... %zu more call%s of fiber %u\n", i - next,
			    i - next == 1 ? "" : "s", trace.at[i].number);
		put_entry(t, i);
		next = i + 1;
	}
}

void fib_report_write(char *buf, size_t size)
{
	struct text t = {buf, buf + size};
	struct fibers f = {&t, fib_explorer_first_id()};

	fib_memory_report(buf, size);
	t.at += strlen(buf);
	if (trace.first)
		put(&t, "%s", trace.first);
	fiber_foreach(NULL, put_fiber, &f);
	if (trace.n)
		put(&t, "trace:\n");
	put_trace(&t);
}

void fib_report_trace(int fd)
{
	char line[1024];
	struct text t;
	size_t i;

	for (i = 0; i < trace.n; i++) {
		t = (struct text){line, line + sizeof line};
		put_entry(&t, i);
		dprintf(fd, "%s", line);
	}
}
