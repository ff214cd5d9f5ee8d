/* SPDX-License-Identifier: MIT */
/*
 * render_waits.h - print the graph of waits as text, JSON and for dot(1)
 *
 * The holders that block the most fibers come first, at most `limit`; the output says how many were
 * left out.
 */
#ifndef INS_RENDER_WAITS_H
#define INS_RENDER_WAITS_H

#include <stdio.h>

#include "inspect/waits/queues.h"
#include "inspect/render/render.h"

#define INS_WAITS_SAMPLES 8 /* ids shown of a queue, as text */

struct ins_waits {
	const struct fib_layout *layout;
	const struct ins_queues *queues;
	pid_t pid;    /* the process whose threads can be inspected; 0: none */
	size_t limit; /* holders; in text also objects of each holder */
	/*
	 * For text: writes where the fiber is in the program's source, "" if that is unknown.
	 * Called for each shown holder. NULL: places are not shown.
	 */
	void (*place)(void *context, const struct ins_fiber *fiber, char *buf, size_t size);
	void *context;
};

/* render_waits.c: each holder with its waiters, then how many holders were shown. */
void ins_text_waits(FILE *out, const struct ins_waits *waits);

/* One row per holder, then the keys waiting, waitingTotal, holdersTotal and holdersShown. */
void ins_json_waits(struct ins_json *json, const struct ins_waits *waits);

/* render_dot.c: fibers, threads and objects without a known holder; edges lead to the holder. */
void ins_dot_waits(FILE *out, const struct ins_waits *waits);

#endif
