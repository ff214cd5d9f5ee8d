/* SPDX-License-Identifier: MIT */
/* render_waits.c - print the graph of waits as text and as JSON */
#include "inspect/render/render_waits.h"

#include <inttypes.h>
#include <string.h>

#include <fiber/fiber.h>

#include "inspect/text/strbuf.h"
#include "inspect/render/render_holder.h"
#include "inspect/render/render_holders.h"
#include "inspect/text/duration.h"

/* -- text -- */

static const char *noun(const struct ins_waits *w)
{
	return ins_words_rows(ins_table_summary(ins_graph_table(ins_queues_graph(w->queues))));
}

/* What is behind the plural of the noun if there are threads beside the fibers. */
static const char *mixed(const struct ins_graph *graph)
{
	return ins_graph_fibers(graph) < ins_graph_count(graph) ? " and threads" : "";
}

static void put_ids(FILE *out, struct ins_table *table, const struct ins_queue *q)
{
	struct ins_fiber fiber;
	size_t i;

	for (i = 0; i < q->count && i < INS_WAITS_SAMPLES; i++) {
		ins_table_get(table, q->fibers[i], &fiber);
		fprintf(out, "%s%" PRIu64, i ? ", " : ": ", ins_words_id(fiber.row.id));
	}
	if (i < q->count)
		fprintf(out, " and %zu more", q->count - i);
	fputc('\n', out);
}

static void put_queue(FILE *out, const struct ins_waits *w, const struct ins_queue *q)
{
	struct ins_table *table = ins_graph_table(ins_queues_graph(w->queues));
	char wait[256], min[32], max[32];
	struct ins_fiber fiber;

	ins_table_get(table, q->fibers[0], &fiber);
	fiber.row.holder = 0; /* printed already */
	ins_words_wait(w->layout, &fiber, true, wait, sizeof wait);
	ins_duration_text(q->age_min, min, sizeof min);
	ins_duration_text(q->age_max, max, sizeof max);
	if (q->kind == FIB_WAIT_JOIN)
		fprintf(out, "%8zu to join it", q->count);
	else if (q->kind == FIB_WAIT_PINNED)
		fprintf(out, "%8zu %s", q->count, wait);
	else
		fprintf(out, "%8zu for %s", q->count, wait);
	if (q->aged)
		fprintf(out, ", %s", min);
	if (strcmp(min, max) != 0)
		fprintf(out, " to %s", max);
	put_ids(out, table, q);
	ins_text_holders(out, "         ", ins_queues_graph(w->queues), q->fibers[0], w->pid);
}

/* "1 fiber waits", "1 thread waits", "2 fibers wait", "2 fibers and threads wait" */
static void put_count(FILE *out, const struct ins_waits *w, uint64_t count,
		      const struct ins_graph *graph, size_t first)
{
	if (count == 1)
		fprintf(out, "1 %s waits", ins_graph_at(graph, first)->thread ? "thread" : noun(w));
	else
		fprintf(out, "%" PRIu64 " %ss%s wait", count, noun(w), mixed(graph));
}

/* Where the holder is, so that it need not be asked for on its own. */
static void put_place(FILE *out, const struct ins_waits *w, const struct ins_fiber *holder)
{
	char place[512] = "";

	if (w->place)
		w->place(w->context, holder, place, sizeof place);
	if (place[0])
		fprintf(out, "         at %s\n", place);
}

static void put_holder(FILE *out, const struct ins_waits *w, const struct ins_holder *h)
{
	const struct ins_graph *graph = ins_queues_graph(w->queues);
	struct ins_fiber fiber;
	char text[256];
	size_t i;

	put_count(out, w, h->waiting, graph, h->queues[0].fibers[0]);
	if (h->behind)
		fprintf(out, ", and %" PRIu64 " behind %s,", h->behind,
			h->waiting == 1 ? "it" : "them");
	if (!h->id) {
		fputs(" for objects with no known holder\n", out);
	} else if (h->at != INS_NOBODY) {
		ins_table_get(ins_graph_table(graph), h->at, &fiber);
		fputs(" for ", out);
		ins_text_header(out, w->layout, &fiber);
		put_place(out, w, &fiber);
		if (ins_graph_at(graph, h->at)->cycle != INS_NOBODY)
			fputs("         which is in a cycle\n", out);
	} else {
		fprintf(out, " for %s\n",
			ins_words_holder(ins_graph_table(graph), h->id, h->at, w->pid, text,
					 sizeof text));
	}
	for (i = 0; i < h->queue_count && i < w->limit; i++)
		put_queue(out, w, &h->queues[i]);
	if (i < h->queue_count)
		fprintf(out, "         and for %zu more things (--limit shows more)\n",
			h->queue_count - i);
}

