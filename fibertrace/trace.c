/* SPDX-License-Identifier: MIT */
/*
 * trace.c - every fiber of a source, walked and printed
 *
 * Grouped, fibers are walked as they come and only their places are kept; singly, each is printed
 * as it comes. Names and lines are looked up once for each address, after the target was read where
 * possible, so that a live process is looked at quickly and reported at leisure.
 */
#include "fibertrace/trace.h"

#include <stdio.h>
#include <string.h>

#include "inspect/group.h"
#include "inspect/render.h"
#include "inspect/symbolize.h"
#include "inspect/unwind.h"

struct trace {
	struct ins_source *source;
	const struct trace_options *options;
	struct ins_unwinder *unwinder;
	struct ins_symbols *symbols;
	struct ins_groups *groups;
	struct ins_json json;
	bool begun; /* something is on stdout */
	struct ins_walk walk;
};

static void begin(struct trace *t)
{
	const struct ins_source *s = t->source;

	if (t->begun)
		return;
	t->begun = true;
	if (t->options->json) {
		ins_json_begin(&t->json, stdout, s->pid, s->name, s->kind,
			       t->options->each ? "fibers" : "groups");
	} else {
		char name[sizeof s->name * 4];

		printf("%s (%s, process %d)\n", ins_words_clean(s->name, name, sizeof name),
		       s->kind, (int)s->pid);
		/* The program's clock rests while all of it sleeps, and a core has no other. */
		if (strcmp(s->kind, "core") == 0)
			puts("times are those of when anything last ran");
		putchar('\n');
	}
}

static int take_fiber(void *context, const struct ins_fiber *fiber)
{
	struct trace *t = context;

	ins_unwind(t->unwinder, fiber, &t->walk);
	if (t->groups)
		return ins_groups_add(t->groups, NULL, fiber, &t->walk);
	begin(t);
	if (t->options->json) {
		ins_json_row(&t->json,
			     ins_json_fiber(&t->source->layout, fiber, t->symbols, &t->walk));
		return 0;
	}
	ins_text_header(stdout, &t->source->layout, fiber);
	ins_text_frames(stdout, t->symbols, &t->walk);
	putchar('\n');
	return 0;
}

static void print_groups(struct trace *t)
{
	size_t i;

	ins_groups_sort(t->groups);
	for (i = 0; i < ins_groups_count(t->groups); i++) {
		const struct ins_group *g = ins_groups_at(t->groups, i);

		if (t->options->json) {
			ins_json_row(&t->json, ins_json_group(&t->source->layout, g, t->symbols));
			continue;
		}
		ins_text_group(stdout, &t->source->layout, g);
		ins_text_frames(stdout, t->symbols, g->walk);
		putchar('\n');
	}
}

static int finish(struct trace *t, const struct ins_summary *summary)
{
	int rc = 0;

	begin(t);
	if (t->groups)
		print_groups(t);
	if (t->options->json)
		rc = ins_json_end(&t->json, summary, &t->source->problems);
	else
		ins_text_end(stdout, summary, &t->source->problems);
	if (rc < 0 || fflush(stdout) != 0 || ferror(stdout)) {
		fprintf(stderr, "fibertrace: standard output: what was written is not whole\n");
		return TRACE_PARTIAL;
	}
	return ins_problems_lines(&t->source->problems) ? TRACE_PARTIAL : TRACE_WELL;
}

static int read_source(struct trace *t)
{
	struct ins_request request = {
		.stacks = true,
		.high_water = t->options->each && t->options->json,
	};
	struct ins_error error = {""};
	struct ins_summary summary;
	int rc = ins_source_read(t->source, &request, take_fiber, t, &summary, &error);

	if (rc == 0)
		return finish(t, &summary);
	fprintf(stderr, "fibertrace: %s\n", error.text[0] ? error.text : strerror(-rc));
	return TRACE_CANNOT;
}

int trace_dump(struct ins_source *source, const struct trace_options *options)
{
	struct trace t = {.source = source, .options = options};
	int code = TRACE_CANNOT;

	if (ins_unwinder_new(source, &t.unwinder) < 0 ||
	    ins_symbols_new(source->modules, &t.symbols) < 0 ||
	    (!options->each && ins_groups_new(&t.groups) < 0))
		fprintf(stderr, "fibertrace: out of memory\n");
	else
		code = read_source(&t);
	ins_groups_free(t.groups);
	ins_symbols_free(t.symbols);
	ins_unwinder_free(t.unwinder);
	return code;
}
