/* SPDX-License-Identifier: MIT */
/*
 * explain.c - explain in one sentence why a fiber does not run
 *
 * A fiber that waits for a mutex waits for what the mutex' holder waits for, and so on. The
 * sentence follows that chain; for each holder or joined fiber it says what that fiber does. The
 * chain ends at a wait without a known fiber as its cause, at a fiber that is not in the table, or
 * at a fiber that it has passed. The last case is a deadlock unless a wait of the cycle has a
 * deadline.
 *
 * Rows are read one after another while the program runs. What is said of one fiber is of one
 * moment; the statements on different fibers are not.
 */
#include "inspect/render/explain.h"

#include <fiber/fiber.h>

#include "inspect/text/strbuf.h"
#include "inspect/render/render.h"
#include "inspect/text/duration.h"
#include "inspect/waits/waiters.h"

struct sentence {
	const struct ins_graph *graph;
	struct ins_table *table;
	const struct fib_layout *layout;
	struct ins_strbuf line;
	uint64_t passed[INS_EXPLAIN_LINKS];
	bool ends[INS_EXPLAIN_LINKS]; /* its wait has a deadline */
	unsigned count;
};

/* ins_wait_cause(), also through a lock that is held for reading. */
static uint64_t cause_of(const struct sentence *w, const struct fib_row *row)
{
	const size_t at = ins_graph_find(w->graph, row);
	const struct ins_node *node = at == INS_NOBODY ? NULL : ins_graph_at(w->graph, at);

	if (!node || node->lock == INS_NOBODY || node->holder & FIB_HOLDER_THREAD)
		return node && node->to != INS_NOBODY ? node->holder : ins_wait_cause(row);
	return node->holder;
}

static void say(struct sentence *w, const char *text)
{
	ins_strbuf_text(&w->line, text);
}

static void say_number(struct sentence *w, const char *before, uint64_t number, const char *after)
{
	say(w, before);
	ins_strbuf_number(&w->line, number);
	say(w, after);
}

static void say_time(struct sentence *w, const char *before, int64_t ns, const char *after)
{
	char text[32];

	say(w, before);
	say(w, ins_duration_text(ns, text, sizeof text));
	say(w, after);
}

/* How long it has been in its state; of a thread that is not known. */
static void say_since(struct sentence *w, const struct ins_fiber *fiber, const char *since,
		      const char *now)
{
	if (fiber->flags & INS_FIBER_THREAD)
		say(w, now);
	else
		say_time(w, since, fiber->row.age, "");
}

static const char *noun(const struct sentence *w)
{
	return ins_words_rows(ins_table_summary(w->table));
}

/* fiber 88; thread 4711 */
static void say_row(struct sentence *w, uint64_t id)
{
	say(w, id & FIB_HOLDER_THREAD ? "thread" : noun(w));
	say_number(w, " ", ins_words_id(id), "");
}

/* fiber 88 "writer" */
static void say_fiber(struct sentence *w, uint64_t id)
{
	ssize_t at = ins_table_find(w->table, id);
	struct ins_fiber fiber;

	say_row(w, id);
	if (at < 0)
		return;
	ins_table_get(w->table, (size_t)at, &fiber);
	if (!fiber.row.name[0])
		return;
	say(w, " \"");
	ins_strbuf_quoted(&w->line, fiber.row.name);
	say(w, "\"");
}

