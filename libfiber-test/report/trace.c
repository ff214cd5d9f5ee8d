/* SPDX-License-Identifier: MIT */
/* trace.c - record what the fibers of a schedule call */
#include "report/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fiber/fiber.h>

#include "base/check.h"
#include "core/record.h"
#include "explore/explorer.h"
#include "os/virtual.h"
#include "report/objects.h"

static struct {
	struct fib_entry *at;
	size_t n, room;
	char (*names)[32]; /* by number of the fiber */
	uint32_t known;
	void (*on_step)(void);
} trace;

void fib_trace_at_each_step(void (*fn)(void))
{
	trace.on_step = fn;
}

static struct fib_entry *append(enum fib_entry_kind kind, uint32_t number, int64_t now)
{
	if (trace.n == trace.room) {
		trace.room = trace.room ? 2 * trace.room : 256;
		trace.at = realloc(trace.at, trace.room * sizeof *trace.at);
		fib_check(trace.at);
	}
	trace.at[trace.n] =
		(struct fib_entry){.kind = kind, .number = number, .object = -1, .now = now};
	return &trace.at[trace.n++];
}

static void remember_name(uint32_t number)
{
	const struct fiber *me = fiber_self();
	const uint32_t before = trace.known;

	if (number >= trace.known) {
		trace.known = 2 * number + 8;
		trace.names = realloc(trace.names, trace.known * sizeof *trace.names);
		fib_check(trace.names);
		memset(trace.names + before, 0, (trace.known - before) * sizeof *trace.names);
	}
	if (me)
		snprintf(trace.names[number], sizeof trace.names[number], "%.31s", me->name);
}

static struct fib_entry *add(enum fib_entry_kind kind, uint32_t number, const char *text)
{
	/* fib_os_now() would count as a reading of the program. */
	const int64_t now = fib_virtual_now();
	struct fib_entry *entry;

	if (trace.n && trace.at[trace.n - 1].now < now)
		append(FIB_ENTRY_TIME, 0, now);
	remember_name(number);
	if (trace.on_step)
		trace.on_step();
	entry = append(kind, number, now);
	entry->text = strdup(text);
	fib_check(entry->text);
	return entry;
}

/* These take a fiber. */
static bool takes_fiber(const char *call)
{
	return strcmp(call, "fiber_join") == 0 || strcmp(call, "fiber_detach") == 0 ||
	       strcmp(call, "fiber_cancel") == 0 || strcmp(call, "fiber_unpark") == 0;
}

static void add_call(uint32_t number, const struct fib_intent *intent)
{
	struct fib_entry *entry = add(FIB_ENTRY_CALL, number, intent->call);

	entry->at = intent->at;
	entry->address = intent->object;
	entry->object = fib_objects_use(intent->call, intent->object);
	if (intent->object && takes_fiber(intent->call))
		entry->target = fib_explorer_number(intent->object);
}

static void add_choice(enum fib_choice_kind kind, uint32_t number, const char *what,
		       unsigned chosen)
{
	if (kind == FIB_CHOICE_CHOOSE)
		add(FIB_ENTRY_CHOOSE, number, what)->chosen = chosen;
}

void fib_trace_begin(void)
{
	size_t i;

	for (i = 0; i < trace.n; i++) {
		free(trace.at[i].text);
		free(trace.at[i].way);
	}
	trace.n = 0;
	if (trace.known)
		memset(trace.names, 0, trace.known * sizeof *trace.names);
	fib_objects_begin();
	fib_explorer_trace(add_call);
	fib_explorer_trace_choices(add_choice);
}

void fib_trace_note(uint32_t number, const char *text, const void *at)
{
	add(FIB_ENTRY_NOTE, number, text)->at = at;
}

void fib_trace_fault(uint32_t number, const char *call, const char *way, const void *at)
{
	struct fib_entry *entry = add(FIB_ENTRY_FAULT, number, call);

	entry->at = at;
	entry->way = strdup(way);
	fib_check(entry->way);
}

size_t fib_trace_count(void)
{
	return trace.n;
}

const struct fib_entry *fib_trace_at(size_t i)
{
	return &trace.at[i];
}

const char *fib_trace_name(uint32_t number)
{
	return number < trace.known ? trace.names[number] : "";
}
