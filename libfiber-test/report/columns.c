/* SPDX-License-Identifier: MIT */
/*
 * columns.c - show the trace of a schedule, a column for each fiber
 *
 * A step is a line: its number, what the fiber does in the fiber's column, and the place in the
 * source. Where the columns would be too wide, as with many fibers, each is one character, and what
 * the fiber does follows behind them.
 */
#include "report/columns.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "report/objects.h"
#include "report/place.h"
#include "report/trace.h"
#include "text/escape.h"

#define WIDTH_MOST  88u /* of all columns */
#define NARROW_MOST 30u /* columns of one character */
#define TEXT_ROOM   192u

struct columns {
	FILE *out;
	uint32_t *fibers; /* by column */
	unsigned *width;
	unsigned n;
	bool narrow, many; /* many: no columns at all */
	bool *shown;	   /* by entry */
};

/* -- what is shown -- */

/* The next entry of a fiber, from i on in a direction; NULL: none. */
static const struct fib_entry *neighbour(size_t i, int direction)
{
	const size_t n = fib_trace_count();

	for (i += (size_t)direction; i < n; i += (size_t)direction)
		if (fib_trace_at(i)->number)
			return fib_trace_at(i);
	return NULL;
}

/* Whether entry i is near a switch, is no call, or is the last one. */
static bool matters(size_t i)
{
	const struct fib_entry *e = fib_trace_at(i), *before, *after;

	if (e->kind != FIB_ENTRY_CALL)
		return true;
	before = neighbour(i, -1);
	after = neighbour(i, 1);
	return !before || !after || before->number != e->number || after->number != e->number;
}

/* Mark the last entries that matter, so that they and the gaps between them fit into `lines`. */
static void select_near(struct columns *c, unsigned lines)
{
	size_t i = fib_trace_count();
	bool gap = false;

	while (i > 0 && lines > 1) {
		i--;
		c->shown[i] = matters(i);
		lines -= c->shown[i];
		if (!c->shown[i] && !gap)
			lines--;
		gap = !c->shown[i];
	}
}

/* -- the parts of a line -- */

/* What the step does: "mutex_lock "bob"". */
static void describe(const struct fib_entry *e, char text[TEXT_ROOM])
{
	const struct fib_object *object = fib_objects_get(e->object);
	const bool public = strncmp(e->text, "fiber_", 6) == 0;
	char call[TEXT_ROOM / 2], label[FIB_OBJECT_LABEL];

	fib_plain(public ? e->text + 6 : e->text, call, sizeof call);
	if (e->kind == FIB_ENTRY_NOTE)
		snprintf(text, TEXT_ROOM, "note: %s", call);
	else if (e->kind == FIB_ENTRY_CHOOSE)
		snprintf(text, TEXT_ROOM, "choose %s = %u", call, e->chosen);
	else if (e->kind == FIB_ENTRY_FAULT)
		snprintf(text, TEXT_ROOM, "fault: %s: %s", call, e->way);
	else if (e->target)
		snprintf(text, TEXT_ROOM, "%s fiber %u", call, e->target);
	else if (object)
		/* The function has the kind in its name: mutex_lock "bob". */
		snprintf(text, TEXT_ROOM, "%s %s", call,
			 public ? fib_object_short(object, label)
				: fib_object_label(object, label));
	else
		snprintf(text, TEXT_ROOM, "%s", call);
}

static unsigned column_of(const struct columns *c, uint32_t number)
{
	unsigned i;

	for (i = 0; i < c->n && c->fibers[i] != number; i++)
		;
	return i;
}

/* "fiber 2 "alice to bob"" */
static void headline(uint32_t number, char text[TEXT_ROOM])
{
	char name[128];

	fib_plain(fib_trace_name(number), name, sizeof name);
	if (name[0])
		snprintf(text, TEXT_ROOM, "fiber %u \"%s\"", number, name);
	else
		snprintf(text, TEXT_ROOM, "fiber %u", number);
}

static void widen(struct columns *c, unsigned column, const char *text)
{
	const unsigned n = (unsigned)strlen(text);

	if (n > c->width[column])
		c->width[column] = n;
}

