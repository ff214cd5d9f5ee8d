/* SPDX-License-Identifier: MIT */
/*
 * stuck.c - print deadlocks and the stacks of their fibers
 *
 * The stacks of the shown fibers are read one by one while the answer is printed. A source may have
 * to search all fibers for each one, so the number of stacks is limited.
 */
#include "inspect/render/stuck.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "inspect/symbols/limit.h"
#include "inspect/render/render_deadlock.h"
#include "inspect/render/render_holders.h"
#include "inspect/unwind/unwind.h"
#include "inspect/unwind/thread_stack_walk.h"

struct answer {
	const struct ins_stuck *stuck;
	const struct ins_confirmed *confirmed;
	const struct ins_deadlocks *found; /* of confirmed */
	struct ins_unwinder *unwinder;
	struct ins_symbols *symbols;
	struct ins_walk walk;
	json_t *fibers; /* of the finding that is being printed */
	json_t *thread; /* the holder, or null */
	size_t shown;	/* number of stacks */
};

/* Print a fiber without its stack, and the holders of what it still waits for. */
static void put_head(struct answer *a, const struct ins_fiber *fiber)
{
	const struct ins_graph *graph = ins_deadlocks_graph(a->found);
	const size_t at = ins_graph_find(graph, &fiber->row);

	ins_text_header(a->stuck->out, &a->stuck->source->layout, fiber);
	if (at != INS_NOBODY)
		ins_text_holders(a->stuck->out, "  ", graph, at, a->stuck->pid);
}

static void add_row(struct answer *a, const struct ins_fiber *fiber, const struct ins_walk *walk)
{
	const struct fib_layout *layout = &a->stuck->source->layout;
	json_t *row = ins_json_fiber(layout, fiber, a->symbols, walk);
	json_t *wait = json_object_get(row, "wait");
	const struct ins_graph *graph = ins_deadlocks_graph(a->found);
	const size_t at = ins_graph_find(graph, &fiber->row);

	if (json_is_object(wait) && at != INS_NOBODY)
		ins_json_holders(wait, layout, graph, at, a->stuck->pid);
	json_array_append_new(a->fibers, row);
}

static int take(void *context, const struct ins_fiber *fiber)
{
	struct answer *a = context;

	ins_walk_row(a->unwinder, fiber, &a->walk);
	ins_walk_limit(&a->walk, a->symbols, a->stuck->frames);
	if (a->stuck->json) {
		add_row(a, fiber, &a->walk);
	} else {
		put_head(a, fiber);
		ins_text_frames(a->stuck->out, a->symbols, &a->walk);
	}
	return 0;
}

/*
 * Print a fiber with its stack. A fiber that is gone meanwhile is reported as gone; a deadlocked
 * one is never gone.
 */
static int show_whole(struct answer *a, uint64_t id, struct ins_error *error)
{
	const struct ins_request request = {.id = id, .stacks = true};
	struct ins_summary summary;
	int rc;

	rc = ins_source_read(a->stuck->source, &request, take, a, &summary, error);
	if (rc != -ESRCH)
		return rc;
	if (!a->stuck->json)
		fprintf(a->stuck->out, "%s %" PRIu64 " has ended since\n",
			id & FIB_HOLDER_THREAD ? "thread" : ins_words_rows(&summary),
			ins_words_id(id));
	return 0;
}

/* Print what the reading has on a fiber, without its stack. brief: and without a reason. */
static void show_row(struct answer *a, size_t i, bool brief)
{
	static const struct ins_walk none = {.truncated = true};
	struct ins_fiber fiber;

	ins_table_get(ins_graph_table(ins_deadlocks_graph(a->found)), i, &fiber);
	if (a->stuck->json) {
		add_row(a, &fiber, &none);
		return;
	}
	put_head(a, &fiber);
	if (!brief)
		fprintf(a->stuck->out, "  no frames: %d stacks are shown already\n", INS_STUCK_ALL);
}

static int show_fibers(struct answer *a, const struct ins_deadlock *d, size_t n,
		       struct ins_error *error)
{
	size_t i;
	int rc = 0;

	for (i = 0; rc == 0 && i < n; i++) {
		if (d->kind == INS_DEADLOCK_STILL) {
			show_row(a, d->fibers[i], true);
			continue;
		}
		if (a->shown < INS_STUCK_ALL)
			rc = show_whole(
				a, ins_graph_at(ins_deadlocks_graph(a->found), d->fibers[i])->id,
				error);
		else
			show_row(a, d->fibers[i], false);
		a->shown++;
	}
	return rc;
}

/* -- the thread that holds it -- */

/* Why nothing is known of a thread's stack. An old program does not support the request. */
static const char *unknown(const struct answer *a, int rc)
{
	if (rc != -EOPNOTSUPP)
		return strerror(-rc);
	return strcmp(a->stuck->source->kind, "snapshot") == 0
		       ? "the snapshot does not have it"
		       : "the program is too old to be asked for it";
}

