/* SPDX-License-Identifier: MIT */
/*
 * render_text.c - print fibers and groups as text
 *
 * The header line of a fiber has everything on the fiber in one line, in a fixed order, so that
 * people can grep among fifty thousand fibers.
 */
#include "inspect/render/render.h"

#include <inttypes.h>
#include <string.h>

#include "inspect/text/escape.h"
#include "inspect/render/render_variables.h"
#include "inspect/symbols/shown.h"
#include "inspect/text/duration.h"

static void put_state(FILE *out, const struct fib_layout *layout, const struct ins_fiber *fiber)
{
	const struct fib_row *row = &fiber->row;
	bool running = row->carrier != FIB_ROW_CARRIER_NONE;
	char wait[256], state[64];

	ins_words_wait(layout, fiber, false, wait, sizeof wait);
	fprintf(out, "[%s", ins_escape(ins_words_state(layout, row->state), state, sizeof state));
	if (running)
		fprintf(out, ": carrier %u", row->carrier);
	if (wait[0])
		fprintf(out, "%s%s",
			row->wait_kind == FIB_WAIT_PINNED ? ", "
			: running			  ? ", pinned in "
							  : ": ",
			wait);
}

void ins_text_header(FILE *out, const struct fib_layout *layout, const struct ins_fiber *fiber)
{
	char name[sizeof fiber->row.name * 4], age[32];

	fprintf(out, "%s %" PRIu64 " \"%s\" ", ins_words_row(fiber->flags),
		ins_words_id(fiber->row.id), ins_escape_quoted(fiber->row.name, name, sizeof name));
	put_state(out, layout, fiber);
	if (fiber->flags & INS_FIBER_THREAD)
		fputs("]\n", out);
	else
		fprintf(out, ", %s]\n", ins_duration_text(fiber->row.age, age, sizeof age));
}

static void put_frame(FILE *out, unsigned number, const struct ins_frame *f)
{
	char text[1024];

	fprintf(out, "  #%-3u", number);
	if (f->function) {
		fprintf(out, "%s", ins_escape(f->function, text, sizeof text));
		if (f->has_offset)
			fprintf(out, "+0x%" PRIx64, f->offset);
	} else {
		fprintf(out, "0x%" PRIx64, f->pc);
	}
	if (f->inlined)
		fprintf(out, " (inlined)");
	if (f->file)
		fprintf(out, " at %s:%d", ins_escape(f->file, text, sizeof text), f->line);
	else if (ins_frame_module(f))
		fprintf(out, " in %s", ins_escape(ins_frame_module(f), text, sizeof text));
	if (!f->function && f->has_offset)
		fprintf(out, "+0x%" PRIx64, f->offset);
	fputc('\n', out);
}

void ins_text_frames(FILE *out, struct ins_symbols *symbols, const struct ins_walk *walk)
{
	ins_text_frames_detailed(out, symbols, walk, NULL);
}

void ins_text_frames_detailed(FILE *out, struct ins_symbols *symbols, const struct ins_walk *walk,
			      const struct ins_details *details)
{
	unsigned i, number = 0, shown = 0;
	char reason[4 * sizeof walk->reason];
	size_t k;

	for (i = 0; i < walk->count; i++) {
		const struct ins_shown at = ins_shown_at(symbols, walk, i);

		for (k = at.first; k < at.end && !(walk->limit && shown == walk->limit); k++) {
			put_frame(out, number + (unsigned)k, &at.frames[k]);
			if (details)
				ins_text_details(out, details, number + (unsigned)k, &at.frames[k]);
			shown++;
		}
		number += (unsigned)at.count;
	}
	if (walk->left)
		fprintf(out, "  %s%u frame%s left out\n",
			walk->left_least < walk->left ? "up to " : "", walk->left,
			walk->left == 1 ? "" : "s");
	ins_escape(walk->reason, reason, sizeof reason);
	if (walk->truncated)
		fprintf(out, "  truncated: %s\n", reason);
	else if (reason[0])
		fprintf(out, "  no frames: %s\n", reason);
}

void ins_text_sample(FILE *out, const struct ins_sample *ids, bool more)
{
	unsigned i;

	for (i = 0; i < ids->count; i++)
		fprintf(out, "%s %s%" PRIu64, i ? "," : "",
			ids->id[i] & FIB_HOLDER_THREAD ? "thread " : "", ins_words_id(ids->id[i]));
	if (more)
		fputs(", ...", out);
}

void ins_text_group(FILE *out, const struct fib_layout *layout, const struct ins_group *group)
{
	char name[sizeof group->fiber.row.name * 4], min[32], median[32], max[32];

	fprintf(out, "%" PRIu64 " %s%s ", group->count, ins_words_row(group->fiber.flags),
		group->count == 1 ? "" : "s");
	put_state(out, layout, &group->fiber);
	ins_duration_text(group->ages.min, min, sizeof min);
	ins_duration_text(group->ages.max, max, sizeof max);
	if (group->fiber.flags & INS_FIBER_THREAD)
		fputs("]", out);
	else if (strcmp(min, max) == 0)
		fprintf(out, ", %s]", max);
	else
		fprintf(out, ", %s to %s, median %s]", min, max,
			ins_duration_text(group->ages.median, median, sizeof median));
	fputs(group->count == 1 ? " id" : " ids", out);
	ins_text_sample(out, &group->ids, group->count > group->ids.count);
	if (group->count == 1)
		fprintf(out, " \"%s\"",
			ins_escape_quoted(group->fiber.row.name, name, sizeof name));
	fputc('\n', out);
}

static void put_problems(FILE *out, const struct ins_problems *problems)
{
	size_t i, lines = ins_problems_lines(problems);
	char text[640];

	for (i = 0; i < lines; i++)
		fprintf(out, "incomplete: %s\n", ins_problems_text(problems, i, text, sizeof text));
}

void ins_text_end(FILE *out, const struct ins_summary *summary, const struct ins_problems *problems)
{
	ins_text_list_end(out, summary, summary->shown, problems);
}

void ins_text_list_end(FILE *out, const struct ins_summary *summary, uint64_t matched,
		       const struct ins_problems *problems)
{
	char took[32], text[512];

	put_problems(out, problems);
	fprintf(out, "shown %" PRIu64 " of %" PRIu64 " %s%s%s, sampled over %s", summary->shown,
		summary->total, ins_words_rows(summary), summary->total == 1 ? "" : "s",
		summary->fiberless ? " of a program without fibers" : "",
		ins_duration_text(summary->sampled_ns, took, sizeof took));
	if (matched > summary->shown)
		fprintf(out, "; %" PRIu64 " more %s: --all shows them", matched - summary->shown,
			matched - summary->shown == 1 ? "matches" : "match");
	if (summary->taken)
		fprintf(out, "; %s", ins_words_taken(summary, text, sizeof text));
	fputc('\n', out);
}
