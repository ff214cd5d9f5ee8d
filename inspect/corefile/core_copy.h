/* SPDX-License-Identifier: MIT */
/* core_copy.h - the memory of a process, or of a core, into a core that is being written. */
#ifndef INS_CORE_COPY_H
#define INS_CORE_COPY_H

#include "inspect/corefile/core.h"
#include "inspect/corefile/core_write.h"
#include "inspect/elf/mappings.h"
#include "inspect/model/source.h"

/*
 * The parts of memory that a core of these mappings has. Left out are, like the kernel does by default: what the program
 * withholds, what cannot be read, and files that are shared; and, with stacks_only, files that are not written to, but for
 * their headers. -ENOMEM. *ret is the caller's to free.
 */
int ins_core_parts_live(const struct ins_mappings *mappings, bool stacks_only,
			struct ins_core_part **ret);

/* The same of a core, which has less already. -EINVAL when its segments share bytes of the file. */
int ins_core_parts_core(const struct ins_core *core, bool stacks_only, struct ins_core_part **ret);

/* Addresses that are not copied. */
struct ins_core_gap {
	uint64_t low, high;
};

/* Copy what is in memory, as it is when we come by. 0, or a negative errno: -ESRCH when the process has ended. */
int ins_core_copy_live(struct ins_core_writer *w, struct ins_source *source,
		       const struct ins_core_gap *gap);

/* Copy what a core has. 0, or a negative errno. */
int ins_core_copy_core(struct ins_core_writer *w, const struct ins_core *core);

#endif
