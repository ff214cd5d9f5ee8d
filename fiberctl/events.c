/* SPDX-License-Identifier: MIT */
/*
 * events.c - what 'pinned' and 'slow' have in common: a ring of events, grouped by place, or followed
 *
 * Who follows asks again, a few times a second, for what is newer than what it has. An event that still went on when it was
 * printed is asked for again until it has ended, and printed once more with how long it took in the end.
 */
#include "fiberctl/events.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tool/process.h"
#include "inspect/render_events.h"

#define LASTING 512 /* more events than a ring has */

struct look {
	const struct tool_arguments *arguments;
	const char *what;
	struct ins_source *source;
	struct ins_unwinder *unwinder;
	struct ins_symbols *symbols;
	struct ins_sites *sites;
	struct ins_walk walk;
	json_t *events; /* with --json, not followed */
	/* of who follows */
	uint64_t next; /* the first number that was not seen */
	uint64_t lasting[LASTING], still[LASTING];
	size_t lasting_count, still_count;
	uint64_t highest;
};

static int take(void *context, const struct ins_event *event)
{
	struct look *l = context;
	int rc;

	ins_event_walk(l->unwinder, event, &l->walk);
	if (l->events)
		json_array_append_new(
			l->events, ins_json_event(&l->source->layout, l->symbols, event, &l->walk));
	rc = ins_sites_add(l->sites, l->symbols, event, &l->walk);
	return rc < 0 ? rc : 0;
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
	ins_json_end(&json, summary, &l->source->problems);
}

static void put_text(struct look *l, const struct ins_summary *summary)
{
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
	printf("shown %" PRIu64 " of %" PRIu64 " %s%s, in %zu place%s\n", summary->shown,
	       summary->total, l->what, summary->total == 1 ? "" : "s", sites,
	       sites == 1 ? "" : "s");
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

	if (number >= l->highest)
		l->highest = number + 1;
	if (lasts && l->still_count < LASTING)
		l->still[l->still_count++] = number;
	/* Printed already, and nothing is new about it. */
	if (known ? lasts : number < l->next)
		return 0;
	ins_event_walk(l->unwinder, event, &l->walk);
	if (l->arguments->json) {
		json_t *object = ins_json_event(&l->source->layout, l->symbols, event, &l->walk);

		json_dumpf(object, stdout, JSON_COMPACT);
		putchar('\n');
		json_decref(object);
	} else {
		ins_text_event(stdout, &l->source->layout, l->symbols, event, &l->walk);
	}
	return 0;
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

/* Until the process ends or nobody reads what we print. */
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
		memcpy(l->lasting, l->still, l->still_count * sizeof l->still[0]);
		l->lasting_count = l->still_count;
		l->next = l->highest;
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
	if (ins_unwinder_new(l.source, &l.unwinder) < 0 ||
	    ins_symbols_new(l.source->modules, &l.symbols) < 0 || ins_sites_new(&l.sites) < 0)
		code = tool_cannot("%s", strerror(ENOMEM));
	else if (arguments->option[TOOL_OPT_FOLLOW] && strcmp(l.source->kind, "snapshot") == 0)
		code = tool_process_still(arguments->word[0]);
	else if (arguments->option[TOOL_OPT_FOLLOW])
		code = follow(&l, ring);
	else
		code = group(&l, ring);
	json_decref(l.events);
	ins_sites_free(l.sites);
	ins_symbols_free(l.symbols);
	ins_unwinder_free(l.unwinder);
	ins_source_close(l.source);
	return code;
}
