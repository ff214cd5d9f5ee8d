/* SPDX-License-Identifier: MIT */
/*
 * render_leaks.c - print lost fibers
 *
 * The first line is the verdict. Each group has three lines: how many and where they were spawned, how
 * long and how much, and one of them.
 */
#include "inspect/render/render_leaks.h"

#include <inttypes.h>

#include "inspect/model/words.h"
#include "inspect/render/render.h"
#include "inspect/text/duration.h"
#include "inspect/text/escape.h"

/* The word for what a fiber waits for. */
static const char *kind_of(const struct ins_leaks *leaks, const struct ins_lost_group *g)
{
	return ins_words_wait_kind(&leaks->look->source->layout, g->wait_kind);
}

static void put_group(FILE *out, const struct ins_leaks *leaks, const struct ins_lost_group *g)
{
	char spawned[256] = "", place[256] = "", wait[256], name[80], age[32];
	struct ins_strbuf line = ins_strbuf(name, sizeof name);
	struct ins_fiber fiber;

	ins_lost_groups_example(leaks->lost, g, leaks->look->source, &fiber);
	ins_look_place_of(leaks->look, g->spawn_pc, true, spawned, sizeof spawned);
	ins_look_place(leaks->look, &fiber, place, sizeof place);
	ins_look_say_fiber(&fiber, &line);
	fprintf(out, "  %" PRIu64 " in %s, spawned at %s\n", g->fibers,
		ins_escape(kind_of(leaks, g), wait, sizeof wait),
		spawned[0] ? spawned : "an unknown place");
	fprintf(out, "    longest %s; %" PRIu64 " KiB of stacks",
		ins_duration_text(g->longest, age, sizeof age), g->stacks >> 10);
	ins_words_wait(&leaks->look->source->layout, &fiber, false, wait, sizeof wait);
	fprintf(out, "\n    example: %s waits for %s%s%s\n", name, wait, place[0] ? " at " : "",
		place);
}

static void put_others(FILE *out, const struct ins_lost *lost)
{
	if (lost->moved)
		fprintf(out,
			"  not counted: %zu that did not wait so when the snapshot was taken\n",
			lost->moved);
	if (lost->cancellable)
		fprintf(out,
			"  not counted: %zu that could be cancelled: something alive has the "
			"handle "
			"or the group\n",
			lost->cancellable);
	if (lost->parked)
		fprintf(out, "  not counted: %zu in fiber_park, whose %s nothing alive has\n",
			lost->parked, lost->parked == 1 ? "handle" : "handles");
}

void ins_text_leaks(FILE *out, const struct ins_leaks *leaks, const char *who)
{
	const struct ins_source *source = leaks->look->source;
	const struct ins_lost_groups *groups = leaks->groups;
	const size_t count = leaks->lost->count,
		     shown = groups->count < INS_LEAKS_SCREEN ? groups->count : INS_LEAKS_SCREEN;
	char text[256];
	size_t i;

	fputs(ins_escape(source->name, text, sizeof text), out);
	if (source->pid)
		fprintf(out, " (pid %d)", (int)source->pid);
	if (!count) {
		fprintf(out, ": no fiber is lost%s\n", leaks->lost->unsure ? " for certain" : "");
		put_others(out, leaks->lost);
		return;
	}
	fprintf(out, ": %zu of %zu fibers %s lost: nothing alive can wake %s\n", count,
		ins_table_count(leaks->lost->table),
		leaks->lost->certain ? (count == 1 ? "is" : "are")
				     : (count == 1 ? "seems" : "seem"),
		count == 1 ? "it" : "them");
	if (leaks->before)
		fprintf(out, "  confirmed by a %s: %s waited so already then\n",
			ins_words_taken(leaks->before, text, sizeof text),
			count == 1 ? "it" : "all");
	for (i = 0; i < shown; i++)
		put_group(out, leaks, &groups->at[i]);
	if (shown < groups->count)
		fprintf(out, "  ... and %zu more groups; see --json\n", groups->count - shown);
	put_others(out, leaks->lost);
	fprintf(out, "  more: fibertrace show %s %" PRIu64 "\n", ins_escape(who, text, sizeof text),
		groups->at[0].ids.id[0]);
}

json_t *ins_json_leak(const struct ins_leaks *leaks, size_t i)
{
	const struct ins_lost_group *g = &leaks->groups->at[i];
	char spawned[256] = "", place[256] = "";
	struct ins_fiber fiber;

	ins_look_get(leaks->look, g->example, &fiber);
	ins_look_place_of(leaks->look, g->spawn_pc, true, spawned, sizeof spawned);
	ins_look_place(leaks->look, &fiber, place, sizeof place);
	return json_pack(
		"{s:I, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:I}", "fibers", (json_int_t)g->fibers,
		"fiberIds", ins_json_sample(&g->ids), "wait", ins_json_text(kind_of(leaks, g)),
		"object", g->object ? ins_json_address(g->object) : json_null(), "spawnPlace",
		ins_json_text(spawned[0] ? spawned : NULL), "place",
		ins_json_text(place[0] ? place : NULL), "longestNs", (json_int_t)g->longest,
		"stackBytes", (json_int_t)g->stacks, "example", (json_int_t)fiber.row.id);
}
