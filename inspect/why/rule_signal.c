/* SPDX-License-Identifier: MIT */
/*
 * rule_signal.c - fibers that wait for a signal, and the only fiber that ever sent one has ended
 *
 * A condition, semaphore or event records who signals it: none yet, one fiber alone, or several fibers
 * or a thread (FIB_TOUCHER_SEVERAL). Fibers are reported that wait for it without a deadline, for long,
 * in the same wait in both readings, if one fiber alone has signalled it and has ended before the
 * first reading. A fiber that has exited and is not joined yet has ended too.
 *
 * What it cannot know: whether another fiber will begin to signal the object. A pool of workers whose
 * first and only client has gone looks the same as one whose producer has died, so this is no more
 * than suspicious. An object that was never signalled is not reported, since idle servers start like
 * that; nor one that several signalled, since of those it is not known who they were.
 *
 * Objects record the low half of an id. A living fiber with the same half hides the fault. Only if ids
 * beyond 2^32 were given, the report does not name the fiber.
 */
#include "inspect/why/collect.h"

#include <errno.h>
#include <stdlib.h>

#include <fiber/fiber.h>

#include "inspect/text/duration.h"

/* A fiber that may have the fault. */
struct waiter {
	uint64_t object;
	int64_t age;
	size_t at; /* in the table */
	uint32_t toucher;
};

/* The low halves of the ids of fibers that are alive in a reading, sorted. */
struct alive {
	uint32_t *low;
	size_t count;
};

static bool is_signalled(unsigned wait_kind)
{
	return wait_kind == FIB_WAIT_COND || wait_kind == FIB_WAIT_SEM ||
	       wait_kind == FIB_WAIT_EVENT;
}

/* Whether the object of a fiber that stayed had the same toucher in the earlier reading. */
static bool was_touched(const struct ins_look *look, const struct ins_fiber *fiber)
{
	struct ins_fiber before;
	ssize_t at;

	if (look->single)
		return true;
	at = ins_table_find(look->earlier.table, fiber->row.id);
	if (at < 0)
		return false;
	ins_table_get(look->earlier.table, (size_t)at, &before);
	return before.row.toucher == fiber->row.toucher;
}

static bool may_have_it(const struct ins_look *look, const struct ins_fiber *fiber)
{
	const struct fib_row *row = &fiber->row;

	return is_signalled(row->wait_kind) && row->toucher &&
	       row->toucher != FIB_TOUCHER_SEVERAL && ins_look_waits(fiber) &&
	       ins_look_knows_age(fiber) && row->deadline == INT64_MAX &&
	       row->age >= INS_LOOK_LONG && ins_look_stayed(look, fiber) &&
	       was_touched(look, fiber);
}

