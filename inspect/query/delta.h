/* SPDX-License-Identifier: MIT */
/*
 * delta.h - what each fiber did since the last look
 *
 * A fiber's record counts since it was spawned. Who is busy now can only be told from two looks, so the counts of the
 * one before are kept: 24 bytes a fiber.
 */
#ifndef INS_DELTA_H
#define INS_DELTA_H

#include <stdbool.h>
#include <stdint.h>

#include "inspect/model/source.h"

/* What one fiber did between the look before and this one. */
struct ins_fiber_delta {
	bool known;   /* there was a look before */
	bool fresh;   /* and the fiber was not in it: then this is all it ever did */
	uint64_t cpu; /* ns */
	uint64_t switches;
};

struct ins_delta;

int ins_delta_new(struct ins_delta **ret);    /* -ENOMEM */
void ins_delta_free(struct ins_delta *delta); /* NULL: nothing */

/* There is one look only, of what is a file: what a fiber did is then since it was spawned. Before the first look. */
void ins_delta_since_spawn(struct ins_delta *delta);

/* Begin a look. What was added since the last call is the look before. */
void ins_delta_begin(struct ins_delta *delta);

/* A fiber of this look, each id once. -ENOMEM. */
int ins_delta_add(struct ins_delta *delta, const struct ins_fiber *fiber,
		  struct ins_fiber_delta *ret);

/* After the last fiber: ns between the two looks, of lives the longest; 0 when there is nothing to compare with. */
int64_t ins_delta_ns(const struct ins_delta *delta);

/* After the last fiber: how many were not in the look before, and how many of that one are gone. */
uint64_t ins_delta_fresh(const struct ins_delta *delta);
uint64_t ins_delta_gone(const struct ins_delta *delta);

#endif
