/* SPDX-License-Identifier: MIT */
/*
 * group.h - count fibers that are in the same place
 *
 * Two fibers are in one group if state, wait kind and every address of their walks are equal. Fifty
 * thousand connections become the dozen places where they wait. If fibers are also divided by
 * something else, its name is their key, and groups of one key are adjacent.
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
		*key; /* NULL: none; it counts the fibers of all groups with this key */
	uint64_t count;
	struct ins_sample ids;	      /* the lowest ids */
	struct ins_distribution ages; /* ns */
	/* The first member; wait fields in which members differ are cleared. */
	struct ins_fiber fiber;
	bool same_wait; /* all members wait for the same object, descriptor or fiber */
	/* Of the first member. Set by the caller, freed with the group. NULL: none. */
	struct ins_variables *variables;
	struct ins_walk *walk; /* allocated up to the last pc: do not copy the struct */
};

struct ins_groups;

int ins_groups_new(struct ins_groups **ret); /* -ENOMEM */
void ins_groups_free(struct ins_groups *groups);

/* Add a fiber to its group, among the groups of that key (may be NULL). All is copied. -ENOMEM. */
int ins_groups_add(struct ins_groups *groups, const char *key, const struct ins_fiber *fiber,
		   const struct ins_walk *walk);

/*
 * The group of the last added fiber; count is 1 if it is the first member. Valid before the sort.
 */
struct ins_group *ins_groups_last(struct ins_groups *groups);

/*
 * Sort: keys by their number of fibers, largest first, then by text, no key last; groups of a key
 * by size, largest first, then by lowest id. Computes the medians.
 */
void ins_groups_sort(struct ins_groups *groups);

size_t ins_groups_count(const struct ins_groups *groups);
const struct ins_group *ins_groups_at(const struct ins_groups *groups, size_t i);

#endif
