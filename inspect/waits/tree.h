/* SPDX-License-Identifier: MIT */
/*
 * tree.h - the tree of parents and children
 *
 * Every fiber of a table is in it exactly once: below its parent if the parent is in the table,
 * else as a root.
 */
#ifndef INS_TREE_H
#define INS_TREE_H

#include "inspect/query/table.h"

enum ins_tree_kind {
	INS_TREE_ROOT,	 /* a thread spawned it */
	INS_TREE_CHILD,	 /* its parent is in the table */
	INS_TREE_ORPHAN, /* its parent exited or was not seen */
	INS_TREE_CIRCLE, /* it is its own ancestor: only in a damaged program */
};

struct ins_tree_place {
	size_t fiber;	/* index in the table */
	uint64_t depth; /* number of ancestors; 0: a root */
	enum ins_tree_kind kind;
	uint64_t children; /* direct children only */
};

struct ins_tree;

/* Build the tree of a table, which is borrowed and must not change any more. -ENOMEM. */
int ins_tree_new(struct ins_table *table, struct ins_tree **ret);
void ins_tree_free(struct ins_tree *tree); /* NULL: nothing */

/*
 * The next place, depth first: a parent, its children, then its next sibling. Order of the roots:
 * fibers spawned by threads, by id; orphans, by their parent's id and then their own; circles.
 * False after the last place.
 */
bool ins_tree_next(struct ins_tree *tree, struct ins_tree_place *ret);

#endif