/* By object, of one object by toucher, the longest wait first. */
static int by_object(const void *a, const void *b)
{
	const struct waiter *x = a, *y = b;

	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	if (x->toucher != y->toucher)
		return x->toucher < y->toucher ? -1 : 1;
	if (x->age != y->age)
		return x->age > y->age ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* -ENOMEM; *ret: NULL if there are none. */
static int find_waiters(const struct ins_look *look, struct waiter **ret, size_t *ret_count)
{
	const size_t n = ins_look_count(look);
	struct ins_fiber fiber;
	size_t i, room = 0;

	*ret = NULL;
	*ret_count = 0;
	for (i = 0; i < n; i++) {
		const struct ins_node *node = ins_graph_at(look->last.graph, i);

		/* Most fibers need not be looked at more closely. */
		if (!is_signalled(node->kind) || node->age < INS_LOOK_LONG)
			continue;
		ins_look_get(look, i, &fiber);
		if (!may_have_it(look, &fiber))
			continue;
		if (*ret_count == room) {
			struct waiter *more = realloc(*ret, (room * 2 + 64) * sizeof *more);

			if (!more)
				return -ENOMEM;
			*ret = more;
			room = room * 2 + 64;
		}
		(*ret)[(*ret_count)++] =
			(struct waiter){fiber.row.wait_object, fiber.row.age, i, fiber.row.toucher};
	}
	if (*ret_count)
		qsort(*ret, *ret_count, sizeof **ret, by_object);
	return 0;
}

static int by_number(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* graph NULL: none is alive. -ENOMEM. */
static int find_alive(const struct ins_graph *graph, struct alive *ret)
{
	const size_t n = graph ? ins_graph_fibers(graph) : 0;
	bool sorted = true;
	size_t i;

	*ret = (struct alive){malloc((n + 1) * sizeof *ret->low), 0};
	if (!ret->low)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		const struct ins_node *node = ins_graph_at(graph, i);

		if (node->dead)
			continue;
		ret->low[ret->count++] = (uint32_t)node->id;
		sorted = sorted &&
			 (ret->count < 2 || ret->low[ret->count - 2] < ret->low[ret->count - 1]);
	}
	if (!sorted)
		qsort(ret->low, ret->count, sizeof *ret->low, by_number);
	return 0;
}

static bool is_alive(const struct alive *alive, uint32_t low)
{
	return alive->count &&
	       bsearch(&low, alive->low, alive->count, sizeof low, by_number) != NULL;
}

/* Report the waiters of each object whose only toucher is in neither reading. */
static int report(const struct waiter *waiters, size_t count, const struct alive alive[2],
		  struct ins_findings *ret)
{
	size_t i, n;

	for (i = 0; i < count; i += n) {
		const struct waiter *first = &waiters[i];
		struct ins_finding *f;

		for (n = 1; i + n < count && first[n].object == first->object &&
			    first[n].toucher == first->toucher;)
			n++;
		if (is_alive(&alive[0], first->toucher) || is_alive(&alive[1], first->toucher))
			continue;
		f = ins_findings_add(ret, &ins_rule_signal, INS_SLOW);
		if (!f)
			return -ENOMEM;
		f->fibers = f->weight = n;
		f->subject = first->at;
	}
	return 0;
}

static int find(struct ins_look *look, struct ins_findings *ret)
{
	struct alive alive[2] = {{NULL, 0}, {NULL, 0}};
	struct waiter *waiters;
	size_t count;
	int rc = find_waiters(look, &waiters, &count);

	/* The toucher may be among the fibers that could not be read. */
	if (rc == 0 && count && !look->source->partial) {
		rc = find_alive(look->earlier.graph, &alive[0]);
		if (rc == 0)
			rc = find_alive(look->last.graph, &alive[1]);
		if (rc == 0)
			rc = report(waiters, count, alive, ret);
	}
	free(alive[0].low);
	free(alive[1].low);
	free(waiters);
	return rc;
}

/* The lowest ids of the fibers of the finding. */
static void collect_ids(const struct ins_look *look, const struct ins_fiber *longest,
			struct ins_finding *f)
{
	const size_t n = ins_look_count(look);
	struct ins_fiber fiber;
	size_t i;

	for (i = 0; i < n; i++) {
		if (ins_graph_at(look->last.graph, i)->object != longest->row.wait_object)
			continue;
		ins_look_get(look, i, &fiber);
		if (fiber.row.toucher == longest->row.toucher && may_have_it(look, &fiber))
			ins_sample_lowest(&f->ids, fiber.row.id);
	}
}

static const char *done_to(unsigned wait_kind)
{
	if (wait_kind == FIB_WAIT_SEM)
		return "posted";
	return wait_kind == FIB_WAIT_EVENT ? "set" : "signalled";
}

/* Whether no fiber can have had another id with the same low half. */
static bool are_ids_short(const struct ins_look *look)
{
	const struct ins_graph *graph = look->last.graph;
	const size_t n = ins_graph_fibers(graph);

	return !n || ins_graph_at(graph, n - 1)->id <= UINT32_MAX;
}

/* only fiber 7 "producer" ever signalled it, and fiber 7 has ended */
static void say_toucher(const struct ins_look *look, const struct ins_fiber *waiter,
			struct ins_strbuf *line)
{
	const char *done = done_to(waiter->row.wait_kind);
	struct ins_fiber toucher = {.row = {.id = waiter->row.toucher}};
	ssize_t at;

	if (!are_ids_short(look)) {
		ins_strbuf_text(line, "only one fiber ever ");
		ins_strbuf_text(line, done);
		ins_strbuf_text(line, " it, and that fiber has ended");
		return;
	}
	at = ins_table_find(look->last.table, toucher.row.id);
	if (at >= 0) /* it is not joined yet, and still has its name */
		ins_look_get(look, (size_t)at, &toucher);
	ins_strbuf_text(line, "only ");
	ins_look_say_fiber(&toucher, line);
	ins_strbuf_text(line, " ever ");
	ins_strbuf_text(line, done);
	ins_strbuf_text(line, " it, and fiber ");
	ins_strbuf_number(line, toucher.row.id);
	ins_strbuf_text(line, " has ended");
}

static void say(struct ins_look *look, struct ins_finding *f)
{
	struct ins_strbuf line = ins_finding_headline(f);
	struct ins_fiber longest;

	ins_look_get(look, f->subject, &longest);
	collect_ids(look, &longest, f);
	ins_look_say_count(&line, f->fibers, "fiber waits", "fibers wait");
	ins_strbuf_text(&line, " for ");
	ins_look_say_object(look, &longest, &line);
	ins_strbuf_text(&line, f->fibers > 1 ? ", longest " : " for ");
	ins_duration_say(&line, longest.row.age);
	ins_strbuf_text(&line, ": ");
	say_toucher(look, &longest, &line);
	ins_collect_say(look, &longest, f);
	line = ins_finding_line(f);
	ins_strbuf_text(&line, "no living fiber and no thread has ever ");
	ins_strbuf_text(&line, done_to(longest.row.wait_kind));
	ins_strbuf_text(&line, f->fibers > 1 ? " it: unless one starts to, they wait for ever"
					     : " it: unless one starts to, it waits for ever");
}

const struct ins_rule ins_rule_signal = {"signal",
					 "waits for a signal that only a fiber sent that has ended",
					 find, say, INS_NEEDS_ONE};