static size_t shown(const struct ins_waits *w)
{
	size_t count = ins_queues_holders(w->queues);

	return count < w->limit ? count : w->limit;
}

void ins_text_waits(FILE *out, const struct ins_waits *w)
{
	const size_t fibers = ins_graph_count(ins_queues_graph(w->queues));
	size_t i, n = shown(w), count = ins_queues_holders(w->queues);

	for (i = 0; i < n; i++)
		put_holder(out, w, ins_queues_holder(w->queues, i));
	fprintf(out, "shown %zu of %zu holder%s%s; ", n, count, count == 1 ? "" : "s",
		n < count ? " (--limit shows more)" : "");
	if (ins_queues_waiting(w->queues) < ins_queues_all(w->queues))
		fprintf(out, "shown %" PRIu64 " of %" PRIu64 " %ss%s that wait for others\n",
			ins_queues_waiting(w->queues), ins_queues_all(w->queues), noun(w),
			mixed(ins_queues_graph(w->queues)));
	else
		fprintf(out, "%" PRIu64 " of %zu %s%s%s %s for others\n", ins_queues_all(w->queues),
			fibers, noun(w), fibers == 1 ? "" : "s", mixed(ins_queues_graph(w->queues)),
			ins_queues_all(w->queues) == 1 ? "waits" : "wait");
}

/* -- JSON -- */

static json_t *number(uint64_t n)
{
	return json_integer((json_int_t)n);
}

static json_t *queue_object(const struct ins_waits *w, const struct ins_queue *q)
{
	const struct ins_graph *graph = ins_queues_graph(w->queues);
	json_t *age, *ret;
	struct ins_fiber fiber;

	ins_table_get(ins_graph_table(graph), q->fibers[0], &fiber);
	age = !q->aged ? json_null()
		       : json_pack("{s:o, s:o}", "min", number((uint64_t)q->age_min), "max",
				   number((uint64_t)q->age_max));
	ret = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "kind",
			ins_json_text(ins_words_wait_kind(w->layout, q->kind)), "object",
			q->object ? ins_json_address(q->object) : json_null(), "objectName",
			fiber.row.object_name[0] ? ins_json_text(fiber.row.object_name)
						 : json_null(),
			"count", number(q->count), "ageNs", age, "fiberIds",
			ins_json_ids(graph, q->fibers, q->count, false), "threadIds",
			ins_json_ids(graph, q->fibers, q->count, true));
	if (ret && !ins_json_holders(ret, w->layout, graph, q->fibers[0], w->pid)) {
		json_decref(ret);
		return NULL;
	}
	return ret;
}

static json_t *holder_object(const struct ins_waits *w, const struct ins_holder *h)
{
	const struct ins_graph *graph = ins_queues_graph(w->queues);
	bool cycle = h->at != INS_NOBODY && ins_graph_at(graph, h->at)->cycle != INS_NOBODY;
	json_t *queues = json_array(), *ret = json_object();
	size_t i;

	for (i = 0; queues && i < h->queue_count; i++)
		json_array_append_new(queues, queue_object(w, &h->queues[i]));
	if (ret && ins_json_holder(ret, w->layout, ins_graph_table(graph), h->id, h->at, w->pid) &&
	    json_object_set_new(ret, "waiting", number(h->waiting)) == 0 &&
	    json_object_set_new(ret, "behind", number(h->behind)) == 0 &&
	    json_object_set_new(ret, "cycle", json_boolean(cycle)) == 0 &&
	    json_object_set_new(ret, "objects", queues) == 0)
		return ret;
	json_decref(ret);
	return NULL;
}

void ins_json_waits(struct ins_json *json, const struct ins_waits *w)
{
	size_t i, n = shown(w);

	for (i = 0; i < n; i++)
		ins_json_row(json, holder_object(w, ins_queues_holder(w->queues, i)));
	ins_json_key(json, "waiting", number(ins_queues_waiting(w->queues)));
	ins_json_key(json, "waitingTotal", number(ins_queues_all(w->queues)));
	ins_json_key(json, "holdersTotal", number(ins_queues_holders(w->queues)));
	ins_json_key(json, "holdersShown", number(n));
}
