/* SPDX-License-Identifier: MIT */
/* distribution.h - minimum, median and maximum of many numbers */
#ifndef INS_DISTRIBUTION_H
#define INS_DISTRIBUTION_H

#include <stddef.h>
#include <stdint.h>

/*
 * Empty when zeroed. Without numbers all three are 0. For an even count the median is the lower of
 * the two middle numbers.
 */
struct ins_distribution {
	int64_t min, median, max; /* median after ins_distribution_settle() */
	int64_t *numbers;	  /* all of them */
	size_t count, room;
};

int ins_distribution_add(struct ins_distribution *distribution, int64_t number); /* -ENOMEM */

/* Compute the median of the numbers so far. */
void ins_distribution_settle(struct ins_distribution *distribution);

/* Free the memory; min, median and max remain. */
void ins_distribution_drop(struct ins_distribution *distribution);

#endif
