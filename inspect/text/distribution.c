/* SPDX-License-Identifier: MIT */
/*
 * distribution.c - minimum, median and maximum of many numbers; the median needs all of them, eight bytes
 * each
 */
#include "inspect/text/distribution.h"

#include <errno.h>
#include <stdlib.h>

int ins_distribution_add(struct ins_distribution *distribution, int64_t number)
{
	if (distribution->count == distribution->room) {
		size_t room = distribution->room ? distribution->room * 2 : 4;
		int64_t *numbers = realloc(distribution->numbers, room * sizeof *numbers);

		if (!numbers)
			return -ENOMEM;
		distribution->numbers = numbers;
		distribution->room = room;
	}
	if (!distribution->count || number < distribution->min)
		distribution->min = number;
	if (!distribution->count || number > distribution->max)
		distribution->max = number;
	distribution->numbers[distribution->count++] = number;
	return 0;
}

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

void ins_distribution_settle(struct ins_distribution *distribution)
{
	if (!distribution->count)
		return;
	qsort(distribution->numbers, distribution->count, sizeof *distribution->numbers, by_size);
	distribution->median = distribution->numbers[(distribution->count - 1) / 2];
}

void ins_distribution_drop(struct ins_distribution *distribution)
{
	free(distribution->numbers);
	distribution->numbers = NULL;
	distribution->count = distribution->room = 0;
}
