/* SPDX-License-Identifier: MIT */
/* lost_region.c - find the region of a look that has an address */
#include "inspect/leaks/lost_look.h"

const struct ins_region *ins_lost_look_region(const struct ins_lost_look *look, uint64_t address)
{
	size_t low = 0, high = look->regions.count;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		if (look->regions.at[mid].start <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low && address < look->regions.at[low - 1].end ? &look->regions.at[low - 1] : NULL;
}
