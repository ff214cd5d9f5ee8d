/* SPDX-License-Identifier: MIT */
/*
 * events.c - the common part of 'pinned' and 'slow': print a ring of events
 *
 * Following means to ask a few times a second for events that are newer than the last one. An
 * unfinished event is requested again until it has ended, and is then printed once more with its
 * final length.
 *
 * With several runtimes events arrive ring by ring. They are sorted by number; a gap between two
 * numbers is lost events.
 */
#include "fiberctl/events.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tool/process.h"
#include "tool/report.h"
#include "inspect/render/render_events.h"
#include "inspect/symbols/fiber_names.h"
#include "inspect/unwind/event_walk.h"
#include "inspect/text/json_put.h"

#define LASTING 512 /* more events than a ring has */

/* An event that is printed when the answer is complete. */
struct reported {
	uint64_t number;
	json_t *object; /* with --json, else NULL */
	char *text;
};

struct look {
	const struct tool_arguments *arguments;
	const char *what;
	struct ins_source *source;
	struct ins_unwinder *unwinder;
	struct ins_symbols *symbols;
	struct ins_sites *sites;
	struct ins_walk walk;
	json_t *events; /* with --json, not followed */
	struct reported *reported;
	size_t reported_count, reported_room;
	uint64_t next; /* the first number not seen yet */
	/* used when following */
	uint64_t lasting[LASTING], still[LASTING];
	size_t lasting_count, still_count;
};

/* -- in order -- */

static int report(struct look *l, const struct ins_event *event)
{
	const struct fib_layout *layout = &l->source->layout;
	struct reported *reported = l->reported;
	size_t size;
	FILE *out;

	if (l->reported_count == l->reported_room) {
		l->reported_room = l->reported_room ? l->reported_room * 2 : 64;
		reported = realloc(reported, l->reported_room * sizeof *reported);
		if (!reported)
			return -ENOMEM;
		l->reported = reported;
	}
	reported += l->reported_count;
	*reported = (struct reported){.number = event->e.number};
	if (l->arguments->json) {
		reported->object = ins_json_event(layout, l->symbols, event, &l->walk);
	} else if ((out = open_memstream(&reported->text, &size))) {
		ins_text_event(out, layout, l->symbols, event, &l->walk);
		fclose(out);
	}
	if (!reported->object && !reported->text)
		return -ENOMEM;
	l->reported_count++;
	return 0;
}

