/* SPDX-License-Identifier: MIT */
/* distribution.h - how far apart many numbers lie: the least, the middle and the greatest one. */
#ifndef INS_DISTRIBUTION_H
#define INS_DISTRIBUTION_H

#include <stddef.h>
#include <stdint.h>

/* Zeroed it is empty. Of nothing all three are 0; of an even count the median is the lower one of the two in the middle. */
struct ins_distribution {
	int64_t min, median, max; /* median after ins_distribution_settle() */
	int64_t *numbers;	  /* all of them */
	size_t count, room;
};

int ins_distribution_add(struct ins_distribution *distribution, int64_t number); /* -ENOMEM */

/* Find the median of all so far. */
void ins_distribution_settle(struct ins_distribution *distribution);

/* Give the memory back; min, median and max stay. */
void ins_distribution_drop(struct ins_distribution *distribution);

#endif