/* The object of each kind of wait. Missing entries use the program's own word. */
static const char *const objects[FIB_WAIT_COUNT] = {
	[FIB_WAIT_PREDICATE] = "its predicate to become true",
	[FIB_WAIT_MUTEX] = "the mutex",
	[FIB_WAIT_RWLOCK_READ] = "a read lock on the rwlock",
	[FIB_WAIT_RWLOCK_WRITE] = "the write lock on the rwlock",
	[FIB_WAIT_COND] = "the condition variable",
	[FIB_WAIT_SEM] = "the semaphore",
	[FIB_WAIT_EVENT] = "the event",
	[FIB_WAIT_BARRIER] = "the others at the barrier",
	[FIB_WAIT_ONCE] = "the first call of the once",
	[FIB_WAIT_WAITGROUP] = "the waitgroup",
	[FIB_WAIT_GROUP] = "the fibers of the group",
	[FIB_WAIT_CHAN_SEND] = "space in the channel",
	[FIB_WAIT_CHAN_RECV] = "an element in the channel",
	[FIB_WAIT_SELECT] = "one of the cases of its select",
	[FIB_WAIT_TIMER] = "the timer",
	[FIB_WAIT_OFFLOAD] = "its call in an offload thread",
	[FIB_WAIT_OP] = "an operation of the kernel",
	[FIB_WAIT_PTHREAD_MUTEX] = "the pthread mutex",
	[FIB_WAIT_PTHREAD_COND] = "the pthread condition",
	[FIB_WAIT_PTHREAD_RWLOCK] = "the pthread rwlock",
	[FIB_WAIT_PTHREAD_SEM] = "the semaphore of <semaphore.h>",
	[FIB_WAIT_PTHREAD_BARRIER] = "the others at the pthread barrier",
	[FIB_WAIT_PTHREAD_ONCE] = "the first call of the pthread once",
	[FIB_WAIT_FUTEX] = "the futex",
};

/* the mutex "cfg" */
static void say_object(struct sentence *w, const struct ins_fiber *fiber)
{
	const struct fib_row *row = &fiber->row;
	char wait[256];

	if (row->wait_kind >= FIB_WAIT_COUNT || !objects[row->wait_kind]) {
		/* The holder is printed by this file. */
		struct ins_fiber bare = *fiber;

		bare.row.holder = 0;
		say(w, ins_words_wait(w->layout, &bare, false, wait, sizeof wait));
		return;
	}
	if (fib_row_polled(row)) {
		say_number(w, "one of ", fib_row_polled(row), " descriptors");
		say(w, row->object_name[0] ? ": " : "");
		ins_strbuf_escaped(&w->line, row->object_name);
		return;
	}
	say(w, objects[row->wait_kind]);
	if (row->object_name[0]) {
		say(w, " \"");
		ins_strbuf_quoted(&w->line, row->object_name);
		say(w, "\"");
	} else if (row->wait_object) {
		say(w, " at ");
		ins_strbuf_hex(&w->line, row->wait_object);
	}
}

static void say_left(struct sentence *w, const struct ins_fiber *fiber)
{
	const int64_t left = ins_fiber_left(fiber);

	if (left < 0)
		return;
	if (!left)
		say(w, ", and its deadline has passed");
	else if (fiber->row.wait_kind == FIB_WAIT_TIMER)
		say_time(w, ", which expires in ", left, "");
	else
		say_time(w,
			 fiber->row.wait_kind == FIB_WAIT_SLEEP ? ", and wakes in "
								: ", and times out in ",
			 left, "");
}

static void say_holder(struct sentence *w, const struct fib_row *row)
{
	bool thread = (row->holder & FIB_HOLDER_THREAD) != 0;

	if (!row->holder)
		return;
	say(w, ", which ");
	if (thread && ins_table_find(w->table, row->holder) < 0)
		say_number(w, "thread ", row->holder & ~FIB_HOLDER_THREAD, " (not a fiber)");
	else
		say_fiber(w, row->holder);
	say(w, row->wait_kind == FIB_WAIT_ONCE	    ? " makes"
	       : row->wait_kind == FIB_WAIT_OFFLOAD ? " runs"
						    : " holds");
}

/* Say who reads, or who waits to write, what a fiber waits for. */
static void say_readers(struct sentence *w, const struct fib_row *row)
{
	const size_t at = ins_graph_find(w->graph, row);
	const struct ins_read_lock *l = at == INS_NOBODY ? NULL : ins_graph_read_lock(w->graph, at);
	const struct ins_node *node;
	uint64_t others;

	if (!l || !cause_of(w, row))
		return;
	node = ins_graph_at(w->graph, at);
	if (row->wait_kind == FIB_WAIT_RWLOCK_READ) {
		say(w, ", behind ");
		say_fiber(w, node->holder);
		say(w, ", which waits to write");
		return;
	}
	others = ins_read_lock_holders(l) - 1;
	say(w, ", which ");
	say_fiber(w, node->holder);
	if (others)
		say_number(w, " and ", others, others == 1 ? " other" : " others");
	say(w, others ? " hold for reading" : " holds for reading");
}

