/* SPDX-License-Identifier: MIT */
/* snapshot_threads.h - write the threads of a process into a snapshot */
#ifndef INS_SNAPSHOT_THREADS_H
#define INS_SNAPSHOT_THREADS_H

#include <stddef.h>

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

/* Append bytes to the snapshot. 0, or a negative errno. */
typedef int ins_snapshot_put_fn(void *context, const void *bytes, size_t size);

/*
 * Write the frames of INS_SNAPSHOT_THREAD_ROWS with put_fn(context). looks: sampled before the fibers
 * were. Returns 0, -ENOMEM, or what put_fn returned.
 */
int ins_snapshot_put_threads(ins_snapshot_put_fn *put_fn, void *context, struct ins_source *source,
			     const struct ins_snapshot_looks *looks);

#endif
