/* SPDX-License-Identifier: MIT */
/* unwind_lu.h - walk copied registers and bytes with libunwind */
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
	struct ins_unwind_table *tables; /* one per module */
	size_t table_count;
	/* of the current or the last walk */
	const struct ins_fiber *fiber;
	struct ins_registers registers; /* where it starts */
	bool lost;			/* a step had no rule */
	bool foreign;			/* the outermost frame is of another fiber */
	bool home;			/* the walk returned from a handler's alternate stack to
					 * the fiber's stack */
};

/*
 * *u is zeroed; dw answers questions about the code at an address. Returns 0 or -ENOMEM. Call
 * ins_unwind_lu_free() in both cases.
 */
int ins_unwind_lu_begin(struct ins_unwind_lu *u, struct ins_source *source,
			struct ins_unwind_dw *dw);
void ins_unwind_lu_free(struct ins_unwind_lu *u);

/* Walk as far as libunwind can: sets ret->pc and ret->count. */
void ins_unwind_lu(struct ins_unwind_lu *u, const struct ins_fiber *fiber, struct ins_walk *ret);

/* Forget the last walk: another unwinder walks. */
void ins_unwind_lu_none(struct ins_unwind_lu *u, const struct ins_fiber *fiber);

/* The start of the function that has pc, from the unwind tables. False: they do not have it. */
bool ins_unwind_lu_function(struct ins_unwind_lu *u, uint64_t pc, uint64_t *ret);

#endif
