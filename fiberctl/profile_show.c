/* SPDX-License-Identifier: MIT */
/*
 * profile_show.c - the outputs of the command 'profile'
 *
 * The stacks that were collected have addresses. Their names are looked up once per stack, after the
 * program was observed, and all outputs are made of the named stacks: a table of functions, JSON, and
 * the files of flame graphs.
 */
#include "fiberctl/profile_show.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/render/render_flames.h"
#include "inspect/render/render_top.h"
#include "inspect/symbols/symbolize.h"
#include "inspect/text/duration.h"
#include "inspect/text/escape.h"
#include "tool/cmd/flames.h"
#include "tool/report.h"
#include "wire/wire.h"

struct shown {
	struct ctl_profile_show how;
	struct ins_symbols *symbols;
	struct ins_flames *flames;
	uint64_t truncated; /* sightings of stacks that were not walked to their ends */
};

static int put_part(struct shown *a, ins_profile_part part, bool *truncated)
{
	const char *text = NULL;
	const struct ins_walk *walk = ins_profile_part_at(a->how.p->profile, part, &text);

	if (!walk)
		return ins_flames_put_name(a->flames, text);
	*truncated |= walk->truncated;
	return ins_flames_put_walk(a->flames, walk, a->symbols);
}

/* Look up the names, once per address. */
static int make_flames(struct shown *a)
{
	size_t i;
	int rc = ins_flames_new(a->how.kind, &a->flames);

	for (i = 0; rc == 0 && i < ins_profile_count(a->how.p->profile); i++) {
		const struct ins_profile_stack *s = ins_profile_at(a->how.p->profile, i);
		bool truncated = false;
		unsigned k;

		ins_flames_begin(a->flames);
		for (k = 0; rc == 0 && k < s->count; k++)
			rc = put_part(a, s->parts[k], &truncated);
		if (rc == 0)
			rc = ins_flames_end(a->flames, s->number, s->time);
		if (truncated)
			a->truncated += s->number;
	}
	return rc;
}

/* Why samples have no stack. Returns the exit code after a message if none has one. */
static int look_at_lacks(struct shown *a)
{
	static const char *const texts[] = {
		[FIB_WIRE_LACK_SIGNAL] =
			"the program handles or blocks SIGURG, with which threads are sampled",
		[FIB_WIRE_LACK_PORT] = "this port of libfiber cannot sample a fiber that runs",
		[FIB_WIRE_LACK_MEMORY] = "the stack could not be read",
	};
	const struct ctl_profile *p = a->how.p;
	const uint64_t number = ins_flames_number(a->flames);
	char name[4 * sizeof p->source->name];
	size_t i;

	for (i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		if (!texts[i] || !p->without[i])
			continue;
		if (!p->walked && i != FIB_WIRE_LACK_MEMORY)
			return tool_cannot(
				"%s (process %d): %s; --wait and --block do without",
				ins_escape(p->source->name, name, sizeof p->source->name),
				(int)p->source->pid, texts[i]);
		ins_problems_add(&a->how.p->problems, "%" PRIu64 " of %" PRIu64 " samples: %s",
				 p->without[i], number, texts[i]);
	}
	return TOOL_WELL;
}

/* -- output -- */

static void put_problems(const struct shown *a, FILE *out)
{
	char text[640];
	size_t i;

	for (i = 0; i < ins_problems_lines(&a->how.p->problems); i++)
		fprintf(out, "incomplete: %s\n",
			ins_problems_text(&a->how.p->problems, i, text, sizeof text));
}

/* cpu of hog (process 12), 10s: 987 samples, 9.870s */
static void put_head(const struct shown *a)
{
	const struct ins_source *source = a->how.p->source;
	const uint64_t number = ins_flames_number(a->flames);
	char name[4 * sizeof source->name], took[32], time[32];

	printf("%s of %s (process %d), %s: %" PRIu64 " %s%s, %s\n", a->how.mode,
	       ins_escape(source->name, name, sizeof source->name), (int)source->pid,
	       ins_duration_text(a->how.p->took, took, sizeof took), number, a->how.kind->one,
	       number == 1 ? "" : "s",
	       ins_duration_seconds((int64_t)ins_flames_time(a->flames), time, sizeof time));
}

