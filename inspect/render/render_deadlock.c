/* SPDX-License-Identifier: MIT */
/* render_deadlock.c - print deadlocks in words and as JSON */
#include "inspect/render/render_holder.h"
#include "inspect/render/render_deadlock.h"
#include "inspect/render/render_holders.h"

#include <inttypes.h>

#include "inspect/model/call_names.h"
#include "inspect/render/render_waits.h"
#include "inspect/text/duration.h"
#include "inspect/text/escape.h"

static struct ins_table *table_of(const struct ins_deadlocks *found)
{
	return ins_graph_table(ins_deadlocks_graph(found));
}

static const char *noun(const struct ins_deadlocks *found)
{
	return ins_words_rows(ins_table_summary(table_of(found)));
}

static void fiber_of(const struct ins_deadlocks *found, const struct ins_deadlock *d, size_t i,
		     struct ins_fiber *ret)
{
	ins_table_get(table_of(found), d->fibers[i], ret);
}

/* The index of the holder of the first fiber's object, or INS_NOBODY. */
static size_t holder_at(const struct ins_deadlocks *found, const struct ins_deadlock *d)
{
	return ins_graph_at(ins_deadlocks_graph(found), d->fibers[0])->to;
}

/* ns until the earliest deadline. */
static int64_t left(const struct ins_deadlocks *found, const struct ins_deadlock *d)
{
	struct ins_fiber fiber;
	int64_t ns;

	fiber_of(found, d, 0, &fiber);
	if (__builtin_sub_overflow(d->deadline, fiber.now, &ns))
		return d->deadline < 0 ? 0 : INT64_MAX;
	return ns < 0 ? 0 : ns;
}

static const char *word(const struct ins_deadlock *d)
{
	if (d->lasting)
		return "deadlock";
	if (d->kind == INS_DEADLOCK_THREAD)
		return "thread";
	return d->deadline != INT64_MAX ? "timed" : "suspect";
}

static void put_fiber(FILE *out, const struct ins_fiber *fiber)
{
	char name[sizeof fiber->row.name * 4];

	fprintf(out, "%s %" PRIu64 " \"%s\"", ins_words_row(fiber->flags),
		ins_words_id(fiber->row.id), ins_escape_quoted(fiber->row.name, name, sizeof name));
}

static void put_lock(FILE *out, const struct fib_layout *layout, const struct ins_deadlocks *found,
		     const struct ins_deadlock *d, pid_t pid)
{
	char wait[256], holder[256];
	struct ins_fiber fiber;

	fiber_of(found, d, 0, &fiber);
	fiber.row.holder = 0; /* printed separately */
	fprintf(out, "%s is held by %s", ins_words_wait(layout, &fiber, true, wait, sizeof wait),
		ins_words_holder(table_of(found), d->holder, holder_at(found, d), pid, holder,
				 sizeof holder));
	if (d->kind == INS_DEADLOCK_THREAD)
		fputs(", which is no fiber", out);
	fprintf(out, "; %zu %s%s for it", d->count, noun(found),
		d->count == 1 ? " waits" : "s wait");
}

static void put_ancestor(FILE *out, const struct ins_deadlocks *found, const struct ins_deadlock *d)
{
	struct ins_fiber fiber;

	fiber_of(found, d, 0, &fiber);
	put_fiber(out, &fiber);
	fputs(" joins its ancestor ", out);
	fiber_of(found, d, 1, &fiber);
	put_fiber(out, &fiber);
	fputs(d->lasting ? ", whose descendants all wait for it or cannot go on either"
			 : ", which may go on",
	      out);
}

/* "3 fibers", "1 fiber and 2 threads" */
static void put_members(FILE *out, const struct ins_deadlocks *found, const struct ins_deadlock *d)
{
	const size_t threads = ins_deadlocks_threads(found, d), fibers = d->count - threads;

	if (fibers)
		fprintf(out, "%zu fiber%s", fibers, fibers == 1 ? "" : "s");
	if (threads)
		fprintf(out, "%s%zu thread%s", fibers ? " and " : "", threads,
			threads == 1 ? "" : "s");
}

