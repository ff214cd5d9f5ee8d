/* SPDX-License-Identifier: MIT */
/* lost_groups.h - lost fibers by the place that spawned them and what they wait for */
#ifndef INS_LOST_GROUPS_H
#define INS_LOST_GROUPS_H

#include "inspect/leaks/lost.h"
#include "inspect/text/sample.h"

struct ins_lost_group {
	uint64_t spawn_pc, entry;
	uint8_t wait_kind;
	uint64_t fibers;
	uint64_t object; /* the one that all wait for; 0: several, or the kind has none */
	uint64_t stacks; /* bytes of their stacks that are in use, in whole pages */
	int64_t longest; /* ns that the one which has waited longest waits */
	size_t example;	 /* the index in lost->table of that one */
	struct ins_sample ids;
};

struct ins_lost_groups {
	struct ins_lost_group *at; /* the largest first */
	size_t count;
};

/* The example of a group, with the name of its object, which lost->table lacks. */
void ins_lost_groups_example(const struct ins_lost *lost, const struct ins_lost_group *group,
			     struct ins_source *source, struct ins_fiber *ret);

/* -ENOMEM. The caller frees ret->at. */
int ins_lost_groups(const struct ins_lost *lost, struct ins_lost_groups *ret);

#endif
