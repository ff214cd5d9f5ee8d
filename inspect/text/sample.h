/* SPDX-License-Identifier: MIT */
/* sample.h - a few ids of fibers, which stand for all of many. */
#ifndef INS_SAMPLE_H
#define INS_SAMPLE_H

#include <stdint.h>

#define INS_SAMPLE 8

/* Zeroed it is empty. */
struct ins_sample {
	unsigned count;
	uint64_t id[INS_SAMPLE];
};

/* Keep the id if it is among the lowest ones, which stand in ascending order. */
void ins_sample_lowest(struct ins_sample *sample, uint64_t id);

/* Put the id to the front; each stands there once. */
void ins_sample_latest(struct ins_sample *sample, uint64_t id);

#endif
