/* SPDX-License-Identifier: MIT */
/* render_holders.c - print all holders of what a fiber waits for, as text and as JSON */
#include "inspect/render/render_holders.h"

#include <inttypes.h>

#include "inspect/model/words.h"
#include "inspect/render/render_holder.h"

#define NAMED 8u /* holders that the text names */

/* The read lock that fiber i waits to write; NULL: it waits for something else. */
static const struct ins_read_lock *read_lock(const struct ins_graph *graph, size_t i)
{
	return ins_graph_at(graph, i)->kind == FIB_WAIT_RWLOCK_WRITE ? ins_graph_read_lock(graph, i)
								     : NULL;
}

static void put_name(FILE *out, const struct ins_graph *graph, uint64_t id, size_t at, pid_t pid)
{
	char text[256];

	fputs(ins_words_holder(ins_graph_table(graph), id, at, pid, text, sizeof text), out);
}

static void put_readers(FILE *out, const struct ins_graph *graph, const struct ins_read_lock *l,
			pid_t pid)
{
	const uint64_t all = ins_read_lock_holders(l);
	const size_t known = l->count < NAMED ? l->count : NAMED;
	uint64_t named = 0;
	size_t i;

	fputs("held for reading by ", out);
	for (i = 0; i < known; i++, named++) {
		fputs(!i ? "" : named + 1 == all ? " and " : ", ", out);
		put_name(out, graph, ins_graph_at(graph, l->fibers[i])->id, l->fibers[i], pid);
	}
	if (l->other) {
		fputs(!named ? "" : named + 1 == all ? " and " : ", ", out);
		put_name(out, graph, l->other, INS_NOBODY, pid);
		named++;
	}
	if (l->count > known)
		fprintf(out, ", %zu more", l->count - known);
	if (l->unknown)
		fprintf(out, "%s%" PRIu64 " unknown", named ? " and " : "", l->unknown);
	fputc('\n', out);
}

void ins_text_holders(FILE *out, const char *label, const struct ins_graph *graph, size_t i,
		      pid_t pid)
{
	const struct ins_node *node = ins_graph_at(graph, i);

	if (!ins_graph_read_lock(graph, i))
		return;
	if (read_lock(graph, i)) {
		fputs(label, out);
		put_readers(out, graph, read_lock(graph, i), pid);
	} else if (node->to != INS_NOBODY) {
		fprintf(out, "%sbehind ", label);
		put_name(out, graph, node->holder, node->to, pid);
		fputs(", which waits to write\n", out);
	}
}

static bool add(json_t *array, const struct fib_layout *layout, const struct ins_graph *graph,
		uint64_t id, size_t at, pid_t pid)
{
	json_t *one = json_object();
	const bool well = one && ins_json_holder(one, layout, ins_graph_table(graph), id, at, pid);

	return json_array_append_new(array, one) == 0 && well;
}

json_t *ins_json_ids(const struct ins_graph *graph, const size_t *rows, size_t count, bool threads)
{
	json_t *ret = json_array();
	size_t i;

	for (i = 0; ret && i < count; i++) {
		const uint64_t id = ins_graph_at(graph, rows[i])->id;

		if (!(id & FIB_HOLDER_THREAD) == !threads)
			json_array_append_new(ret, json_integer((json_int_t)ins_words_id(id)));
	}
	return ret;
}

bool ins_json_holders(json_t *object, const struct fib_layout *layout,
		      const struct ins_graph *graph, size_t i, pid_t pid)
{
	const struct ins_read_lock *l = read_lock(graph, i);
	const struct ins_node *node = ins_graph_at(graph, i);
	json_t *array = json_array();
	bool well = array != NULL;
	size_t k;

	for (k = 0; well && l && k < l->count; k++)
		well = add(array, layout, graph, ins_graph_at(graph, l->fibers[k])->id,
			   l->fibers[k], pid);
	if (well && l && l->other)
		well = add(array, layout, graph, l->other, INS_NOBODY, pid);
	if (well && !l && node->holder)
		well = add(array, layout, graph, node->holder, node->to, pid);
	return json_object_set_new(object, "holders", array) == 0 && well &&
	       json_object_set_new(object, "holdersUnknown",
				   json_integer(l ? (json_int_t)l->unknown : 0)) == 0;
}
