/* SPDX-License-Identifier: MIT */
/*
 * render_dot.c - print the graph of waits for dot(1)
 *
 * A node's name is a letter and a number, so no text of the program is a name. Labels are quoted.
 * In a quoted text dot interprets backslashes, so the one of \x1b is doubled.
 */
#include <inttypes.h>
#include <string.h>

#include "inspect/text/escape.h"
#include "inspect/render/render_waits.h"
#include "inspect/process/thread.h"

/* text is safe for a terminal but not quoted. */
static void put_plain(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
}

static void put_text(FILE *out, const char *text)
{
	char plain[1024];

	put_plain(out, ins_escape(text, plain, sizeof plain));
}

/* What the name of a node begins with. */
static const char *letter(uint64_t id)
{
	return id & FIB_HOLDER_THREAD ? "t" : "f";
}

static void put_fiber(FILE *out, const struct ins_waits *w, const struct ins_fiber *fiber,
		      bool cycle)
{
	fprintf(out, "\t%s%" PRIu64 " [label=\"%s %" PRIu64, letter(fiber->row.id),
		ins_words_id(fiber->row.id), ins_words_row(fiber->flags),
		ins_words_id(fiber->row.id));
	if (fiber->row.name[0]) {
		fputs("\\n", out);
		put_text(out, fiber->row.name);
	}
	fputs("\\n", out);
	put_text(out, ins_words_state(w->layout, fiber->row.state));
	fprintf(out, "\"%s];\n", cycle ? ", color=red" : "");
}

/* A fiber in the table is its own node; other holders get a node each. */
static void put_holder(FILE *out, const struct ins_waits *w, const struct ins_holder *h)
{
	const struct ins_graph *graph = ins_queues_graph(w->queues);
	char name[INS_THREAD_NAME];
	struct ins_fiber fiber;
	uint64_t tid = h->id & ~FIB_HOLDER_THREAD;
	bool ended;

	if (h->id & FIB_HOLDER_THREAD) {
		ended = ins_thread_look(w->pid, tid, name) == INS_THREAD_ENDED;
		fprintf(out, "\tt%" PRIu64 " [shape=ellipse, label=\"thread %" PRIu64 "%s", tid,
			tid, name[0] ? "\\n" : "");
		put_text(out, name);
		fprintf(out, "%s\"];\n", ended ? "\\nended" : "");
	} else if (h->id && h->at != INS_NOBODY) {
		ins_table_get(ins_graph_table(graph), h->at, &fiber);
		put_fiber(out, w, &fiber, ins_graph_at(graph, h->at)->cycle != INS_NOBODY);
	} else if (h->id) {
		fprintf(out, "\tf%" PRIu64 " [style=dashed, label=\"%s %" PRIu64 "\\nended\"];\n",
			h->id, ins_words_rows(ins_table_summary(ins_graph_table(graph))), h->id);
	}
}

/* An object without a known holder is a node. */
static void put_object(FILE *out, const struct ins_waits *w, const struct ins_queue *q,
		       const struct ins_fiber *fiber)
{
	fprintf(out, "\to%" PRIx64 " [shape=diamond, label=\"", q->object);
	put_text(out, ins_words_wait_kind(w->layout, q->kind));
	if (fiber->row.object_name[0]) {
		fputs("\\n", out);
		put_text(out, fiber->row.object_name);
	}
	fputs("\"];\n", out);
}

static void put_edge(FILE *out, const struct ins_waits *w, const struct ins_holder *h,
		     const struct ins_fiber *fiber, bool cycle)
{
	fprintf(out, "\t%s%" PRIu64 " -> ", letter(fiber->row.id), ins_words_id(fiber->row.id));
	if (!h->id)
		fprintf(out, "o%" PRIx64, fiber->row.wait_object);
	else if (h->id & FIB_HOLDER_THREAD)
		fprintf(out, "t%" PRIu64, h->id & ~FIB_HOLDER_THREAD);
	else
		fprintf(out, "f%" PRIu64, h->id);
	fputs(" [label=\"", out);
	put_text(out, ins_words_wait_kind(w->layout, fiber->row.wait_kind));
	if (fiber->row.object_name[0]) {
		fputc(' ', out);
		put_text(out, fiber->row.object_name);
	}
	fprintf(out, "\"%s];\n", cycle ? ", color=red" : "");
}

static void put_queue(FILE *out, const struct ins_waits *w, const struct ins_holder *h,
		      const struct ins_queue *q)
{
	const struct ins_graph *graph = ins_queues_graph(w->queues);
	struct ins_fiber fiber;
	size_t i;

	for (i = 0; i < q->count; i++) {
		bool cycle = ins_graph_at(graph, q->fibers[i])->cycle != INS_NOBODY;

		ins_table_get(ins_graph_table(graph), q->fibers[i], &fiber);
		if (!i && !h->id)
			put_object(out, w, q, &fiber);
		put_fiber(out, w, &fiber, cycle);
		put_edge(out, w, h, &fiber, cycle);
	}
}

void ins_dot_waits(FILE *out, const struct ins_waits *w)
{
	size_t i, k, count = ins_queues_holders(w->queues);
	size_t n = count < w->limit ? count : w->limit;

	fputs("digraph waits {\n\trankdir=LR;\n\tnode [shape=box];\n", out);
	for (i = 0; i < n; i++) {
		const struct ins_holder *h = ins_queues_holder(w->queues, i);

		put_holder(out, w, h);
		for (k = 0; k < h->queue_count; k++)
			put_queue(out, w, h, &h->queues[k]);
	}
	if (n < count)
		fprintf(out, "\tmore [shape=plaintext, label=\"%zu of %zu holders are shown\"];\n",
			n, count);
	fputs("}\n", out);
}