static void say_wait(struct sentence *w, const struct ins_fiber *fiber, bool itself)
{
	const char *has_waited = itself ? "itself has waited " : "has waited ";
	const char *waits = itself ? "itself waits" : "waits";
	const struct fib_row *row = &fiber->row;

	switch (row->wait_kind) {
	case FIB_WAIT_NONE:
		say_since(w, fiber, "has been suspended for ", "is suspended");
		say(w, " for an unknown reason");
		return;
	case FIB_WAIT_SLEEP:
		say_since(w, fiber, "has slept for ", "sleeps");
		break;
	case FIB_WAIT_PINNED:
		say(w, "runs ");
		say_fiber(w, row->holder);
		break;
	case FIB_WAIT_PARK:
		say_time(w, "has been parked for ", row->age, " and waits for fiber_unpark()");
		break;
	case FIB_WAIT_JOIN:
		say_since(w, fiber, has_waited, waits);
		say(w, " to join ");
		if (ins_wait_cause(row))
			say_fiber(w, ins_wait_cause(row));
		else {
			say(w, "an unknown ");
			say(w, noun(w));
		}
		break;
	default:
		say_since(w, fiber, has_waited, waits);
		say(w, " for ");
		say_object(w, fiber);
		say_holder(w, row);
		say_readers(w, row);
		break;
	}
	say_left(w, fiber);
}

/* Which fiber occupies the only carrier that runs this one. */
static void say_carrier(struct sentence *w, const struct ins_fiber *fiber)
{
	const uint32_t carrier = fiber->row.bound - 1;
	size_t i, n = ins_table_count(w->table);
	struct ins_fiber other;

	say_time(w, "is runnable and has waited ", fiber->row.age, "");
	say_number(w, " for carrier ", carrier, ", to which it is bound");
	for (i = 0; i < n; i++) {
		ins_table_get(w->table, i, &other);
		if (other.row.state != FIBER_RUNNING || other.row.carrier != carrier ||
		    other.row.runtime != fiber->row.runtime)
			continue;
		say(w, "; ");
		say_fiber(w, other.row.id);
		say_time(w, " has run there for ", other.row.age, "");
		return;
	}
}

/* How many fibers are queued before it, and which fiber occupies a carrier longest. */
static void say_turn(struct sentence *w, const struct ins_fiber *fiber)
{
	size_t i, n = ins_table_count(w->table);
	struct ins_fiber other, longest = {.row = {.age = -1}};
	uint64_t longer = 0;

	if (fiber->row.bound) {
		say_carrier(w, fiber);
		return;
	}
	for (i = 0; i < n; i++) {
		ins_table_get(w->table, i, &other);
		if (other.row.id == fiber->row.id)
			continue;
		if (other.row.state == FIBER_RUNNABLE)
			longer += other.row.age > fiber->row.age;
		else if (other.row.state == FIBER_RUNNING && other.row.age > longest.row.age)
			longest = other;
	}
	say_time(w, "is runnable and has waited ", fiber->row.age, " for a carrier; ");
	if (longer)
		say_number(w, "", longer,
			   longer == 1 ? " other fiber has waited longer"
				       : " other fibers have waited longer");
	else
		say(w, "no other fiber has waited longer");
	if (longest.row.age < 0)
		return;
	say(w, "; ");
	say_fiber(w, longest.row.id);
	say_number(w, " has run longest, on carrier ", longest.row.carrier, "");
	say_time(w, " for ", longest.row.age, "");
}

static void say_running(struct sentence *w, const struct ins_fiber *fiber)
{
	const struct fib_row *row = &fiber->row;
	bool waits = row->wait_kind != FIB_WAIT_NONE;

	if (fiber->flags & INS_FIBER_THREAD) {
		say(w, "runs");
		return;
	}
	if (row->wait_kind == FIB_WAIT_PINNED) {
		say_number(w, "runs on carrier ", row->carrier,
			   " and sleeps in a call of its thread");
		return;
	}
	say(w, waits ? "is pinned and blocks" : "has run");
	if (row->carrier != FIB_ROW_CARRIER_NONE)
		say_number(w, waits ? " carrier " : " on carrier ", row->carrier, "");
	else if (waits)
		say(w, " its carrier");
	if (!waits) {
		say_time(w, " for ", row->age, "");
		return;
	}
	say(w, ": it ");
	say_wait(w, fiber, false);
}

