/* SPDX-License-Identifier: MIT */
/* confirm.h - find the deadlocks of a source, with repeated readings to confirm them */
#ifndef INS_CONFIRM_H
#define INS_CONFIRM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "inspect/model/source.h"
#include "inspect/query/table.h"
#include "inspect/waits/deadlock.h"
#include "inspect/waits/stillness.h"

struct ins_confirmed {
	/* The last reading. */
	struct ins_table *table;
	struct ins_graph *graph;
	struct ins_deadlocks *found; /* in this reading and in the earlier ones */
	struct ins_stillness still;  /* of this reading */
	unsigned readings;
	int64_t sampled_ns; /* sum over all readings */
	int64_t at;	    /* the end of this reading, ns of CLOCK_MONOTONIC */
};

/* A fleeting finding that was only the hand-over of a lock is gone after this. */
#define INS_FLEETING_NS 50000000

/*
 * Read the fibers once and look for deadlocks. before: an earlier reading, whose findings are
 * confirmed; zeroed: none. only: there is no other reading. pid: the process whose threads can be
 * inspected; 0: none. Returns 0 or a negative errno with error set. The caller frees ret in both
 * cases.
 */
int ins_confirm_read(struct ins_source *source, const struct ins_request *request, pid_t pid,
		     bool only, const struct ins_confirmed *before, struct ins_confirmed *ret,
		     struct ins_error *error);

/*
 * Read the fibers of the source and look for deadlocks until the result is certain. pid: the
 * process whose threads can be inspected; 0: none. still: nothing changes in the source (a core),
 * so one reading is enough. Returns 0 or a negative errno with error set. The caller frees ret in
 * both cases.
 */
int ins_confirm_deadlocks(struct ins_source *source, pid_t pid, bool still,
			  struct ins_confirmed *ret, struct ins_error *error);
void ins_confirmed_free(struct ins_confirmed *confirmed); /* zeroed: nothing */

#endif
