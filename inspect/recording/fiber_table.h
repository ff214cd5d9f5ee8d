/* SPDX-License-Identifier: MIT */
/* fiber_table.h - the fibers that occur in a recording */
#ifndef INS_FIBER_TABLE_H
#define INS_FIBER_TABLE_H

#include "inspect/recording/recording.h"

struct ins_fiber_table_entry {
	uint64_t id;
	uint64_t entry; /* the function that it runs, 0: unknown */
	const struct fib_recording_fiber *first,
		*last; /* in the lists at the start and the end; NULL: not there */
};

struct ins_fiber_table {
	struct ins_fiber_table_entry *at; /* by ascending id */
	size_t count;
};

/* -ENOMEM. The recording is borrowed. */
int ins_fiber_table_make(const struct ins_recording *recording, struct ins_fiber_table *ret);
void ins_fiber_table_free(struct ins_fiber_table *fiber_table);

/* NULL: no such fiber. */
struct ins_fiber_table_entry *ins_fiber_table_find(const struct ins_fiber_table *fiber_table,
						   uint64_t id);

#endif
