/* SPDX-License-Identifier: MIT */
/* sample.h - keep a few ids of fibers as examples of many */
#ifndef INS_SAMPLE_H
#define INS_SAMPLE_H

#include <stdint.h>

#define INS_SAMPLE 8

/* Empty when zeroed. */
struct ins_sample {
	unsigned count;
	uint64_t id[INS_SAMPLE];
};

/* Keep the id if it is among the lowest, which are sorted in ascending order. */
void ins_sample_lowest(struct ins_sample *sample, uint64_t id);

/* Move or insert the id at the front; each id is kept once. */
void ins_sample_latest(struct ins_sample *sample, uint64_t id);

#endif
