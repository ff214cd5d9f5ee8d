/* SPDX-License-Identifier: MIT */
/* ancestry.c - ancestors and descendants of each fiber */
#include "inspect/waits/ancestry.h"

#include <errno.h>
#include <stdlib.h>

struct ins_ancestry {
	size_t count;
	size_t *place; /* number of fiber i; INS_NOBODY: its parents form a circle */
	size_t *end;   /* number after the last descendant of fiber i */
	size_t *marks; /* by place; if counted: sum of all places up to it */
	bool counted;
};

/* Children of each fiber as lists. */
struct family {
	size_t *parent, *child, *sibling;
};

void ins_ancestry_free(struct ins_ancestry *ancestry)
{
	if (!ancestry)
		return;
	free(ancestry->place);
	free(ancestry->end);
	free(ancestry->marks);
	free(ancestry);
}

static void gather(const struct ins_graph *graph, struct family *f, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		f->child[i] = INS_NOBODY;
	for (i = count; i-- > 0;) {
		uint64_t id = ins_graph_at(graph, i)->parent;
		ssize_t at = id ? ins_table_find(ins_graph_table(graph), id) : -1;

		f->parent[i] = at < 0 ? INS_NOBODY : (size_t)at;
		f->sibling[i] = INS_NOBODY;
		if (at < 0)
			continue;
		f->sibling[i] = f->child[at];
		f->child[at] = i;
	}
}

/*
 * Number a fiber and its descendants. Not recursive, because a chain may be as long as the table.
 */
static void number(struct ins_ancestry *a, const struct family *f, size_t top, size_t *next)
{
	size_t at = top;

	for (;;) {
		a->place[at] = (*next)++;
		if (f->child[at] != INS_NOBODY) {
			at = f->child[at];
			continue;
		}
		a->end[at] = *next;
		while (at != top && f->sibling[at] == INS_NOBODY) {
			at = f->parent[at];
			a->end[at] = *next;
		}
		if (at == top)
			return;
		at = f->sibling[at];
	}
}

static int make(struct ins_ancestry *a, const struct ins_graph *graph)
{
	size_t bytes = (a->count + 1) * sizeof(size_t), next = 0, i;
	struct family f = {malloc(bytes), malloc(bytes), malloc(bytes)};
	int rc = -ENOMEM;

	if (f.parent && f.child && f.sibling) {
		gather(graph, &f, a->count);
		for (i = 0; i < a->count; i++)
			a->place[i] = INS_NOBODY;
		for (i = 0; i < a->count; i++)
			if (f.parent[i] == INS_NOBODY)
				number(a, &f, i, &next);
		rc = 0;
	}
	free(f.parent);
	free(f.child);
	free(f.sibling);
	return rc;
}

int ins_ancestry_new(const struct ins_graph *graph, struct ins_ancestry **ret)
{
	struct ins_ancestry *a = calloc(1, sizeof *a);
	int rc = -ENOMEM;

	*ret = NULL;
	if (!a)
		return rc;
	a->count = ins_graph_count(graph);
	a->place = calloc(a->count + 1, sizeof *a->place);
	a->end = calloc(a->count + 1, sizeof *a->end);
	a->marks = calloc(a->count + 1, sizeof *a->marks);
	if (a->place && a->end && a->marks)
		rc = make(a, graph);
	if (rc < 0)
		ins_ancestry_free(a);
	else
		*ret = a;
	return rc;
}

bool ins_ancestry_descends(const struct ins_ancestry *a, size_t i, size_t from)
{
	if (a->place[i] == INS_NOBODY || a->place[from] == INS_NOBODY)
		return false;
	return a->place[i] > a->place[from] && a->place[i] < a->end[from];
}

void ins_ancestry_mark(struct ins_ancestry *a, size_t i)
{
	if (a->place[i] != INS_NOBODY)
		a->marks[a->place[i]] = 1;
}

size_t ins_ancestry_marked(struct ins_ancestry *a, size_t i)
{
	size_t k;

	for (k = 1; !a->counted && k < a->count; k++)
		a->marks[k] += a->marks[k - 1];
	a->counted = true;
	if (a->place[i] == INS_NOBODY)
		return 0;
	return a->marks[a->end[i] - 1] - a->marks[a->place[i]];
}
