/* SPDX-License-Identifier: MIT */
/*
 * delta.h - what each fiber did since the last look
 *
 * A look is one pass over all fibers. A fiber's record counts since it was spawned. The difference
 * of two looks shows which fibers are busy now, so the counts of the last look are kept: 24 bytes a
 * fiber.
 */
#ifndef INS_DELTA_H
#define INS_DELTA_H

#include <stdbool.h>
#include <stdint.h>

#include "inspect/model/source.h"

/* What one fiber did between the previous look and this one. */
struct ins_fiber_delta {
	bool known;   /* there was a previous look */
	bool fresh;   /* the fiber was not in the previous look: the counts are since its spawn */
	uint64_t cpu; /* ns */
	uint64_t switches;
};

struct ins_delta;

int ins_delta_new(struct ins_delta **ret);    /* -ENOMEM */
void ins_delta_free(struct ins_delta *delta); /* NULL: nothing */

/*
 * There is only one look, at a file: counts are since each fiber was spawned. Call it before the
 * first look.
 */
void ins_delta_since_spawn(struct ins_delta *delta);

/* Begin a look. The fibers added since the last call are the previous look. */
void ins_delta_begin(struct ins_delta *delta);

/* Add a fiber of this look, each id once. -ENOMEM. */
int ins_delta_add(struct ins_delta *delta, const struct ins_fiber *fiber,
		  struct ins_fiber_delta *ret);

/*
 * After the last fiber: ns between the two looks, or the longest life of a fiber if counts are
 * since spawn; 0 if there is no previous look.
 */
int64_t ins_delta_ns(const struct ins_delta *delta);

/*
 * After the last fiber: fibers that are new since the previous look, and fibers of that look that
 * are gone.
 */
uint64_t ins_delta_fresh(const struct ins_delta *delta);
uint64_t ins_delta_gone(const struct ins_delta *delta);

#endif
