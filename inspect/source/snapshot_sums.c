/* SPDX-License-Identifier: MIT */
/* snapshot_sums.c - the checksums of a snapshot's parts */
#include "inspect/source/snapshot_sums.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#define HELD ((size_t)16 << 20) /* bytes of a file that are kept in memory at a time */

uint32_t ins_snapshot_sum(uint32_t sum, const void *bytes, size_t size)
{
	return (uint32_t)crc32_z(sum, bytes, size);
}

uint32_t ins_snapshot_sum_pages(uint32_t sum, const void *bytes, size_t size)
{
	const uintptr_t mask = ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
	const unsigned char *at = bytes;

	while (size) {
		const size_t n = size < HELD ? size : HELD;
		const uintptr_t from = (uintptr_t)at & mask, to = (uintptr_t)(at + n) & mask;

		sum = ins_snapshot_sum(sum, at, n);
		madvise((void *)from, to - from, MADV_DONTNEED);
		at += n;
		size -= n;
	}
	return sum;
}

bool ins_snapshot_sums_add(struct ins_snapshot_sums *sums, uint32_t sum)
{
	if (sums->count == INS_SNAPSHOT_PARTS)
		return false;
	sums->at[sums->count++] = sum;
	return true;
}

size_t ins_snapshot_sums_end(struct ins_snapshot_sums *sums)
{
	const size_t size = sums->count * sizeof sums->at[0];

	sums->at[sums->count] = ins_snapshot_sum(0, sums->at, size);
	return size + sizeof sums->at[0];
}

int ins_snapshot_sums_compare(const struct ins_snapshot_sums *sums, const void *kept, size_t size)
{
	const size_t wanted = sums->count * sizeof sums->at[0];
	uint32_t i, number, own;

	if (size != wanted + sizeof own)
		return (int)sums->count;
	memcpy(&own, (const char *)kept + wanted, sizeof own);
	if (own != ins_snapshot_sum(0, kept, wanted))
		return (int)sums->count;
	for (i = 0; i < sums->count; i++) {
		memcpy(&number, (const char *)kept + i * sizeof number, sizeof number);
		if (number != sums->at[i])
			return (int)i;
	}
	return -1;
}
