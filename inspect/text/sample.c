/* SPDX-License-Identifier: MIT */
/* sample.c - keep a few ids of fibers: the lowest, or the latest */
#include "inspect/text/sample.h"

#include <string.h>

/*
 * Insert the id at place i; the ids from there on move back by one, and the id at place `last` is
 * dropped.
 */
static void put(struct ins_sample *sample, unsigned i, unsigned last, uint64_t id)
{
	memmove(sample->id + i + 1, sample->id + i, (last - i) * sizeof sample->id[0]);
	sample->id[i] = id;
}

void ins_sample_lowest(struct ins_sample *sample, uint64_t id)
{
	unsigned i = sample->count;

	while (i && sample->id[i - 1] > id)
		i--;
	if (i == INS_SAMPLE)
		return;
	if (sample->count < INS_SAMPLE)
		sample->count++;
	put(sample, i, sample->count - 1, id);
}

void ins_sample_latest(struct ins_sample *sample, uint64_t id)
{
	unsigned i;

	for (i = 0; i < sample->count && sample->id[i] != id; i++)
		;
	if (i == sample->count && sample->count < INS_SAMPLE)
		sample->count++;
	put(sample, 0, i < INS_SAMPLE ? i : i - 1, id);
}
