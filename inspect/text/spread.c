/* SPDX-License-Identifier: MIT */
/* spread.c - how far apart many numbers lie. The median needs all of them, eight bytes each. */
#include "inspect/text/spread.h"

#include <errno.h>
#include <stdlib.h>

int ins_spread_add(struct ins_spread *spread, int64_t number)
{
	if (spread->count == spread->room) {
		size_t room = spread->room ? spread->room * 2 : 4;
		int64_t *numbers = realloc(spread->numbers, room * sizeof *numbers);

		if (!numbers)
			return -ENOMEM;
		spread->numbers = numbers;
		spread->room = room;
	}
	if (!spread->count || number < spread->min)
		spread->min = number;
	if (!spread->count || number > spread->max)
		spread->max = number;
	spread->numbers[spread->count++] = number;
	return 0;
}

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

void ins_spread_settle(struct ins_spread *spread)
{
	if (!spread->count)
		return;
	qsort(spread->numbers, spread->count, sizeof *spread->numbers, by_size);
	spread->median = spread->numbers[(spread->count - 1) / 2];
}

void ins_spread_drop(struct ins_spread *spread)
{
	free(spread->numbers);
	spread->numbers = NULL;
	spread->count = spread->room = 0;
}
