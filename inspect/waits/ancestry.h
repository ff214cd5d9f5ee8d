/* SPDX-License-Identifier: MIT */
/*
 * ancestry.h - ancestors and descendants of each fiber
 *
 * Fibers are numbered so that the descendants of a fiber follow it without a gap. Then one
 * comparison tells whether a fiber descends from another one, at any distance.
 *
 * A parent that has exited and was joined is in no table. Its children are roots.
 */
#ifndef INS_ANCESTRY_H
#define INS_ANCESTRY_H

#include <stdbool.h>
#include <stddef.h>

#include "inspect/waits/graph.h"

struct ins_ancestry;

/* Build it for the fibers of a graph; i and from are indices in the graph. -ENOMEM. */
int ins_ancestry_new(const struct ins_graph *graph, struct ins_ancestry **ret);
void ins_ancestry_free(struct ins_ancestry *ancestry); /* NULL: nothing */

/* Whether fiber i is a descendant of fiber from. A fiber is not a descendant of itself. */
bool ins_ancestry_descends(const struct ins_ancestry *ancestry, size_t i, size_t from);

/* Mark fibers first; then ask how many descendants of fiber i are marked. */
void ins_ancestry_mark(struct ins_ancestry *ancestry, size_t i);
size_t ins_ancestry_marked(struct ins_ancestry *ancestry, size_t i);

#endif
