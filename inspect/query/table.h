/* SPDX-License-Identifier: MIT */
/*
 * table.h - all fibers of a source at once, without their stacks
 *
 * What looks at fibers one after another takes them from the source as they come. A table is for what has to see
 * them together: who waits for whom, who spawned whom, which are the oldest. A fiber takes some 300 bytes
 * in it, its labels extra where it has any.
 */
#ifndef INS_TABLE_H
#define INS_TABLE_H

#include "inspect/model/source.h"

struct ins_table;

/*
 * Read all fibers of the source. request says what else is wanted; its stacks are not kept. 0, or a negative errno with error
 * set.
 */
int ins_table_read(struct ins_source *source, const struct ins_request *request,
		   struct ins_error *error, struct ins_table **ret);

/* An empty one for fibers that come from elsewhere; now is the clock their ages are measured against. -ENOMEM. */
int ins_table_new(struct ins_table **ret);
int ins_table_add(struct ins_table *table, const struct ins_fiber *fiber);
void ins_table_free(struct ins_table *table); /* NULL: nothing */

/* Fibers are ordered by id from the first look on, and stay where they are. */
size_t ins_table_count(struct ins_table *table);

/* Fiber i, without its stack; i < count. */
void ins_table_get(struct ins_table *table, size_t i, struct ins_fiber *ret);

/* Where the fiber of that id is, or -1. */
ssize_t ins_table_find(struct ins_table *table, uint64_t id);

/* How the read went. */
const struct ins_summary *ins_table_summary(const struct ins_table *table);

#endif
