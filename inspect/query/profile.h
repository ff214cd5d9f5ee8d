/* SPDX-License-Identifier: MIT */
/*
 * profile.h - add up a number and a time for each stack that was seen
 *
 * A stack is a list of parts, innermost first; a part is a walk or a text. Each walk and each text
 * is stored once, so that a look at 100,000 fibers in a dozen places needs a number for each.
 */
#ifndef INS_PROFILE_H
#define INS_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#include "inspect/unwind/unwind.h"

#define INS_PROFILE_PARTS 24 /* the most parts of a stack */

/* Parts of a profile have numbers. */
typedef uint32_t ins_profile_part;

struct ins_profile_stack {
	uint64_t number;
	uint64_t time; /* ns */
	unsigned count;
	ins_profile_part parts[]; /* `count` of them, innermost first */
};

struct ins_profile;

int ins_profile_new(struct ins_profile **ret);	    /* -ENOMEM */
void ins_profile_free(struct ins_profile *profile); /* NULL: nothing */

/* The part for a walk, of which a copy is kept, or for a text. 0 and *ret, or -ENOMEM. */
int ins_profile_walk(struct ins_profile *profile, const struct ins_walk *walk,
		     ins_profile_part *ret);
int ins_profile_text(struct ins_profile *profile, const char *text, ins_profile_part *ret);

/* Add to the values of the stack of these parts, 1 to INS_PROFILE_PARTS. 0 or -ENOMEM. */
int ins_profile_add(struct ins_profile *profile, const ins_profile_part *parts, unsigned count,
		    uint64_t number, uint64_t time);

/* The stacks in the order in which they were first seen. */
size_t ins_profile_count(const struct ins_profile *profile);
const struct ins_profile_stack *ins_profile_at(const struct ins_profile *profile, size_t i);

/* What a part is: a walk, or NULL and *ret_text. */
const struct ins_walk *ins_profile_part_at(const struct ins_profile *profile, ins_profile_part part,
					   const char **ret_text);

#endif
