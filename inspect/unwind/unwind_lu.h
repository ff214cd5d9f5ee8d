/* SPDX-License-Identifier: MIT */
/* unwind_lu.h - libunwind's walk over copied registers and bytes */
#ifndef INS_UNWIND_LU_H
#define INS_UNWIND_LU_H

#include <libunwind.h>

#include "inspect/model/registers.h"
#include "inspect/model/source.h"
#include "inspect/unwind/unwind.h"
#include "inspect/unwind/unwind_dw.h"

struct ins_unwind_table;

struct ins_unwind_lu {
	struct ins_source *source;
	struct ins_unwind_dw *dw;
	unw_addr_space_t space;
	struct ins_unwind_table *tables; /* one for each module */
	size_t table_count;
	/* of the walk under way, or of the last one */
	const struct ins_fiber *fiber;
	struct ins_registers registers; /* that it begins with */
	bool lost;			/* a step had no rule */
	bool foreign;			/* the outermost frame is of another fiber */
	bool home;			/* a handler's stack led back to the fiber's */
};

/* Begin with zeros; dw says what is known of the code at an address. 0 or -ENOMEM. Free in both cases. */
int ins_unwind_lu_begin(struct ins_unwind_lu *u, struct ins_source *source,
			struct ins_unwind_dw *dw);
void ins_unwind_lu_free(struct ins_unwind_lu *u);

/* Walk as far as libunwind comes: ret->pc and ret->count. */
void ins_unwind_lu(struct ins_unwind_lu *u, const struct ins_fiber *fiber, struct ins_walk *ret);

/* Where the function begins that has the code at pc, by the unwind tables. False: they have none. */
bool ins_unwind_lu_function(struct ins_unwind_lu *u, uint64_t pc, uint64_t *ret);

#endif
