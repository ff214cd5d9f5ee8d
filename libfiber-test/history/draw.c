/* SPDX-License-Identifier: MIT */
/*
 * draw.c - show a history, one column for each fiber
 *
 *   fiber 2      fiber 3
 *   put(1)
 *   |            put(2)
 *   |            take() = 2
 *   '
 *
 * A call begins where its text is, goes on along the bars, and returns at the quote. Without bars it
 * returned before anything else happened.
 */
#include "history/draw.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history/model.h"

#define COLUMNS_MAX 12u
#define CELL_MAX    24u
#define LINES_MAX   80u

struct event {
	uint64_t time;
	uint32_t call;
	bool returns;
};

struct drawing {
	const struct fiber_test_model *model;
	const struct fiber_test_call *calls;
	const uint32_t *fibers;
	uint32_t n, last;
	uint32_t columns, fiber[COLUMNS_MAX]; /* by number */
	uint32_t open[COLUMNS_MAX];	      /* calls that have begun and not returned */
	struct event *events;
	uint32_t count;
	int width;
	char *at, *end;
};

__attribute__((format(printf, 2, 3))) static void put(struct drawing *d, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(d->at, (size_t)(d->end - d->at), fmt, ap);
	va_end(ap);
	if (n > 0)
		d->at += n < d->end - d->at ? n : d->end - d->at - 1;
}

/* The text comes from the program: nothing in it may control a terminal. */
static const char *text_of(const struct drawing *d, uint32_t call, char *text)
{
	size_t i;

	fib_model_print(d->model, &d->calls[call], text, CELL_MAX + 1);
	for (i = 0; text[i]; i++)
		if (!isprint((unsigned char)text[i]))
			text[i] = '?';
	return text;
}

/* -- columns and lines -- */

static int by_number(const void *left, const void *right)
{
	const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return a < b ? -1 : a > b;
}

/* COLUMNS_MAX: it has none. */
static uint32_t column_of(const struct drawing *d, uint32_t fiber)
{
	uint32_t i;

	for (i = 0; i < d->columns; i++)
		if (d->fiber[i] == fiber)
			return i;
	return COLUMNS_MAX;
}

static void find_columns(struct drawing *d)
{
	char text[CELL_MAX + 1];
	uint32_t i;

	d->width = (int)sizeof "fiber 10";
	for (i = 0; i < d->n; i++) {
		const int width = (int)strlen(text_of(d, i, text));

		if (width > d->width)
			d->width = width;
		if (column_of(d, d->fibers[i]) == COLUMNS_MAX && d->columns < COLUMNS_MAX)
			d->fiber[d->columns++] = d->fibers[i];
	}
	qsort(d->fiber, d->columns, sizeof *d->fiber, by_number);
}

/* Of events at one time, calls begin first: they overlap. */
static int by_time(const void *left, const void *right)
{
	const struct event *a = left, *b = right;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	if (a->returns != b->returns)
		return a->returns ? 1 : -1;
	return a->call < b->call ? -1 : a->call > b->call;
}

static void find_events(struct drawing *d)
{
	uint32_t i;

	for (i = 0; i < d->n; i++) {
		d->events[d->count++] = (struct event){d->calls[i].begin, i, false};
		if (d->calls[i].end)
			d->events[d->count++] = (struct event){d->calls[i].end, i, true};
	}
	qsort(d->events, d->count, sizeof *d->events, by_time);
}

/* Whether the call returned before anything else happened. */
static bool is_at_once(const struct drawing *d, uint32_t event)
{
	return event + 1 < d->count && d->events[event + 1].call == d->events[event].call;
}

static void put_line(struct drawing *d, uint32_t event, bool at_once)
{
	const struct event *e = &d->events[event];
	const uint32_t mine = column_of(d, d->fibers[e->call]);
	char text[CELL_MAX + 1], line[COLUMNS_MAX * (CELL_MAX + 3) + 1];
	size_t used = 0;
	uint32_t i;

	for (i = 0; i < d->columns; i++) {
		const char *cell = d->open[i] ? "|" : "";

		if (i == mine)
			cell = e->returns ? "'" : text_of(d, e->call, text);
		used += (size_t)snprintf(line + used, sizeof line - used, "  %-*s", d->width, cell);
	}
	while (used && line[used - 1] == ' ')
		line[--used] = 0;
	put(d, "%s%s\n", line,
	    e->call == d->last && (e->returns || at_once) ? "  <- fits no order" : "");
}

/* Returns the number of events that the line shows. */
static uint32_t show(struct drawing *d, uint32_t event, bool hidden)
{
	const struct event *e = &d->events[event];
	const uint32_t column = column_of(d, d->fibers[e->call]);
	const bool at_once = !e->returns && is_at_once(d, event);

	if (!hidden && column == COLUMNS_MAX)
		put(d, "  ... fiber %u, for which there is no column\n", d->fibers[e->call]);
	else if (!hidden)
		put_line(d, event, at_once);
	if (column != COLUMNS_MAX && !at_once)
		d->open[column] += e->returns ? UINT32_MAX : 1;
	return at_once ? 2 : 1;
}

/* The end of a long history. */
static void put_lines(struct drawing *d)
{
	const uint32_t from = d->count > LINES_MAX ? d->count - LINES_MAX : 0;
	uint32_t i = 0;

	while (i < from)
		i += show(d, i, true);
	if (from)
		put(d, "  ... %u earlier begins and returns\n", i);
	while (i < d->count)
		i += show(d, i, false);
}

static void put_names(struct drawing *d)
{
	char name[CELL_MAX];
	uint32_t i;

	for (i = 0; i < d->columns; i++) {
		snprintf(name, sizeof name, d->fiber[i] ? "fiber %u" : "prepare", d->fiber[i]);
		put(d, "  %-*s", i + 1 < d->columns ? d->width : 0, name);
	}
	put(d, "\n");
}

void fib_draw(const struct fiber_test_model *model, const struct fiber_test_call calls[],
	      const uint32_t fibers[], uint32_t n, uint32_t last, char *text, size_t size)
{
	struct drawing d = {.model = model,
			    .calls = calls,
			    .fibers = fibers,
			    .n = n,
			    .last = last,
			    .at = text,
			    .end = text + size};

	text[0] = 0;
	d.events = calloc(2 * (size_t)n + 1, sizeof *d.events);
	if (!d.events)
		return;
	find_columns(&d);
	find_events(&d);
	put_names(&d);
	put_lines(&d);
	free(d.events);
}
