/* SPDX-License-Identifier: MIT */
/* render_holders.h - print all holders of what a fiber waits for, as text and as JSON */
#ifndef INS_RENDER_HOLDERS_H
#define INS_RENDER_HOLDERS_H

#include <stdio.h>
#include <sys/types.h>

#include <jansson.h>

#include "inspect/waits/graph.h"

/*
 * If fiber i of the graph waits for a rwlock that others read: `label`, their names, and a newline.
 * Nothing for other waits: their holder is in ins_words_wait(). pid: the process whose threads can be
 * inspected; 0: none.
 */
void ins_text_holders(FILE *out, const char *label, const struct ins_graph *graph, size_t i,
		      pid_t pid);

/*
 * The ids of some rows of the graph: of fibers (and of all rows where there are threads only), or
 * the numbers of threads beside fibers. NULL: no memory.
 */
json_t *ins_json_ids(const struct ins_graph *graph, const size_t *rows, size_t count, bool threads);

/*
 * Add the keys holders, for each holder an object with the keys of ins_json_holder(), and
 * holdersUnknown, a number, to the object of fiber i's wait or queue. A fiber that waits to read
 * while others read has the fiber that waits to write before it as its holder. False: no memory.
 */
bool ins_json_holders(json_t *object, const struct fib_layout *layout,
		      const struct ins_graph *graph, size_t i, pid_t pid);

#endif
