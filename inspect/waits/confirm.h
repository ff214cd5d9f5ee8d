/* SPDX-License-Identifier: MIT */
/* confirm.h - deadlocks of a source, read as often as it takes to be sure of them. */
#ifndef INS_CONFIRM_H
#define INS_CONFIRM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "inspect/model/source.h"
#include "inspect/query/table.h"
#include "inspect/waits/deadlock.h"

struct ins_confirmed {
	/* The last reading. */
	struct ins_table *table;
	struct ins_graph *graph;
	struct ins_deadlocks *found; /* in it, and in those before */
	unsigned readings;
	int64_t sampled_ns; /* of all readings */
};

/*
 * Read the fibers of the source and look for deadlocks until what is found is certain. pid: of the process whose threads can be
 * looked at; 0: none. still: nothing moves in the source, as in a core, so one reading is enough. 0, or a negative errno with
 * error set; ret is to be freed then, too.
 */
int ins_confirm_deadlocks(struct ins_source *source, pid_t pid, bool still,
			  struct ins_confirmed *ret, struct ins_error *error);
void ins_confirmed_free(struct ins_confirmed *confirmed);

#endif
