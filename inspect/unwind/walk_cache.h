/* SPDX-License-Identifier: MIT */
/*
 * walk_cache.h - how a frame leads to its caller, kept by the address of its code
 *
 * A million fibers stand in a few hundred places. An unwinder takes microseconds for a stack of ten frames; with the
 * rules at hand it is a few loads for each.
 */
#ifndef INS_WALK_CACHE_H
#define INS_WALK_CACHE_H

#include <stdbool.h>

#include "inspect/model/source.h"
#include "inspect/unwind/unwind.h"

struct ins_walk_cache;

/* For fibers of one source, which is borrowed and whose modules do not change. One thread. -ENOMEM. */
int ins_walk_cache_new(struct ins_source *source, struct ins_walk_cache **ret);
void ins_walk_cache_free(struct ins_walk_cache *cache); /* NULL: nothing */

/*
 * Walk a fiber that has a stack by the rules that are known. True when that led to the routine every fiber starts in:
 * ret's count and pc are then those of a whole walk. False: nothing is said, also not by ret, and an unwinder has to walk.
 */
bool ins_walk_cache_walk(struct ins_walk_cache *cache, const struct ins_fiber *fiber,
			 struct ins_walk *ret);

/* An unwinder has walked this fiber, and the walk is whole: learn the rules of its frames. */
void ins_walk_cache_learn(struct ins_walk_cache *cache, const struct ins_fiber *fiber,
			  const struct ins_walk *walk);

#endif