static int by_number(const void *a, const void *b)
{
	const struct reported *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

/* How many events before this one were lost. */
static uint64_t lost_before(struct look *l, uint64_t number)
{
	const uint64_t lost = number > l->next ? number - l->next : 0;

	if (number >= l->next)
		l->next = number + 1;
	return lost;
}

/* Print an event in one line when following, else add it to the answer. */
static void show(struct look *l, struct reported *reported)
{
	const uint64_t lost = lost_before(l, reported->number);

	if (reported->object)
		json_object_set_new(reported->object, "lostBefore", json_integer((json_int_t)lost));
	if (l->events) {
		json_array_append_new(l->events, reported->object);
	} else if (reported->object) {
		ins_json_put(stdout, reported->object);
		putchar('\n');
		json_decref(reported->object);
	} else {
		if (lost)
			printf("%" PRIu64 " %s%s before this %s not kept any more\n", lost, l->what,
			       lost == 1 ? "" : "s", lost == 1 ? "is" : "are");
		fputs(reported->text, stdout);
		free(reported->text);
	}
}

static void show_all(struct look *l)
{
	size_t i;

	if (l->reported_count)
		qsort(l->reported, l->reported_count, sizeof *l->reported, by_number);
	for (i = 0; i < l->reported_count; i++)
		show(l, &l->reported[i]);
	l->reported_count = 0;
}

/* Drop events of an answer that the end of the process cut off. */
static void forget_reported(struct look *l)
{
	size_t i;

	for (i = 0; i < l->reported_count; i++) {
		json_decref(l->reported[i].object);
		free(l->reported[i].text);
	}
	free(l->reported);
}

/* -- by place -- */

static int take(void *context, const struct ins_event *event)
{
	struct look *l = context;
	int rc;

	ins_event_walk(l->unwinder, event, &l->walk);
	rc = l->events ? report(l, event) : 0;
	if (rc == 0)
		rc = ins_sites_add(l->sites, l->symbols, event, &l->walk);
	return rc < 0 ? rc : 0;
}

/* Events that were recorded but are not in the answer. */
static uint64_t lost_of(const struct ins_summary *summary)
{
	return summary->total > summary->shown ? summary->total - summary->shown : 0;
}

static void put_json(struct look *l, const struct ins_summary *summary)
{
	struct ins_json json;
	size_t i;

	ins_json_begin(&json, stdout, l->source->pid, l->source->name, l->source->kind, "sites");
	for (i = 0; i < ins_sites_count(l->sites); i++)
		ins_json_row(&json, ins_json_site(&l->source->layout, l->symbols,
						  ins_sites_at(l->sites, i)));
	ins_json_key(&json, "events", json_incref(l->events));
	ins_json_key(&json, "lost", json_integer((json_int_t)lost_of(summary)));
	ins_json_end(&json, summary, &l->source->problems);
}

static void put_text(struct look *l, const struct ins_summary *summary)
{
	const uint64_t lost = lost_of(summary);
	size_t i, sites = ins_sites_count(l->sites);
	char text[640];

	for (i = 0; i < sites; i++) {
		ins_text_site_events(stdout, &l->source->layout, l->symbols,
				     ins_sites_at(l->sites, i));
		putchar('\n');
	}
	for (i = 0; i < ins_problems_lines(&l->source->problems); i++)
		printf("incomplete: %s\n",
		       ins_problems_text(&l->source->problems, i, text, sizeof text));
	printf("shown %" PRIu64 " of %" PRIu64 " %s%s, in %zu place%s", summary->shown,
	       summary->total, l->what, summary->total == 1 ? "" : "s", sites,
	       sites == 1 ? "" : "s");
	if (lost)
		printf("; %" PRIu64 " %s not kept any more", lost, lost == 1 ? "is" : "are");
	putchar('\n');
	if (summary->taken)
		puts(ins_words_taken(summary, text, sizeof text));
}

static int group(struct look *l, enum fib_wire_ring ring)
{
	const struct fib_wire_events request = {.ring = ring};
	const bool json = l->arguments->json;
	struct ins_error error = {""};
	struct ins_summary summary;
	int rc;

	l->events = json ? json_array() : NULL;
	rc = ins_events_read(l->source, &request, take, l, &summary, &error);
	if (rc < 0)
		return tool_cannot("%s", error.text[0] ? error.text : strerror(-rc));
	ins_sites_sort(l->sites);
	show_all(l);
	if (json)
		put_json(l, &summary);
	else
		put_text(l, &summary);
	return tool_written(ins_problems_lines(&l->source->problems) ? TOOL_PARTIAL : TOOL_WELL);
}

/* -- following -- */

static bool is_among(const uint64_t numbers[], size_t count, uint64_t number)
{
	size_t i;

	for (i = 0; i < count && numbers[i] != number; i++)
		;
	return i < count;
}

static int take_new(void *context, const struct ins_event *event)
{
	const bool lasts = event->e.flags & FIB_WIRE_EVENT_LASTS;
	struct look *l = context;
	const uint64_t number = event->e.number;
	const bool known = is_among(l->lasting, l->lasting_count, number);

	if (lasts && l->still_count < LASTING)
		l->still[l->still_count++] = number;
	/* printed already and unchanged */
	if (known ? lasts : number < l->next)
		return 0;
	ins_event_walk(l->unwinder, event, &l->walk);
	return report(l, event);
}

static uint64_t first_wanted(const struct look *l)
{
	uint64_t from = l->next;
	size_t i;

	for (i = 0; i < l->lasting_count; i++)
		if (l->lasting[i] < from)
			from = l->lasting[i];
	return from;
}

/* Runs until the process ends or the output is closed. */
static int follow(struct look *l, enum fib_wire_ring ring)
{
	static const struct timespec pause = {.tv_nsec = 200000000};
	struct fib_wire_events request = {.ring = ring};
	struct ins_error error = {""};
	struct ins_summary summary;
	int rc, code;

	for (;;) {
		l->still_count = 0;
		rc = ins_events_read(l->source, &request, take_new, l, &summary, &error);
		if (rc < 0)
			return tool_cannot("%s", error.text[0] ? error.text : strerror(-rc));
		show_all(l);
		memcpy(l->lasting, l->still, l->still_count * sizeof l->still[0]);
		l->lasting_count = l->still_count;
		code = tool_written(TOOL_WELL);
		if (code != TOOL_WELL)
			return code;
		request.bare = 1;
		request.from = first_wanted(l);
		nanosleep(&pause, NULL);
	}
}

int ctl_events(const struct tool_arguments *arguments, enum fib_wire_ring ring, const char *what)
{
	struct look l = {.arguments = arguments, .what = what};
	int code = tool_process_open(arguments->word[0], &l.source);

	if (code != TOOL_WELL)
		return code;
	if (ins_fiber_names_begin(l.source) < 0 || ins_unwinder_new(l.source, &l.unwinder) < 0 ||
	    ins_symbols_new(l.source->modules, &l.symbols) < 0 || ins_sites_new(&l.sites) < 0)
		code = tool_cannot("%s", strerror(ENOMEM));
	if (code == TOOL_WELL)
		ins_unwinder_hide(l.unwinder, !arguments->option[TOOL_OPT_ALL_FRAMES]);
	if (code == TOOL_WELL && arguments->option[TOOL_OPT_FOLLOW] &&
	    strcmp(l.source->kind, "snapshot") == 0)
		code = tool_process_still(arguments->word[0]);
	else if (code == TOOL_WELL && arguments->option[TOOL_OPT_FOLLOW])
		code = follow(&l, ring);
	else if (code == TOOL_WELL)
		code = group(&l, ring);
	json_decref(l.events);
	forget_reported(&l);
	ins_sites_free(l.sites);
	ins_symbols_free(l.symbols);
	ins_unwinder_free(l.unwinder);
	ins_source_close(l.source);
	return code;
}
