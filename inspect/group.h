/* SPDX-License-Identifier: MIT */
/*
 * group.h - fibers that are in the same place, counted
 *
 * Two fibers belong together when state, wait kind and every address of their walk are equal. Fifty
 * thousand connections become the dozen places they wait in. Where they are also told apart by something else, its name
 * is their key, and groups of one key stand together.
 */
#ifndef INS_GROUP_H
#define INS_GROUP_H

#include <stddef.h>
#include <stdint.h>

#include "inspect/source.h"
#include "inspect/texts.h"
#include "inspect/unwind.h"

#define INS_GROUP_SAMPLES 8

struct ins_group {
	const struct ins_text_kept
		*key; /* NULL: none; it counts the fibers of all groups that have it */
	uint64_t count;
	uint64_t sample[INS_GROUP_SAMPLES]; /* ids, ascending: the lowest ones */
	unsigned samples;
	/* The first member; fields of its wait in which members differ are cleared. */
	struct ins_fiber fiber;
	bool same_wait; /* all members wait for the same object (or descriptor, or fiber) */
	int64_t age_min, age_median, age_max; /* ns; median after ins_groups_sort() */
	struct ins_walk *walk; /* allocated up to the last pc: not to be copied as a whole */
	int64_t *ages;	       /* of all members */
	size_t ages_room;
};

struct ins_groups;

int ins_groups_new(struct ins_groups **ret); /* -ENOMEM */
void ins_groups_free(struct ins_groups *groups);

/* Put a fiber to its equals, among those of that key (may be NULL). All are copied. -ENOMEM. */
int ins_groups_add(struct ins_groups *groups, const char *key, const struct ins_fiber *fiber,
		   const struct ins_walk *walk);

/* The keys of most fibers first, then by their texts, no key last; within a key the largest group first, then by lowest id. Medians
 * are computed. */
void ins_groups_sort(struct ins_groups *groups);

size_t ins_groups_count(const struct ins_groups *groups);
const struct ins_group *ins_groups_at(const struct ins_groups *groups, size_t i);

#endif