static void put_end(const struct shown *a)
{
	if (a->how.p->looks)
		printf("looked %" PRIu64 " time%s, for %.1f %% of the time\n", a->how.p->looks,
		       a->how.p->looks == 1 ? "" : "s",
		       a->how.p->took ? (double)a->how.p->looking * 100 / (double)a->how.p->took
				      : 0);
	if (a->truncated)
		printf("%" PRIu64 " %s%s: the stack could not be walked to its end\n", a->truncated,
		       a->how.kind->one, a->truncated == 1 ? "" : "s");
	put_problems(a, stdout);
}

static size_t shown(const struct shown *a)
{
	const size_t count = ins_flames_functions(a->flames);

	return a->how.limit && a->how.limit < count ? (size_t)a->how.limit : count;
}

static void put_text(const struct shown *a, const struct ins_top_row *rows)
{
	const size_t count = ins_flames_functions(a->flames);

	put_head(a);
	ins_text_top(stdout, a->flames, rows, shown(a));
	if (shown(a) < count)
		printf("shown %zu of %zu functions\n", shown(a), count);
	put_end(a);
}

static void put_json(const struct shown *a, const struct ins_top_row *rows)
{
	const struct ctl_profile *p = a->how.p;
	const struct ins_summary summary = {
		.total = ins_flames_functions(a->flames), .shown = shown(a), .sampled_ns = p->took};
	struct ins_json json;
	size_t i;

	ins_json_begin(&json, stdout, p->source->pid, p->source->name, p->source->kind,
		       "functions");
	for (i = 0; i < shown(a); i++)
		ins_json_row(&json, ins_json_top(a->flames, &rows[i]));
	ins_json_key(&json, "profile",
		     json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "mode", a->how.mode,
			       "wantedNs", (json_int_t)p->length, "tookNs", (json_int_t)p->took,
			       "number", (json_int_t)ins_flames_number(a->flames), "timeNs",
			       (json_int_t)ins_flames_time(a->flames), "truncated",
			       (json_int_t)a->truncated, "lost", (json_int_t)p->lost, "looks",
			       (json_int_t)p->looks, "lookingNs", (json_int_t)p->looking));
	ins_json_end(&json, &summary, &p->problems);
}

static int put_table(const struct shown *a)
{
	struct ins_top_row *rows = NULL;

	if (ins_top_rows(a->flames, &rows) < 0)
		return tool_cannot("out of memory");
	if (a->how.arguments->json)
		put_json(a, rows);
	else
		put_text(a, rows);
	free(rows);
	return TOOL_WELL;
}

/* Only stacks go to standard output. */
static int put_folded(const struct shown *a)
{
	if (ins_folded_put(stdout, a->flames) < 0)
		return tool_cannot("out of memory");
	put_problems(a, stderr);
	return TOOL_WELL;
}

static int put_files(const struct shown *a)
{
	const int code = tool_flames_write(a->how.arguments, a->flames, a->how.p->source);

	if (code != TOOL_WELL)
		return code;
	if (tool_flames_to_output(a->how.arguments))
		put_problems(a, stderr);
	else
		put_end(a);
	return TOOL_WELL;
}

bool ctl_profile_files(const struct tool_arguments *arguments)
{
	return arguments->given & (TOOL_TAKES_FLAMES | TOOL_TAKES(TOOL_OPT_OUTPUT));
}

static int put(struct shown *a)
{
	int code = look_at_lacks(a);

	if (code == TOOL_WELL && ctl_profile_files(a->how.arguments))
		code = put_files(a);
	else if (code == TOOL_WELL && a->how.arguments->option[TOOL_OPT_FOLDED])
		code = put_folded(a);
	else if (code == TOOL_WELL)
		code = put_table(a);
	if (code != TOOL_WELL)
		return code;
	return tool_written(ins_problems_lines(&a->how.p->problems) ? TOOL_PARTIAL : TOOL_WELL);
}

int ctl_profile_show(const struct ctl_profile_show *how)
{
	struct shown a = {.how = *how};
	int code, rc = ins_symbols_new(how->p->source->modules, &a.symbols);

	if (rc == 0)
		rc = make_flames(&a);
	if (rc == 0)
		ins_flames_set_span(a.flames, (struct ins_flame_span){
						      .began = how->began,
						      .took = how->p->took,
						      .program = how->p->source->name,
					      });
	code = rc < 0 ? tool_cannot("%s", strerror(-rc)) : put(&a);
	ins_flames_free(a.flames);
	ins_symbols_free(a.symbols);
	return code;
}
