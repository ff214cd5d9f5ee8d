/* SPDX-License-Identifier: MIT */
/*
 * components.c - the strongly connected components of a directed graph
 *
 * Tarjan, "Depth-first search and linear graph algorithms", 1972. A path may be as long as the
 * graph, so the search keeps its own stack instead of recursing.
 */
#include "inspect/waits/components.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NONE SIZE_MAX

struct search {
	const struct ins_edges *edges;
	const bool *without;
	struct ins_components *found;
	size_t *order;	 /* when each node was reached, from 1; 0: not yet */
	size_t *low;	 /* the earliest node on the stack that is known to be reachable */
	size_t *next;	 /* the next edge of each node */
	size_t *caller;	 /* from which node it was reached */
	size_t *pending; /* reached, and in no component yet */
	size_t pending_count, reached;
};

static void reach(struct search *s, size_t node, size_t caller)
{
	s->order[node] = s->low[node] = ++s->reached;
	s->next[node] = s->edges->first[node];
	s->caller[node] = caller;
	s->pending[s->pending_count++] = node;
	s->found->steps++;
}

static void take_low(struct search *s, size_t node, size_t low)
{
	if (low < s->low[node])
		s->low[node] = low;
}

/* All edges of node were followed, and it reaches no earlier pending node: it ends a component. */
static void close_component(struct search *s, size_t node)
{
	struct ins_components *c = s->found;
	size_t at, n = 0;

	do {
		at = s->pending[--s->pending_count];
		c->of[at] = c->count;
		n++;
	} while (at != node);
	if (n > 1)
		c->round[c->count] = true;
	c->count++;
}

/* Follow one edge. Returns the node to go on with. */
static size_t follow(struct search *s, size_t node)
{
	const size_t to = s->edges->to[s->next[node]++];

	s->found->steps++;
	if (s->without && s->without[to])
		return node;
	if (!s->order[to]) {
		reach(s, to, node);
		return to;
	}
	if (s->found->of[to] == NONE)
		take_low(s, node, s->order[to]);
	return node;
}

static bool leads_to_itself(const struct ins_edges *edges, size_t node)
{
	size_t i;

	for (i = edges->first[node]; i < edges->first[node + 1]; i++)
		if (edges->to[i] == node)
			return true;
	return false;
}

static void search_from(struct search *s, size_t start)
{
	size_t node = start, caller;

	reach(s, start, NONE);
	while (node != NONE) {
		if (s->next[node] < s->edges->first[node + 1]) {
			node = follow(s, node);
			continue;
		}
		caller = s->caller[node];
		if (s->low[node] == s->order[node]) {
			if (leads_to_itself(s->edges, node))
				s->found->round[s->found->count] = true;
			close_component(s, node);
		} else {
			take_low(s, caller, s->low[node]);
		}
		node = caller;
	}
}

int ins_components_find(const struct ins_edges *edges, const bool *without,
			struct ins_components *ret)
{
	const size_t n = edges->count + 1;
	struct search s = {edges,
			   without,
			   ret,
			   calloc(n, sizeof(size_t)),
			   calloc(n, sizeof(size_t)),
			   calloc(n, sizeof(size_t)),
			   calloc(n, sizeof(size_t)),
			   calloc(n, sizeof(size_t)),
			   0,
			   0};
	size_t i;
	int rc = -ENOMEM;

	memset(ret, 0, sizeof *ret);
	ret->of = calloc(n, sizeof *ret->of);
	ret->round = calloc(n, sizeof *ret->round);
	if (s.order && s.low && s.next && s.caller && s.pending && ret->of && ret->round) {
		for (i = 0; i < edges->count; i++)
			ret->of[i] = NONE;
		for (i = 0; i < edges->count; i++)
			if (!s.order[i] && !(without && without[i]))
				search_from(&s, i);
		rc = 0;
	}
	free(s.order);
	free(s.low);
	free(s.next);
	free(s.caller);
	free(s.pending);
	return rc;
}

void ins_components_free(struct ins_components *components)
{
	free(components->of);
	free(components->round);
}
