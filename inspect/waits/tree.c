/* SPDX-License-Identifier: MIT */
/*
 * tree.c - the tree of parents and children
 *
 * A hundred thousand fibers may form one chain, so nothing here is recursive: a place has links to
 * its parent, first child and next sibling, and traversal follows these links.
 *
 * Every fiber is in exactly one list: its parent's or that of the roots. A circle of parents would
 * not be reachable from any root. So circles are found first, and each is cut at one fiber.
 */
#include "inspect/waits/tree.h"

#include <errno.h>
#include <stdlib.h>

#define NONE UINT32_MAX

struct place {
	uint32_t parent, child, next; /* index or NONE */
	uint32_t children;
	uint32_t climb; /* while circles are searched: the fiber that came here first, + 1 */
	uint32_t kind;	/* enum ins_tree_kind */
};

struct ins_tree {
	struct place *at;
	uint32_t count;
	uint32_t top;	/* the first root */
	uint32_t where; /* the last place that was returned; NONE: none yet */
	uint64_t depth; /* of `where` */
};

struct orphan {
	uint64_t parent;
	uint32_t index;
};

static uint64_t parent_id(struct ins_table *table, uint32_t i)
{
	struct ins_fiber fiber;

	ins_table_get(table, i, &fiber);
	return fiber.row.parent;
}

static void find_parents(struct ins_tree *t, struct ins_table *table)
{
	uint32_t i;

	for (i = 0; i < t->count; i++) {
		uint64_t id = parent_id(table, i);
		ssize_t parent = id ? ins_table_find(table, id) : -1;

		t->at[i] = (struct place){.parent = NONE, .child = NONE, .next = NONE};
		if (parent >= 0)
			t->at[i].parent = (uint32_t)parent;
		t->at[i].kind = !id ? INS_TREE_ROOT : parent < 0 ? INS_TREE_ORPHAN : INS_TREE_CHILD;
	}
}

/*
 * Climb from every fiber until a fiber that was visited before. If this climb visited it, it is in
 * a circle.
 */
static void cut_circles(struct ins_tree *t)
{
	uint32_t i, at, up;

	for (i = 0; i < t->count; i++) {
		for (at = i; at != NONE && !t->at[at].climb; at = up) {
			t->at[at].climb = i + 1;
			up = t->at[at].parent;
			if (up == NONE || t->at[up].climb != i + 1)
				continue;
			t->at[up].parent = NONE;
			t->at[up].kind = INS_TREE_CIRCLE;
		}
	}
}

static int by_parent(const void *a, const void *b)
{
	const struct orphan *x = a, *y = b;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static void put_at_top(struct ins_tree *t, uint32_t i)
{
	t->at[i].next = t->top;
	t->top = i;
}

/* Backwards, because each fiber becomes the head of its list. */
static void link_kind(struct ins_tree *t, enum ins_tree_kind kind)
{
	uint32_t i = t->count, parent;

	while (i-- > 0) {
		if (t->at[i].kind != (uint32_t)kind)
			continue;
		if (kind != INS_TREE_CHILD) {
			put_at_top(t, i);
			continue;
		}
		parent = t->at[i].parent;
		t->at[i].next = t->at[parent].child;
		t->at[parent].child = i;
		t->at[parent].children++;
	}
}

static int link_orphans(struct ins_tree *t, struct ins_table *table)
{
	struct orphan *orphans;
	uint32_t i, n = 0;

	for (i = 0; i < t->count; i++)
		n += t->at[i].kind == INS_TREE_ORPHAN;
	orphans = calloc(n ? n : 1, sizeof *orphans);
	if (!orphans)
		return -ENOMEM;
	n = 0;
	for (i = 0; i < t->count; i++)
		if (t->at[i].kind == INS_TREE_ORPHAN)
			orphans[n++] = (struct orphan){parent_id(table, i), i};
	qsort(orphans, n, sizeof *orphans, by_parent);
	while (n-- > 0)
		put_at_top(t, orphans[n].index);
	free(orphans);
	return 0;
}

int ins_tree_new(struct ins_table *table, struct ins_tree **ret)
{
	struct ins_tree *t = calloc(1, sizeof *t);
	size_t count = ins_table_count(table);

	*ret = NULL;
	if (t && count < NONE)
		t->at = calloc(count ? count : 1, sizeof *t->at);
	if (!t || !t->at) {
		free(t);
		return -ENOMEM;
	}
	t->count = (uint32_t)count;
	t->top = t->where = NONE;
	find_parents(t, table);
	cut_circles(t);
	link_kind(t, INS_TREE_CIRCLE);
	if (link_orphans(t, table) < 0) {
		ins_tree_free(t);
		return -ENOMEM;
	}
	link_kind(t, INS_TREE_ROOT);
	link_kind(t, INS_TREE_CHILD);
	*ret = t;
	return 0;
}

void ins_tree_free(struct ins_tree *tree)
{
	if (tree)
		free(tree->at);
	free(tree);
}

bool ins_tree_next(struct ins_tree *tree, struct ins_tree_place *ret)
{
	uint32_t at = tree->where;
	const struct place *p;

	if (at == NONE) {
		tree->where = tree->top;
	} else if (tree->at[at].child != NONE) {
		tree->where = tree->at[at].child;
		tree->depth++;
	} else {
		while (tree->at[at].next == NONE && tree->at[at].parent != NONE) {
			at = tree->at[at].parent;
			tree->depth--;
		}
		tree->where = tree->at[at].next;
	}
	if (tree->where == NONE) {
		tree->top = NONE; /* every later call returns false too */
		return false;
	}
	p = &tree->at[tree->where];
	*ret = (struct ins_tree_place){tree->where, tree->depth, (enum ins_tree_kind)p->kind,
				       p->children};
	return true;
}