static void put_all_wait(FILE *out, size_t fibers)
{
	if (fibers == 1)
		fputs("the only fiber waits", out);
	else
		fprintf(out, "all %zu fibers wait", fibers);
}

/* ", and 3 fibers wait behind them". With threads in the graph, these may be among them. */
static void put_behind(FILE *out, const struct ins_deadlocks *found, const struct ins_deadlock *d)
{
	const struct ins_graph *graph = ins_deadlocks_graph(found);
	const bool mixed = ins_graph_fibers(graph) < ins_graph_count(graph);

	fprintf(out, ", and %" PRIu64 " ", d->behind);
	if (mixed && !ins_table_summary(table_of(found))->threads)
		fputs(d->behind == 1 ? "fiber or thread waits" : "fibers and threads wait", out);
	else
		fprintf(out, "%s%s", noun(found), d->behind == 1 ? " waits" : "s wait");
	fprintf(out, " behind %s", d->count == 1 ? "it" : "them");
}

void ins_text_deadlock(FILE *out, const struct fib_layout *layout,
		       const struct ins_deadlocks *found, const struct ins_deadlock *d, pid_t pid)
{
	struct ins_fiber fiber;
	char text[32];

	fprintf(out, "%s: ", word(d));
	switch (d->kind) {
	case INS_DEADLOCK_CYCLE:
		put_members(out, found, d);
		fprintf(out, " wait for each other%s", d->ring ? " in a cycle" : "");
		break;
	case INS_DEADLOCK_SELF:
		fiber_of(found, d, 0, &fiber);
		put_fiber(out, &fiber);
		fputs(" waits for what it holds itself", out);
		break;
	case INS_DEADLOCK_ANCESTOR:
		put_ancestor(out, found, d);
		break;
	case INS_DEADLOCK_STILL:
		put_all_wait(out, d->count);
		fputs(", and nothing is left that could wake one: no timer, no descriptor and no "
		      "thread",
		      out);
		break;
	case INS_DEADLOCK_ORPHAN:
	case INS_DEADLOCK_THREAD:
		put_lock(out, layout, found, d, pid);
		break;
	}
	if (d->deadline != INT64_MAX)
		fprintf(out, ", until a deadline in %s",
			ins_duration_text(left(found, d), text, sizeof text));
	if (d->doubted)
		fputs(", but these rows may be of two moments", out);
	if (d->behind)
		put_behind(out, found, d);
	fputc('\n', out);
}

/* "pause", or the number of an unknown call; NULL: in no call, or not known. Returns buf. */
static const char *call_of(const struct ins_thread_stack *stack, char *buf, size_t size)
{
	const char *name = ins_call_name(stack->call);

	if (stack->call < 0)
		return NULL;
	if (name)
		snprintf(buf, size, "%s", name);
	else
		snprintf(buf, size, "%" PRId64, stack->call);
	return buf;
}

void ins_text_thread(FILE *out, const struct ins_thread_stack *stack, struct ins_symbols *symbols,
		     const struct ins_walk *walk, pid_t pid)
{
	const uint64_t holder = stack->tid | FIB_HOLDER_THREAD;
	char who[256], call[32];

	fputs(ins_words_holder(NULL, holder, INS_NOBODY, pid, who, sizeof who), out);
	if (call_of(stack, call, sizeof call))
		fprintf(out, " [in system call %s]", call);
	else if (stack->call == -1)
		fputs(" [in no system call]", out);
	else if (stack->state == FIB_WIRE_THREAD_RUNS)
		fputs(" [running]", out);
	fputc('\n', out);
	ins_text_frames(out, symbols, walk);
}

