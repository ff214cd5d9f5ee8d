/* SPDX-License-Identifier: MIT */
/* snapshot_threads.h - write the threads of a process into a snapshot */
#ifndef INS_SNAPSHOT_THREADS_H
#define INS_SNAPSHOT_THREADS_H

#include <stdio.h>

#include "inspect/model/source.h"

/* What the threads did before the fibers were read. */
struct ins_snapshot_looks {
	struct ins_snapshot_look *all;
	size_t count;
	int64_t at; /* ns of CLOCK_MONOTONIC */
};

/* Look at all threads. source: emits them as rows beside fibers. 0, or a negative errno. */
int ins_snapshot_look(struct ins_source *source, struct ins_snapshot_looks *ret);
void ins_snapshot_looks_free(struct ins_snapshot_looks *looks);

/*
 * Write the frames of INS_SNAPSHOT_THREAD_ROWS. looks: sampled before the fibers were. Returns 0, or
 * a negative errno: the file cannot be written, or -ENOMEM.
 */
int ins_snapshot_put_threads(FILE *out, struct ins_source *source,
			     const struct ins_snapshot_looks *looks);

#endif
