/* SPDX-License-Identifier: MIT */
/*
 * render_waits.h - who waits for whom, as text, JSON and a graph for dot(1)
 *
 * Holders come largest first, at most limit of them, and what was left out is said.
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
	pid_t pid;    /* whose threads can be looked at, 0: none */
	size_t limit; /* holders; as text, things of each holder as well */
};

/* render_waits.c: each holder and what waits for it, then how many were shown. */
void ins_text_waits(FILE *out, const struct ins_waits *waits);

/* One row a holder, then the keys waiting, waitingTotal, holdersTotal and holdersShown. */
void ins_json_waits(struct ins_json *json, const struct ins_waits *waits);

/* A lock's holder in words, harmless for a terminal: `fiber 7 "main"`, `fiber 7, which has ended`, `thread 41 "httpd"`.
 * at: in the table, or INS_NOBODY. Returns buf. */
const char *ins_words_holder(struct ins_table *table, uint64_t holder, size_t at, pid_t pid,
			     char *buf, size_t size);

/* The keys holderId, holderThread, holderName and holderState put into an object. holderState: a fiber's state, "gone"
 * when nothing is left of it, of a thread "alive", "ended" or "unknown", null without a holder. False without memory. */
bool ins_json_holder(json_t *object, const struct fib_layout *layout, struct ins_table *table,
		     uint64_t holder, size_t at, pid_t pid);

/* render_dot.c: fibers, threads and things of which nobody knows the holder; edges lead to who is waited for. */
void ins_dot_waits(FILE *out, const struct ins_waits *waits);

#endif
