/* SPDX-License-Identifier: MIT */
/*
 * tree.h - who spawned whom
 *
 * Every fiber of a table exactly once, whatever it says of its parent: below that one where it is there too, else at the
 * top.
 */
#ifndef INS_TREE_H
#define INS_TREE_H

#include "inspect/query/table.h"

enum ins_tree_kind {
	INS_TREE_ROOT,	 /* a thread spawned it */
	INS_TREE_CHILD,	 /* its parent is there */
	INS_TREE_ORPHAN, /* its parent is not: it has ended, or was not seen */
	INS_TREE_CIRCLE, /* it would be its own ancestor: what no program does, but a damaged one says */
};

struct ins_tree_place {
	size_t fiber;	/* in the table */
	uint64_t depth; /* how many stand above it; 0: at the top */
	enum ins_tree_kind kind;
	uint64_t children; /* its own, not theirs */
};

struct ins_tree;

/* The tree of a table, which is borrowed and does not change any more. -ENOMEM. */
int ins_tree_new(struct ins_table *table, struct ins_tree **ret);
void ins_tree_free(struct ins_tree *tree); /* NULL: nothing */

/*
 * The next place, parents before their children and these before the next of their parent's: those of threads by id,
 * orphans by their parent's id and then their own, circles. False after the last.
 */
bool ins_tree_next(struct ins_tree *tree, struct ins_tree_place *ret);

#endif
