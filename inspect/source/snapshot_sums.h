/* SPDX-License-Identifier: MIT */
/* snapshot_sums.h - the checksums of a snapshot's parts: its head, then its sections in order */
#ifndef INS_SNAPSHOT_SUMS_H
#define INS_SNAPSHOT_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INS_SNAPSHOT_PARTS 64u /* with a checksum; a writer has about a dozen */

/* Initialise with zero. */
struct ins_snapshot_sums {
	uint32_t count;
	uint32_t at[INS_SNAPSHOT_PARTS + 1]; /* one more for the sum of these numbers */
};

/* The CRC-32 of zlib, continued from `sum`, 0 at the start. */
uint32_t ins_snapshot_sum(uint32_t sum, const void *bytes, size_t size);

/* The same, and release the memory of the pages, which are mapped from a file. */
uint32_t ins_snapshot_sum_pages(uint32_t sum, const void *bytes, size_t size);

/* Append the sum of the next part. False: there are too many parts. */
bool ins_snapshot_sums_add(struct ins_snapshot_sums *sums, uint32_t sum);

/* Append the sum of the numbers. Returns how many bytes of `at` go into the file. */
size_t ins_snapshot_sums_end(struct ins_snapshot_sums *sums);

/*
 * Compare with the numbers in a file. Returns -1 if all are equal, else the index of the first part
 * that differs; `count` if the numbers themselves are damaged.
 */
int ins_snapshot_sums_compare(const struct ins_snapshot_sums *sums, const void *kept, size_t size);

#endif
