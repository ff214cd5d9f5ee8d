/* SPDX-License-Identifier: MIT */
/*
 * table.h - all fibers of a source at once, without their stacks
 *
 * Code that handles fibers one after another takes them from the source directly. A table is for
 * code that needs all of them: wait graph, tree, the oldest fibers. An entry takes about 300 bytes,
 * plus its labels if it has any.
 */
#ifndef INS_TABLE_H
#define INS_TABLE_H

#include "inspect/model/source.h"

struct ins_table;

/*
 * Read all fibers of the source. request: what else is wanted; stacks are not kept. Returns 0, or a
 * negative errno with error set.
 */
int ins_table_read(struct ins_source *source, const struct ins_request *request,
		   struct ins_error *error, struct ins_table **ret);

/* An empty table for fibers from elsewhere. -ENOMEM. */
int ins_table_new(struct ins_table **ret);
int ins_table_add(struct ins_table *table, const struct ins_fiber *fiber);
void ins_table_free(struct ins_table *table); /* NULL: nothing */

/* The first access sorts the fibers by id; indices do not change afterwards. */
size_t ins_table_count(struct ins_table *table);

/* Fiber i, without its stack; i < count. */
void ins_table_get(struct ins_table *table, size_t i, struct ins_fiber *ret);

/* The index of the fiber with that id, or -1. */
ssize_t ins_table_find(struct ins_table *table, uint64_t id);

/* The summary of the read. */
const struct ins_summary *ins_table_summary(const struct ins_table *table);

#endif
