/* SPDX-License-Identifier: MIT */
/*
 * rule_convoy.c - many fibers wait for locks behind one fiber, which is slow
 *
 * Each wait for a lock is followed from holder to holder to the fiber at its end, the root. A root
 * that FEW or more fibers wait for, one of them for long, is reported, unless it is part of a
 * deadlock. Joins are followed but do not count: a parent that joins its child waits as it should.
 *
 * A root that sleeps is slow by as much as it will still sleep. That also tells in the core of a program
 * that sleeps: its clock rests (core/registry.c), so that no wait in it is old.
 */
#include "inspect/why/rules.h"

#include <errno.h>

#include <stdlib.h>

#include <fiber/fiber.h>

#include "inspect/model/words.h"
#include "inspect/text/duration.h"
#include "inspect/why/doing.h"

#define FEW 3

struct root {
	uint64_t waiting;
	int64_t longest;
	bool deadlocked;
};

static bool for_a_lock(const struct ins_node *node)
{
	return node->kind == FIB_WAIT_MUTEX || node->kind == FIB_WAIT_RWLOCK_READ ||
	       node->kind == FIB_WAIT_RWLOCK_WRITE || node->kind == FIB_WAIT_ONCE ||
	       node->kind == FIB_WAIT_PTHREAD_MUTEX;
}

/* Count the waits for locks by root. */
static void count(const struct ins_graph *graph, struct root *roots)
{
	size_t i, n = ins_graph_count(graph);

	for (i = 0; i < n; i++) {
		const struct ins_node *node = ins_graph_at(graph, i);
		struct root *root;

		if (!for_a_lock(node) || node->root == i)
			continue;
		root = &roots[node->root];
		root->waiting++;
		/* A pinned fiber runs all the time: its age is not that of its wait. */
		if (node->age > root->longest && !node->runs)
			root->longest = node->age;
	}
}

/* Mark the fibers that are in a deadlock, or have exited: what those held is reported as one. */
static void mark_deadlocked(const struct ins_look *look, struct root *roots)
{
	const struct ins_deadlocks *found = look->last.found;
	size_t i, k;

	for (i = 0; i < ins_deadlocks_count(found); i++)
		for (k = 0; k < ins_deadlocks_at(found, i)->count; k++)
			roots[ins_deadlocks_at(found, i)->fibers[k]].deadlocked = true;
	for (i = 0; i < ins_graph_count(look->last.graph); i++)
		if (ins_graph_at(look->last.graph, i)->dead)
			roots[i].deadlocked = true;
}

/* What the root does, for the headline: "sleeps". running: ins_why_doing(). */
static const char *doing(const struct ins_fiber *root, const char *running)
{
	if (root->row.state == FIBER_RUNNING && !ins_look_waits(root))
		return running[0] ? "is " : "runs";
	if (root->row.state == FIBER_RUNNABLE)
		return "waits for a carrier";
	switch (root->row.wait_kind) {
	case FIB_WAIT_SLEEP:
		return "sleeps";
	case FIB_WAIT_FD:
		return "waits for a descriptor";
	case FIB_WAIT_OFFLOAD:
		return "waits for a call in a thread";
	case FIB_WAIT_OP:
		return "waits for the kernel";
	default:
		return "waits";
	}
}

/* The fiber that has waited longest directly for the root. False: none waits directly. */
static bool find_first(const struct ins_look *look, size_t root, struct ins_fiber *ret)
{
	const struct ins_graph *graph = look->last.graph;
	size_t i, n = ins_graph_count(graph), first = n;

	for (i = 0; i < n; i++) {
		const struct ins_node *node = ins_graph_at(graph, i);

		if (for_a_lock(node) && node->to == root && i != root &&
		    (first == n || (!node->runs && node->age > ins_graph_at(graph, first)->age)))
			first = i;
	}
	if (first < n)
		ins_look_get(look, first, ret);
	return first < n;
}

/* Where the fiber took the object that this one waits for, if it has taken no other lock since. */
static void say_taken(struct ins_look *look, const struct ins_fiber *holder,
		      const struct ins_fiber *waiter, struct ins_strbuf *line)
{
	const bool rwlock = waiter->row.wait_kind == FIB_WAIT_RWLOCK_READ ||
			    waiter->row.wait_kind == FIB_WAIT_RWLOCK_WRITE;
	char place[256];

	/* 1: see FIB_FIELD_HELD. */
	if (!holder->row.held || holder->row.held != waiter->row.wait_object + (rwlock ? 1 : 0))
		return;
	ins_look_place_of(look, holder->row.held_at, true, place, sizeof place);
	if (!place[0])
		return;
	ins_strbuf_text(line, " (taken");
	ins_look_say_at(place, line);
	ins_strbuf_char(line, ')');
}

/*
 * fiber 3 "compactor" holds rwlock "table" for at least 41s (taken at store.c:212 in compact) and has
 * slept for 41s, 18s left at store.c:230 in compact
 */
static void say_root(struct ins_look *look, size_t root, const struct ins_fiber *fiber,
		     struct ins_finding *f)
{
	struct ins_strbuf line = ins_finding_line(f);
	const struct ins_peer *peer;
	struct ins_fiber waiter;
	char doing[400];
	bool holds = find_first(look, root, &waiter);

