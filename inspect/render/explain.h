/* SPDX-License-Identifier: MIT */
/*
 * explain.h - explain in one sentence why a fiber does not run
 *
 * Example: It has waited 3s for the mutex "cfg", which fiber 88 "writer" holds; fiber 88 itself has
 * waited 2m14s for fd 17 read.
 */
#ifndef INS_EXPLAIN_H
#define INS_EXPLAIN_H

#include "inspect/waits/graph.h"

#define INS_EXPLAIN_SIZE  8192 /* no sentence is longer */
#define INS_EXPLAIN_LINKS 12   /* fibers of a chain that are told one by one */

/*
 * The sentence for a fiber, which need not be in the graph; other fibers are looked up there. The
 * chain of waits is followed to its end or until it closes. size is at least 1; INS_EXPLAIN_SIZE is
 * always enough. The text is safe for a terminal. Returns buf.
 */
const char *ins_explain(const struct ins_graph *graph, const struct fib_layout *layout,
			const struct ins_fiber *fiber, char *buf, size_t size);

#endif
