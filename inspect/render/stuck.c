/* SPDX-License-Identifier: MIT */
/*
 * stuck.c - why a program does not go on
 *
 * The graph needs no stacks, so a reading of a hundred thousand fibers is short. Another one is only made while there is
 * something to confirm. Then the stacks of those that are shown are read one by one; a source may have to look for each
 * among all the others, so there is a limit to how many.
 */
#include "inspect/render/stuck.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "inspect/symbols/cut.h"
#include "inspect/render/render_deadlock.h"
#include "inspect/unwind/unwind.h"
#include "inspect/unwind/thread_stack_walk.h"

/* Readings of what is fleeting, and the time between: a thread that hands over a lock may have had to leave its CPU. */
#define FLEETING_READINGS 3
#define FLEETING_NS	  50000000

struct reading {
	struct ins_table *table;
	struct ins_graph *graph;
};

struct answer {
	const struct ins_stuck *stuck;
	struct reading now; /* the last one */
	unsigned readings;
	int64_t sampled_ns; /* of all of them */
	struct ins_deadlocks *found;
	struct ins_unwinder *unwinder;
	struct ins_symbols *symbols;
	struct ins_walk walk;
	json_t *fibers; /* of what is being shown */
	json_t *thread; /* that holds it, or null */
	size_t shown;	/* stacks, in all */
};

static int read_once(const struct ins_stuck *stuck, struct reading *ret, struct ins_error *error)
{
	const struct ins_request request = {0};
	int rc = ins_table_read(stuck->source, &request, error, &ret->table);

	if (rc < 0)
		return rc;
	rc = ins_graph_new(ret->table, &ret->graph);
	return rc < 0 ? ins_error_set(error, rc, "out of memory") : 0;
}

static void free_reading(struct reading *r)
{
	ins_graph_free(r->graph);
	ins_table_free(r->table);
}

/* Read, and keep of what was found what is there still. */
static int look_once(struct answer *a, struct ins_error *error)
{
	struct ins_deadlocks *before = a->found;
	struct reading earlier = a->now;
	int rc;

	a->found = NULL;
	a->now = (struct reading){0};
	rc = read_once(a->stuck, &a->now, error);
	if (rc == 0) {
		rc = ins_deadlocks_find(a->now.graph, before, a->stuck->pid, &a->found);
		if (rc < 0)
			ins_error_set(error, rc, "out of memory");
	}
	if (rc == 0) {
		a->readings++;
		a->sampled_ns += ins_table_summary(a->now.table)->sampled_ns;
	}
	ins_deadlocks_free(before);
	free_reading(&earlier);
	return rc;
}

static int look(struct answer *a, struct ins_error *error)
{
	const struct timespec pause = {.tv_nsec = FLEETING_NS};
	int rc = look_once(a, error);
	unsigned wanted = 2;

	if (a->stuck->still)
		return rc;
	while (rc == 0 && a->readings < wanted && ins_deadlocks_count(a->found)) {
		if (ins_deadlocks_fleeting(a->found)) {
			wanted = FLEETING_READINGS;
			nanosleep(&pause, NULL);
		}
		rc = look_once(a, error);
	}
	return rc;
}

static int take(void *context, const struct ins_fiber *fiber)
{
	const struct fib_layout *layout;
	struct answer *a = context;

	layout = &a->stuck->source->layout;
	ins_unwind(a->unwinder, fiber, &a->walk);
	ins_walk_cut(&a->walk, a->symbols, a->stuck->frames);
	if (a->stuck->json) {
		json_array_append_new(a->fibers,
				      ins_json_fiber(layout, fiber, a->symbols, &a->walk));
	} else {
		ins_text_header(a->stuck->out, layout, fiber);
		ins_text_frames(a->stuck->out, a->symbols, &a->walk);
	}
	return 0;
}

/* A fiber with its stack. One that has gone since, which a deadlock's do not, is said to have. */
static int show_whole(struct answer *a, uint64_t id, struct ins_error *error)
{
	const struct ins_request request = {.id = id, .stacks = true};
	struct ins_summary summary;
	int rc;

	rc = ins_source_read(a->stuck->source, &request, take, a, &summary, error);
	if (rc != -ESRCH)
		return rc;
	if (!a->stuck->json)
		fprintf(a->stuck->out, "fiber %" PRIu64 " has ended since\n", id);
	return 0;
}

