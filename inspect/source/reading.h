/* SPDX-License-Identifier: MIT */
/*
 * reading.h - the parts of a read that source_core.c and source_live.c share
 *
 * A read walks the records (records.h). The source copies each fiber that is wanted. The rest is
 * common to both sources and is here: the request, the limits on what may be copied, the counts of
 * what was missing, and the call of the caller's function.
 */
#ifndef INS_READING_H
#define INS_READING_H

#include "inspect/model/source.h"
#include "inspect/source/lacks.h"

#define INS_READING_STACK_MAX (16u << 20) /* bytes copied of one stack */

struct ins_reading {
	const struct ins_request *request;
	ins_fiber_fn *fn;
	void *context;
	struct ins_summary *summary;
	struct ins_lacks lacks;
	/* The source sets these two limits: a record may claim any size. */
	uint64_t stacks_left; /* bytes of stacks that may still be copied */
	uint64_t depth_left;  /* bytes of stacks that may still be searched for their deepest use */
};

void ins_reading_begin(struct ins_reading *reading, const struct ins_request *request,
		       ins_fiber_fn *fn, void *context, struct ins_summary *summary);

/* Subtract size from *left. If less is left, subtract nothing and return false. */
bool ins_reading_spend(uint64_t *left, uint64_t size);

/* Whether the request is for this row. A row that it is not for is counted. */
bool ins_reading_wants(struct ins_reading *reading, const struct fib_row *row);

/* How many bytes of a stack were ever used, or FIB_ROW_UNKNOWN. */
typedef uint64_t ins_depth_fn(struct ins_source *source, const struct fib_row *row);

/* Add to a copied fiber its labels and, if that was asked for, the deepest use of its stack. */
void ins_reading_complete(struct ins_reading *reading, struct ins_source *source,
			  ins_depth_fn *depth, struct ins_fiber *fiber);

/* Count the fiber and pass it to the caller's function, whose result is returned. */
int ins_reading_emit(struct ins_reading *reading, const struct ins_fiber *fiber);

/*
 * Report what was missing. core: a core was read, else a process. Returns rc, or -ESRCH with error
 * set if rc is 0 and the one requested fiber does not exist.
 */
int ins_reading_end(const struct ins_reading *reading, struct ins_source *source, bool core, int rc,
		    struct ins_error *error);

#endif
