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

#include "inspect/text/sample.h"
#include "inspect/model/source.h"
#include "inspect/text/distribution.h"
#include "inspect/text/texts.h"
#include "inspect/unwind/unwind.h"
#include "inspect/values/variables.h"

struct ins_group {
	const struct ins_text_kept
		*key; /* NULL: none; it counts the fibers of all groups that have it */
	uint64_t count;
	struct ins_sample ids;	      /* the lowest ones */
	struct ins_distribution ages; /* ns */
	/* The first member; fields of its wait in which members differ are cleared. */
	struct ins_fiber fiber;
	bool same_wait; /* all members wait for the same object (or descriptor, or fiber) */
	/* Of the first member, whose id they have; put there by whoever wants them, and then the group's. NULL: none */
	struct ins_variables *variables;
	struct ins_walk *walk; /* allocated up to the last pc: not to be copied as a whole */
};

struct ins_groups;

int ins_groups_new(struct ins_groups **ret); /* -ENOMEM */
void ins_groups_free(struct ins_groups *groups);

/* Put a fiber to its equals, among those of that key (may be NULL). All are copied. -ENOMEM. */
int ins_groups_add(struct ins_groups *groups, const char *key, const struct ins_fiber *fiber,
		   const struct ins_walk *walk);

/* The group that the last fiber came to: count is 1 when it is its first member. Before the groups are sorted. */
struct ins_group *ins_groups_last(struct ins_groups *groups);

/* The keys of most fibers first, then by their texts, no key last; within a key the largest group first, then by lowest id. Medians
 * are found. */
void ins_groups_sort(struct ins_groups *groups);

size_t ins_groups_count(const struct ins_groups *groups);
const struct ins_group *ins_groups_at(const struct ins_groups *groups, size_t i);

#endif