static int by_number(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void make_columns(struct columns *c)
{
	const size_t n = fib_trace_count();
	unsigned total = 0, k;
	char text[TEXT_ROOM];
	size_t i;

	for (i = 0; i < n; i++) {
		const struct fib_entry *e = fib_trace_at(i);

		if (c->shown[i] && e->number && column_of(c, e->number) == c->n)
			c->fibers[c->n++] = e->number;
	}
	qsort(c->fibers, c->n, sizeof *c->fibers, by_number);
	for (k = 0; k < c->n; k++) {
		headline(c->fibers[k], text);
		widen(c, k, text);
	}
	for (i = 0; i < n; i++) {
		const struct fib_entry *e = fib_trace_at(i);

		if (!c->shown[i] || !e->number || e->kind == FIB_ENTRY_NOTE)
			continue;
		describe(e, text);
		widen(c, column_of(c, e->number), text);
	}
	for (k = 0; k < c->n; k++)
		total += c->width[k] + 2;
	c->narrow = total > WIDTH_MOST;
	c->many = c->narrow && c->n > NARROW_MOST;
}

static void put_headline(const struct columns *c)
{
	char text[TEXT_ROOM];
	unsigned k;

	if (c->narrow)
		fputs("  step  fiber ", c->out);
	else
		fputs("  step", c->out);
	for (k = 0; k < c->n && !c->many; k++) {
		headline(c->fibers[k], text);
		if (c->narrow)
			fprintf(c->out, " %u", c->fibers[k]);
		else
			fprintf(c->out, "  %-*s", k + 1 < c->n ? (int)c->width[k] : 0, text);
	}
	fputc('\n', c->out);
}

static void put_duration(FILE *out, int64_t ns)
{
	if (ns % 1000000000 == 0)
		fprintf(out, "%lld s", (long long)(ns / 1000000000));
	else if (ns % 1000000 == 0)
		fprintf(out, "%lld ms", (long long)(ns / 1000000));
	else
		fprintf(out, "%lld ns", (long long)ns);
}

/* The clock started at 1 s. */
static void put_time(const struct columns *c, size_t i)
{
	const int64_t before = i ? fib_trace_at(i - 1)->now : INT64_C(1000000000);

	fprintf(c->out, "%6zu  time: ", i + 1);
	put_duration(c->out, fib_trace_at(i)->now - before);
	fputs(" later\n", c->out);
}

static void put_entry(const struct columns *c, size_t i)
{
	const struct fib_entry *e = fib_trace_at(i);
	const unsigned mine = column_of(c, e->number);
	char text[TEXT_ROOM], place[256];
	unsigned k, rest = 0;

	if (e->kind == FIB_ENTRY_TIME) {
		put_time(c, i);
		return;
	}
	describe(e, text);
	place[0] = 0;
	if (e->at)
		fib_place_text(e->at, place, sizeof place);
	fprintf(c->out, "%6zu", i + 1);
	if (c->many)
		fprintf(c->out, "  fiber %-4u", e->number);
	else if (c->narrow)
		fputs("        ", c->out);
	for (k = 0; c->narrow && !c->many && k < c->n; k++)
		fprintf(c->out, " %*s", snprintf(NULL, 0, "%u", c->fibers[k]),
			k == mine ? "*" : ".");
	for (k = 0; !c->narrow && k < mine; k++)
		fprintf(c->out, "  %*s", (int)c->width[k], "");
	for (; !c->narrow && k < c->n; k++)
		rest += c->width[k] + 2;
	fprintf(c->out, "  %-*s%s%s\n", place[0] && rest ? (int)rest - 2 : 0, text,
		place[0] ? "  " : "", place);
}

static void put_gap(const struct columns *c, size_t from, size_t to)
{
	const size_t n = to - from;

	if (from == 0)
		fprintf(c->out, "        ... the trace begins %zu steps earlier\n", n);
	else
		fprintf(c->out, "        ... %zu more step%s of fiber %u\n", n, n == 1 ? "" : "s",
			fib_trace_at(from)->number);
}

static void put_all(struct columns *c)
{
	const size_t n = fib_trace_count();
	size_t i, next = 0;

	make_columns(c);
	put_headline(c);
	for (i = 0; i < n; i++) {
		if (!c->shown[i])
			continue;
		if (i > next)
			put_gap(c, next, i);
		put_entry(c, i);
		next = i + 1;
	}
}

static void write_columns(FILE *out, bool all)
{
	const size_t n = fib_trace_count();
	struct columns c = {.out = out};

	if (!n)
		return;
	c.shown = calloc(n, sizeof *c.shown);
	c.fibers = calloc(n, sizeof *c.fibers);
	c.width = calloc(n, sizeof *c.width);
	fib_check(c.shown && c.fibers && c.width);
	if (all)
		memset(c.shown, true, n);
	else
		select_near(&c, FIB_COLUMNS_LINES - 1);
	put_all(&c);
	free(c.shown);
	free(c.fibers);
	free(c.width);
}

void fib_columns_near_switches(FILE *out)
{
	write_columns(out, false);
}

void fib_columns_all(FILE *out)
{
	write_columns(out, true);
}