/* What the reading knows of it. */
static void show_row(struct answer *a, size_t i)
{
	const struct fib_layout *layout = &a->stuck->source->layout;
	static const struct ins_walk none = {.truncated = true};
	struct ins_fiber fiber;

	ins_table_get(ins_graph_table(ins_deadlocks_graph(a->found)), i, &fiber);
	if (a->stuck->json) {
		json_array_append_new(a->fibers, ins_json_fiber(layout, &fiber, a->symbols, &none));
		return;
	}
	ins_text_header(a->stuck->out, layout, &fiber);
	fprintf(a->stuck->out, "  no frames: %d stacks are shown already\n", INS_STUCK_ALL);
}

static int show_fibers(struct answer *a, const struct ins_deadlock *d, size_t n,
		       struct ins_error *error)
{
	size_t i;
	int rc = 0;

	for (i = 0; rc == 0 && i < n; i++) {
		if (a->shown < INS_STUCK_ALL)
			rc = show_whole(
				a, ins_graph_at(ins_deadlocks_graph(a->found), d->fibers[i])->id,
				error);
		else
			show_row(a, d->fibers[i]);
		a->shown++;
	}
	return rc;
}

/* -- the thread that holds it -- */

/* Why nothing is known of a thread's stack; a program of before it could be asked for is as it always was. */
static const char *unknown(const struct answer *a, int rc)
{
	if (rc != -EOPNOTSUPP)
		return strerror(-rc);
	return strcmp(a->stuck->source->kind, "snapshot") == 0
		       ? "the snapshot does not have it"
		       : "the program is too old to be asked for it";
}

/* Where the holder stands, which a reading does not know. */
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
	ins_walk_cut(&a->walk, a->symbols, a->stuck->frames);
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

/* How many of its fibers are shown. */
static size_t most(const struct ins_deadlock *d)
{
	bool lock = d->kind == INS_DEADLOCK_ORPHAN || d->kind == INS_DEADLOCK_THREAD;
	size_t n = lock ? INS_STUCK_LOCK : INS_STUCK_CYCLE;

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
	struct ins_summary summary = *ins_table_summary(a->now.table);
	struct ins_unfollowed unfollowed;
	struct ins_json json;
	size_t i;
	int rc = 0;

	ins_unfollowed_count(a->now.graph, &unfollowed);
	summary.sampled_ns = a->sampled_ns;
	if (s->json)
		ins_json_begin(&json, s->out, s->source->pid, s->source->name, s->source->kind,
			       "findings");
	for (i = 0; rc == 0 && i < ins_deadlocks_count(a->found); i++)
		rc = show(a, &json, ins_deadlocks_at(a->found, i), error);
	if (!s->json) {
		ins_text_deadlocks_end(s->out, a->found, a->readings);
		ins_text_unfollowed(s->out, &s->source->layout, &unfollowed);
		ins_text_end(s->out, &summary, &s->source->problems);
		return rc;
	}
	ins_json_key(&json, "found", json_integer((json_int_t)ins_deadlocks_lasting(a->found)));
	ins_json_key(&json, "readings", json_integer(a->readings));
	ins_json_key(&json, "notFollowed", ins_json_unfollowed(&s->source->layout, &unfollowed));
	/* What could not be written shows in s->out. */
	if (ins_json_end(&json, &summary, &s->source->problems) == -ENOMEM && rc == 0)
		rc = ins_error_set(error, -ENOMEM, "out of memory");
	return rc;
}

int ins_stuck_answer(const struct ins_stuck *stuck, size_t *ret_found, struct ins_error *error)
{
	struct answer a = {.stuck = stuck};
	int rc = look(&a, error);

	if (rc == 0)
		rc = ins_unwinder_new(stuck->source, &a.unwinder);
	if (rc == 0)
		rc = ins_symbols_new(stuck->source->modules, &a.symbols);
	if (rc == 0) {
		*ret_found = ins_deadlocks_lasting(a.found);
		rc = print(&a, error);
	}
	ins_symbols_free(a.symbols);
	ins_unwinder_free(a.unwinder);
	ins_deadlocks_free(a.found);
	free_reading(&a.now);
	return rc;
}
