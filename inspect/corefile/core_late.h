/* SPDX-License-Identifier: MIT */
/* core_late.h - memory that was mapped after the mappings were read for a core */
#ifndef INS_CORE_LATE_H
#define INS_CORE_LATE_H

#include <stddef.h>
#include <stdint.h>

#define INS_CORE_LATE_MOST 4096 /* runs of pages */

struct ins_core_late_run {
	uint64_t start, end; /* whole pages */
	uint64_t offset;     /* in the file */
};

/* Empty when zero-initialised. */
struct ins_core_late {
	struct ins_core_late_run *run;
	size_t count;
};

/*
 * Find the file offset of the byte at address. If its page has no place yet, it gets one at *end,
 * which is the page-aligned end of all memory in the file, and *end is advanced. Returns 0,
 * -ENOMEM, or -EMFILE if there are too many runs.
 */
int ins_core_late_place(struct ins_core_late *late, uint64_t address, uint64_t *end,
			uint64_t *ret_offset);

/* Sort by ascending start. */
void ins_core_late_sort(struct ins_core_late *late);

void ins_core_late_free(struct ins_core_late *late);

#endif