/* Read and walk the stack of the holder, which a reading does not contain. */
static int walk_thread(struct answer *a, uint64_t tid, struct ins_thread_stack *stack)
{
	int rc = a->shown < INS_STUCK_ALL ? ins_thread_stack_read(a->stuck->source, tid, stack) : 0;

	if (rc < 0 || a->shown >= INS_STUCK_ALL) {
		*stack = (struct ins_thread_stack){.tid = tid,
						   .state = FIB_WIRE_THREAD_HIDDEN,
						   .call = INS_THREAD_STACK_CALL_UNKNOWN};
		if (rc < 0)
			snprintf(stack->why, sizeof stack->why, "%s", unknown(a, rc));
		else
			snprintf(stack->why, sizeof stack->why, "%d stacks are shown already",
				 INS_STUCK_ALL);
	}
	ins_thread_stack_walk(a->unwinder, stack, &a->walk);
	ins_walk_limit(&a->walk, a->symbols, a->stuck->frames);
	a->shown++;
	return rc;
}

static void show_thread(struct answer *a, const struct ins_deadlock *d)
{
	const uint64_t tid = d->holder & ~FIB_HOLDER_THREAD;
	struct ins_thread_stack stack;
	int rc;

	a->thread = a->stuck->json ? json_null() : NULL;
	if (!(d->holder & FIB_HOLDER_THREAD) || (d->lasting && !a->stuck->json))
		return;
	rc = walk_thread(a, tid, &stack);
	if (a->stuck->json)
		a->thread = ins_json_thread(&stack, a->symbols, &a->walk);
	else if (rc != -EOPNOTSUPP)
		ins_text_thread(a->stuck->out, &stack, a->symbols, &a->walk, a->stuck->pid);
	ins_thread_stack_free(&stack);
}

/* How many fibers of the finding are shown. */
static size_t most(const struct ins_deadlock *d)
{
	bool lock = d->kind == INS_DEADLOCK_ORPHAN || d->kind == INS_DEADLOCK_THREAD;
	size_t n = lock				   ? INS_STUCK_LOCK
		   : d->kind == INS_DEADLOCK_STILL ? INS_STUCK_STILL
						   : INS_STUCK_CYCLE;

	return d->count < n ? d->count : n;
}

static int show(struct answer *a, struct ins_json *json, const struct ins_deadlock *d,
		struct ins_error *error)
{
	const struct ins_stuck *s = a->stuck;
	size_t n = most(d);
	int rc;

	if (s->json) {
		a->fibers = json_array();
		rc = show_fibers(a, d, n, error);
		show_thread(a, d);
		ins_json_row(json, ins_json_deadlock(&s->source->layout, a->found, d, s->pid,
						     a->fibers, a->thread));
		return rc;
	}
	ins_text_deadlock(s->out, &s->source->layout, a->found, d, s->pid);
	rc = show_fibers(a, d, n, error);
	if (n < d->count)
		fprintf(s->out, "... and %zu more of these %zu fibers: --json has their ids\n",
			d->count - n, d->count);
	if (rc == 0)
		show_thread(a, d);
	fputc('\n', s->out);
	return rc;
}

static int print(struct answer *a, struct ins_error *error)
{
	const struct ins_stuck *s = a->stuck;
	struct ins_summary summary = *ins_table_summary(a->confirmed->table);
	struct ins_unfollowed unfollowed;
	struct ins_json json;
	size_t i;
	int rc = 0;

	ins_unfollowed_count(a->confirmed->graph, &unfollowed);
	summary.sampled_ns = a->confirmed->sampled_ns;
	if (s->json)
		ins_json_begin(&json, s->out, s->source->pid, s->source->name, s->source->kind,
			       "findings");
	for (i = 0; rc == 0 && i < ins_deadlocks_count(a->found); i++)
		rc = show(a, &json, ins_deadlocks_at(a->found, i), error);
	if (!s->json) {
		ins_text_deadlocks_end(s->out, a->found, a->confirmed->readings);
		ins_text_stillness(s->out, a->confirmed);
		ins_text_unfollowed(s->out, &s->source->layout, &unfollowed);
		ins_text_end(s->out, &summary, &s->source->problems);
		return rc;
	}
	ins_json_key(&json, "found", json_integer((json_int_t)ins_deadlocks_lasting(a->found)));
	ins_json_key(&json, "readings", json_integer(a->confirmed->readings));
	ins_json_key(&json, "notFollowed", ins_json_unfollowed(&s->source->layout, &unfollowed));
	ins_json_key(&json, "allWait", json_boolean(a->confirmed->still.all_wait));
	ins_json_key(&json, "otherThreads",
		     a->confirmed->still.threads < 0 ? json_null()
						     : json_integer(a->confirmed->still.threads));
	/* Write errors show in s->out. */
	if (ins_json_end(&json, &summary, &s->source->problems) == -ENOMEM && rc == 0)
		rc = ins_error_set(error, -ENOMEM, "out of memory");
	return rc;
}

int ins_stuck_print(const struct ins_stuck *stuck, const struct ins_confirmed *confirmed,
		    struct ins_error *error)
{
	struct answer a = {.stuck = stuck, .confirmed = confirmed, .found = confirmed->found};
	int rc = ins_unwinder_new(stuck->source, &a.unwinder);

	if (rc == 0)
		ins_unwinder_hide(a.unwinder, stuck->hide);
	if (rc == 0)
		rc = ins_symbols_new(stuck->source->modules, &a.symbols);
	if (rc == 0)
		rc = print(&a, error);
	ins_symbols_free(a.symbols);
	ins_unwinder_free(a.unwinder);
	return rc;
}