	ins_look_say_fiber(fiber, &line);
	if (holds) {
		ins_strbuf_text(&line, " holds ");
		ins_look_say_object(look, &waiter, &line);
		if (ins_look_knows_age(&waiter) && waiter.row.age) {
			ins_strbuf_text(&line, " for at least ");
			ins_duration_say(&line, waiter.row.age);
		}
		say_taken(look, fiber, &waiter, &line);
	}
	ins_strbuf_text(&line, holds ? " and " : " ");
	ins_look_say_doing(look, fiber, &line);
	peer = ins_look_peer(look, fiber);
	if (peer) {
		ins_strbuf_text(&line, " (peer ");
		ins_strbuf_text(&line, peer->address);
		ins_strbuf_char(&line, ')');
	}
	ins_why_doing_at(look, fiber, f->place, doing, sizeof doing);
	ins_strbuf_text(&line, doing[0] && doing[0] != ' ' ? ", " : "");
	ins_strbuf_text(&line, doing);
}

/* The waits behind the root, by kind. */
struct behind {
	uint64_t count;
	int64_t longest;
	size_t at; /* of the longest */
};

static void say_behind(struct ins_look *look, size_t root, struct ins_finding *f)
{
	struct behind kinds[FIB_WAIT_COUNT] = {{0}};
	const struct ins_graph *graph = look->last.graph;
	size_t i, n = ins_graph_count(graph);
	struct ins_strbuf line = ins_finding_line(f);
	const char *separator = "";
	struct ins_fiber fiber;
	char place[256];

	for (i = 0; i < n; i++) {
		const struct ins_node *node = ins_graph_at(graph, i);

		if (!for_a_lock(node) || node->root != root || i == root)
			continue;
		ins_sample_lowest(&f->ids, node->id);
		kinds[node->kind].count++;
		if (!node->runs && node->age >= kinds[node->kind].longest) {
			kinds[node->kind].longest = node->age;
			kinds[node->kind].at = i;
		}
	}
	ins_strbuf_text(&line, "behind it: ");
	for (i = 0; i < FIB_WAIT_COUNT; i++) {
		if (!kinds[i].count)
			continue;
		ins_strbuf_text(&line, separator);
		ins_strbuf_number(&line, kinds[i].count);
		ins_strbuf_text(&line, " in ");
		ins_strbuf_escaped(&line, ins_words_wait_kind(&look->source->layout, (unsigned)i));
		ins_strbuf_text(&line, kinds[i].longest ? " (longest " : " (");
		if (kinds[i].longest)
			ins_duration_say(&line, kinds[i].longest);
		ins_look_get(look, kinds[i].at, &fiber);
		ins_look_place(look, &fiber, place, sizeof place);
		if (place[0]) {
			ins_strbuf_text(&line, kinds[i].longest ? ", " : "");
			ins_strbuf_text(&line, place);
		}
		ins_strbuf_char(&line, ')');
		separator = ", ";
	}
}

/* A single reading cannot show that the root has not moved, but its age does. */
static bool is_slow(const struct ins_look *look, const struct root *root,
		    const struct ins_fiber *fiber)
{
	const int64_t sleeps = ins_look_sleeps(fiber);

	if (look->single &&
	    (!ins_look_knows_age(fiber) ? sleeps < INS_LOOK_LONG
					: !ins_look_old(look, fiber->row.age, sleeps)))
		return false;
	return ins_look_old(look, root->longest, sleeps) && ins_look_stayed(look, fiber);
}

static int find(struct ins_look *look, struct ins_findings *ret)
{
	const size_t n = ins_graph_count(look->last.graph);
	struct root *roots = calloc(n + 1, sizeof *roots);
	struct ins_finding *f;
	struct ins_fiber fiber;
	size_t i;

	if (!roots)
		return -ENOMEM;
	count(look->last.graph, roots);
	mark_deadlocked(look, roots);
	for (i = 0; i < n; i++) {
		if (roots[i].waiting < FEW)
			continue;
		ins_look_get(look, i, &fiber);
		if (roots[i].deadlocked || !is_slow(look, &roots[i], &fiber))
			continue;
		f = ins_findings_add(ret, &ins_rule_convoy, INS_SLOW);
		if (!f)
			break;
		f->fibers = f->weight = roots[i].waiting;
		f->subject = i;
	}
	free(roots);
	return i < n ? -ENOMEM : 0;
}

static void say(struct ins_look *look, struct ins_finding *f)
{
	struct ins_strbuf line = ins_finding_headline(f);
	struct ins_fiber fiber;
	char running[64];

	ins_look_get(look, f->subject, &fiber);
	ins_why_doing(look, &fiber, running, sizeof running);
	ins_strbuf_number(&line, f->fibers);
	ins_strbuf_text(&line, " of ");
	ins_strbuf_number(&line, ins_look_count(look));
	ins_strbuf_char(&line, ' ');
	ins_strbuf_text(&line, ins_words_rows(ins_table_summary(look->last.table)));
	ins_strbuf_text(&line, "s wait for locks behind one that ");
	ins_strbuf_text(&line, doing(&fiber, running));
	ins_strbuf_text(&line, running);
	say_root(look, f->subject, &fiber, f);
	say_behind(look, f->subject, f);
	f->more[0] = "waits";
	/* A thread beside fibers is not shown alone. */
	if (fiber.row.id & FIB_HOLDER_THREAD)
		return;
	f->more[0] = "show";
	f->more_id[0] = fiber.row.id;
	f->more[1] = "waits";
}

const struct ins_rule ins_rule_convoy = {"convoy", "many fibers wait for locks behind one fiber",
					 find, say, INS_NEEDS_ONE};
