/* SPDX-License-Identifier: MIT */
/* core_late.h - memory that came into a process after its mappings were read for a core. */
#ifndef INS_CORE_LATE_H
#define INS_CORE_LATE_H

#include <stddef.h>
#include <stdint.h>

#define INS_CORE_LATE_MOST 4096 /* runs of pages */

struct ins_core_late_run {
	uint64_t start, end; /* whole pages */
	uint64_t offset;     /* in the file */
};

/* Zero-initialised is empty. */
struct ins_core_late {
	struct ins_core_late_run *run;
	size_t count;
};

/*
 * Where the byte at address is in the file. If its page has no place yet it gets one at *end, which is the end of all memory
 * there, at the beginning of a page, and moves on. 0, -ENOMEM, or -EMFILE where there are too many runs.
 */
int ins_core_late_place(struct ins_core_late *late, uint64_t address, uint64_t *end,
			uint64_t *ret_offset);

/* By ascending start. */
void ins_core_late_sort(struct ins_core_late *late);

void ins_core_late_free(struct ins_core_late *late);

#endif