void ins_text_deadlocks_end(FILE *out, const struct ins_deadlocks *found, unsigned readings)
{
	size_t lasting = ins_deadlocks_lasting(found);
	size_t others = ins_deadlocks_count(found) - lasting;

	if (lasting)
		fprintf(out, "%zu deadlock%s", lasting, lasting == 1 ? "" : "s");
	else
		fputs("no deadlock", out);
	if (others)
		fprintf(out, ", and %zu that may come to an end", others);
	if (ins_deadlocks_count(found) && readings > 1)
		fprintf(out, "; unchanged in %u readings", readings);
	fputc('\n', out);
}

/* "2 read locks" */
static void put_unfollowed(FILE *out, const struct fib_layout *layout, unsigned kind,
			   uint64_t count)
{
	static const char *const names[][2] = {
		[FIB_WAIT_PARK] = {"park", "parks"},
		[FIB_WAIT_PREDICATE] = {"predicate", "predicates"},
		[FIB_WAIT_JOIN] = {"join", "joins"},
		[FIB_WAIT_MUTEX] = {"mutex", "mutexes"},
		[FIB_WAIT_RWLOCK_READ] = {"read lock", "read locks"},
		[FIB_WAIT_RWLOCK_WRITE] = {"write lock", "write locks"},
		[FIB_WAIT_COND] = {"condition", "conditions"},
		[FIB_WAIT_SEM] = {"semaphore", "semaphores"},
		[FIB_WAIT_EVENT] = {"event", "events"},
		[FIB_WAIT_BARRIER] = {"barrier", "barriers"},
		[FIB_WAIT_ONCE] = {"once", "onces"},
		[FIB_WAIT_WAITGROUP] = {"waitgroup", "waitgroups"},
		[FIB_WAIT_GROUP] = {"group", "groups"},
		[FIB_WAIT_CHAN_SEND] = {"channel send", "channel sends"},
		[FIB_WAIT_CHAN_RECV] = {"channel receive", "channel receives"},
		[FIB_WAIT_SELECT] = {"select", "selects"},
		[FIB_WAIT_PTHREAD_MUTEX] = {"pthread mutex", "pthread mutexes"},
		[FIB_WAIT_PTHREAD_COND] = {"pthread condition", "pthread conditions"},
		[FIB_WAIT_PTHREAD_RWLOCK] = {"pthread rwlock", "pthread rwlocks"},
		[FIB_WAIT_PTHREAD_SEM] = {"pthread semaphore", "pthread semaphores"},
		[FIB_WAIT_PTHREAD_BARRIER] = {"pthread barrier", "pthread barriers"},
		[FIB_WAIT_PTHREAD_ONCE] = {"pthread once", "pthread onces"},
		[FIB_WAIT_FUTEX] = {"futex", "futexes"},
	};
	char word[64];

	fprintf(out, "%" PRIu64 " ", count);
	if (kind < sizeof names / sizeof names[0] && names[kind][0])
		fputs(names[kind][count != 1], out);
	else
		fputs(ins_escape(ins_words_wait_kind(layout, kind), word, sizeof word), out);
}

void ins_text_stillness(FILE *out, const struct ins_confirmed *confirmed)
{
	const size_t fibers = ins_graph_fibers(confirmed->graph);
	const int64_t threads = confirmed->still.threads;

	if (!confirmed->still.all_wait || threads <= 0 ||
	    !ins_deadlocks_unexplained(confirmed->found))
		return;
	put_all_wait(out, fibers);
	fprintf(out, "; only %" PRId64 " thread%s that %s no fiber could wake one\n", threads,
		threads == 1 ? "" : "s", threads == 1 ? "is" : "are");
}

void ins_text_unfollowed(FILE *out, const struct fib_layout *layout,
			 const struct ins_unfollowed *unfollowed)
{
	const char *before = "not followed: ";
	unsigned kind;

	for (kind = 0; kind <= UINT8_MAX; kind++) {
		if (!unfollowed->count[kind])
			continue;
		fputs(before, out);
		put_unfollowed(out, layout, kind, unfollowed->count[kind]);
		before = ", ";
	}
	if (before[0] == ',')
		fputc('\n', out);
}

