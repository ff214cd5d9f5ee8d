/* SPDX-License-Identifier: MIT */
/*
 * ancestry.h - which fiber spawned which, at length
 *
 * Fibers are numbered so that the descendants of one follow it without a gap. Then whether one descends from another is a
 * comparison, however long the line between them is.
 *
 * A parent that has ended and was joined is in no table, and its children begin lines of their own.
 */
#ifndef INS_ANCESTRY_H
#define INS_ANCESTRY_H

#include <stdbool.h>
#include <stddef.h>

#include "inspect/waits/graph.h"

struct ins_ancestry;

/* Of the fibers of a graph, by their indices there. -ENOMEM. */
int ins_ancestry_new(const struct ins_graph *graph, struct ins_ancestry **ret);
void ins_ancestry_free(struct ins_ancestry *ancestry); /* NULL: nothing */

/* Whether fiber i descends from fiber `from`; not from itself. */
bool ins_ancestry_descends(const struct ins_ancestry *ancestry, size_t i, size_t from);

/* Mark a fiber, and after all of them: how many descendants of fiber i are marked. */
void ins_ancestry_mark(struct ins_ancestry *ancestry, size_t i);
size_t ins_ancestry_marked(struct ins_ancestry *ancestry, size_t i);

#endif
