/* SPDX-License-Identifier: MIT */
/* spread.h - how far apart many numbers lie: the least, the middle and the greatest one. */
#ifndef INS_SPREAD_H
#define INS_SPREAD_H

#include <stddef.h>
#include <stdint.h>

/* Zeroed it is empty. Of nothing all three are 0; of an even count the median is the lower one of the two in the middle. */
struct ins_spread {
	int64_t min, median, max; /* median after ins_spread_settle() */
	int64_t *numbers;	  /* all of them */
	size_t count, room;
};

int ins_spread_add(struct ins_spread *spread, int64_t number); /* -ENOMEM */

/* Find the median of all so far. */
void ins_spread_settle(struct ins_spread *spread);

/* Give the memory back; min, median and max stay. */
void ins_spread_drop(struct ins_spread *spread);

#endif
