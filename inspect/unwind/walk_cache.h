/* SPDX-License-Identifier: MIT */
/*
 * walk_cache.h - keep the rule from a frame to its caller by the address of the code
 *
 * A million fibers wait in a few hundred places. An unwinder takes microseconds for a stack of ten
 * frames; a cached rule takes a few loads for each frame.
 */
#ifndef INS_WALK_CACHE_H
#define INS_WALK_CACHE_H

#include <stdbool.h>

#include "inspect/model/source.h"
#include "inspect/unwind/unwind.h"

struct ins_walk_cache;

/*
 * For fibers of one source, which is borrowed and whose modules do not change. Use in one thread.
 * -ENOMEM.
 */
int ins_walk_cache_new(struct ins_source *source, struct ins_walk_cache **ret);
void ins_walk_cache_free(struct ins_walk_cache *cache); /* NULL: no effect */

/*
 * Walk a fiber that has a stack by the cached rules. True: the walk reached the routine that every
 * fiber starts in, and ret's count and pc are those of a whole walk. False: *ret is meaningless,
 * and an unwinder has to walk.
 */
bool ins_walk_cache_walk(struct ins_walk_cache *cache, const struct ins_fiber *fiber,
			 struct ins_walk *ret);

/* Learn the rules of a whole walk that an unwinder has made of this fiber. */
void ins_walk_cache_learn(struct ins_walk_cache *cache, const struct ins_fiber *fiber,
			  const struct ins_walk *walk);

#endif