/* What a fiber does, after its name. */
static void say_doing(struct sentence *w, const struct ins_fiber *fiber, bool itself)
{
	if (fiber->row.cancelled && fiber->row.state != FIBER_DEAD)
		say(w, fiber->row.flags & FIB_ROW_MASKED
			       ? "was asked to end (cancelled, but masked), and "
			       : "was asked to end (cancelled), and ");
	switch (fiber->row.state) {
	case FIBER_CREATED:
		say_time(w, "was created ", fiber->row.age, " ago and has not started");
		break;
	case FIBER_RUNNABLE:
		say_turn(w, fiber);
		break;
	case FIBER_RUNNING:
		say_running(w, fiber);
		break;
	case FIBER_SUSPENDED:
		say_wait(w, fiber, itself);
		break;
	case FIBER_DEAD:
		say_time(w, "exited ", fiber->row.age, " ago and waits to be joined");
		break;
	default:
		say(w, "is in an unknown state");
	}
}

/* The position of id in the chain, or -1. */
static int place_of(const struct sentence *w, uint64_t id)
{
	unsigned i;

	for (i = 0; i < w->count; i++)
		if (w->passed[i] == id)
			return (int)i;
	return -1;
}

static void say_circle(struct sentence *w, unsigned from)
{
	bool ends = false;
	unsigned i;

	for (i = from; i < w->count; i++)
		ends |= w->ends[i];
	say(w, ends ? ": a cycle, until one of its waits times out"
		    : ": a deadlock, see the command 'deadlock'");
}

static void pass(struct sentence *w, const struct ins_fiber *fiber)
{
	w->ends[w->count] = fiber->row.deadline != INT64_MAX;
	w->passed[w->count++] = fiber->row.id;
}

/*
 * Follow the rest of a long chain from that fiber: does it end, and where? The mark moves after 1,
 * 2, 4, ... steps, so a circle reaches it again (Brent).
 */
static void say_rest(struct sentence *w, uint64_t id)
{
	uint64_t mark = id, steps = 0, more = 1, far = 1;
	struct ins_fiber fiber;
	ssize_t at = ins_table_find(w->table, id);

	for (; at >= 0; more++) {
		ins_table_get(w->table, (size_t)at, &fiber);
		if (!cause_of(w, &fiber.row))
			break;
		id = cause_of(w, &fiber.row);
		at = ins_table_find(w->table, id);
		if (id == mark) {
			say(w, "; and so on, into a cycle: see the command 'deadlock'");
			return;
		}
		if (++steps == far) {
			mark = id;
			far *= 2;
			steps = 0;
		}
	}
	say(w, "; and so on to ");
	say_row(w, id);
	say_number(w, " after ", more, " more, which ");
	if (at < 0)
		say(w, "no longer exists");
	else
		say_doing(w, &fiber, true);
}

/* Follow the chain of causes from the fiber that was printed last. */
static void say_chain(struct sentence *w, struct ins_fiber *fiber)
{
	while (cause_of(w, &fiber->row)) {
		uint64_t id = cause_of(w, &fiber->row);
		int place = place_of(w, id);
		ssize_t at = ins_table_find(w->table, id);

		if (place >= 0) {
			say_circle(w, (unsigned)place);
			return;
		}
		if (w->count == INS_EXPLAIN_LINKS) {
			say_rest(w, id);
			return;
		}
		say(w, "; ");
		say_row(w, id);
		say(w, " ");
		if (at < 0) {
			say(w, "no longer exists");
			return;
		}
		ins_table_get(w->table, (size_t)at, fiber);
		say_doing(w, fiber, true);
		pass(w, fiber);
	}
}

const char *ins_explain(const struct ins_graph *graph, const struct fib_layout *layout,
			const struct ins_fiber *fiber, char *buf, size_t size)
{
	struct sentence w = {.graph = graph,
			     .table = ins_graph_table(graph),
			     .layout = layout,
			     .line = ins_strbuf(buf, size)};
	struct ins_fiber last = *fiber;

	say(&w, "It ");
	say_doing(&w, fiber, false);
	pass(&w, fiber);
	say_chain(&w, &last);
	say(&w, ".");
	return buf;
}
