/* SPDX-License-Identifier: MIT */
/* render_holder.h - one holder of a lock, in words and as JSON */
#ifndef INS_RENDER_HOLDER_H
#define INS_RENDER_HOLDER_H

#include <stdbool.h>
#include <sys/types.h>

#include <jansson.h>

#include "inspect/waits/graph.h"

/*
 * A lock's holder in words, safe for a terminal: `fiber 7 "main"`, `fiber 7, which has ended`,
 * `thread 41 "httpd"`. at: index in the table, or INS_NOBODY. Returns buf.
 */
const char *ins_words_holder(struct ins_table *table, uint64_t holder, size_t at, pid_t pid,
			     char *buf, size_t size);

/*
 * Add the keys holderId, holderThread, holderName and holderState to an object. holderState: the
 * state of a fiber, "gone" if it has no record; "alive", "ended" or "unknown" for a thread; null
 * without a holder. False: no memory.
 */
bool ins_json_holder(json_t *object, const struct fib_layout *layout, struct ins_table *table,
		     uint64_t holder, size_t at, pid_t pid);

#endif
