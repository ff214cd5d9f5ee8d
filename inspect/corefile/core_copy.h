/* SPDX-License-Identifier: MIT */
/* core_copy.h - copy the memory of a process or of a core into a new core */
#ifndef INS_CORE_COPY_H
#define INS_CORE_COPY_H

#include "inspect/corefile/core.h"
#include "inspect/corefile/core_write.h"
#include "inspect/elf/mappings.h"
#include "inspect/model/source.h"

/*
 * List the parts of memory that a core of these mappings has. As in the kernel's default, it leaves
 * out memory that the program excludes, memory that cannot be read, and shared files. stacks_only
 * also leaves out files that are not written to, except their headers. -ENOMEM. The caller frees
 * *ret.
 */
int ins_core_parts_live(const struct ins_mappings *mappings, bool stacks_only,
			struct ins_core_part **ret);

/*
 * List the parts for a core whose source is a core. -EINVAL if its segments share bytes of the
 * file.
 */
int ins_core_parts_core(const struct ins_core *core, bool stacks_only, struct ins_core_part **ret);

/* A range of addresses that is not copied. */
struct ins_core_gap {
	uint64_t low, high;
};

/*
 * Copy the memory that exists when it is read. Returns 0, or a negative errno: -ESRCH if the
 * process has ended.
 */
int ins_core_copy_live(struct ins_core_writer *w, struct ins_source *source,
		       const struct ins_core_gap *gap);

/* Copy the memory that a core has. Returns 0 or a negative errno. */
int ins_core_copy_core(struct ins_core_writer *w, const struct ins_core *core);

#endif