/* -- JSON -- */

static json_t *number(uint64_t n)
{
	return json_integer((json_int_t)n);
}

static json_t *lock_object(const struct fib_layout *layout, const struct ins_deadlocks *found,
			   const struct ins_deadlock *d, pid_t pid)
{
	struct ins_fiber fiber;
	json_t *ret;

	if (d->kind != INS_DEADLOCK_ORPHAN && d->kind != INS_DEADLOCK_THREAD)
		return json_null();
	fiber_of(found, d, 0, &fiber);
	ret = json_pack(
		"{s:o, s:o, s:o}", "kind",
		ins_json_text(ins_words_wait_kind(layout, fiber.row.wait_kind)), "object",
		fiber.row.wait_object ? ins_json_address(fiber.row.wait_object) : json_null(),
		"objectName",
		fiber.row.object_name[0] ? ins_json_text(fiber.row.object_name) : json_null());
	if (ret &&
	    !ins_json_holder(ret, layout, table_of(found), d->holder, holder_at(found, d), pid)) {
		json_decref(ret);
		return NULL;
	}
	return ret;
}

json_t *ins_json_deadlock(const struct fib_layout *layout, const struct ins_deadlocks *found,
			  const struct ins_deadlock *d, pid_t pid, json_t *fibers, json_t *thread)
{
	static const char *const kinds[] = {
		[INS_DEADLOCK_CYCLE] = "cycle",		 [INS_DEADLOCK_SELF] = "self-lock",
		[INS_DEADLOCK_ORPHAN] = "dead-holder",	 [INS_DEADLOCK_ANCESTOR] = "join-ancestor",
		[INS_DEADLOCK_THREAD] = "thread-holder", [INS_DEADLOCK_STILL] = "all-wait",
	};
	bool timed = d->deadline != INT64_MAX;

	return json_pack(
		"{s:s, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "kind", kinds[d->kind],
		"deadlock", d->lasting, "count", number(d->count), "behind", number(d->behind),
		"deadlineNs", timed ? json_integer(d->deadline) : json_null(), "leftNs",
		timed ? json_integer(left(found, d)) : json_null(), "lock",
		lock_object(layout, found, d, pid), "fiberIds",
		ins_json_ids(ins_deadlocks_graph(found), d->fibers, d->count, false), "threadIds",
		ins_json_ids(ins_deadlocks_graph(found), d->fibers, d->count, true), "fibers",
		fibers, "thread", thread);
}

json_t *ins_json_unfollowed(const struct fib_layout *layout,
			    const struct ins_unfollowed *unfollowed)
{
	json_t *ret = json_object();
	unsigned kind;

	for (kind = 0; ret && kind <= UINT8_MAX; kind++) {
		json_t *word = ins_json_text(ins_words_wait_kind(layout, kind));
		const char *key = json_string_value(word);
		const uint64_t count = unfollowed->count[kind];

		/* All kinds of a later version share one key. */
		if (count &&
		    (!key ||
		     json_object_set_new(ret, key,
					 number(count + (uint64_t)json_integer_value(
								json_object_get(ret, key)))) < 0)) {
			json_decref(ret);
			ret = NULL;
		}
		json_decref(word);
	}
	return ret;
}

json_t *ins_json_thread(const struct ins_thread_stack *stack, struct ins_symbols *symbols,
			const struct ins_walk *walk)
{
	char call[32];

	return json_pack("{s:o, s:o, s:o, s:o, s:b, s:o}", "tid", number(stack->tid), "systemCall",
			 ins_json_text(call_of(stack, call, sizeof call)), "frames",
			 ins_json_frames(symbols, walk), "framesLeftOut", number(walk->left),
			 "truncated", walk->truncated, "why",
			 ins_json_text(walk->reason[0] ? walk->reason : NULL));
}
