/* SPDX-License-Identifier: MIT */
/* reading.c - the parts of a read that source_core.c and source_live.c share */
#include "inspect/source/reading.h"

#include <errno.h>
#include <stdio.h>

#include <fiber/fiber.h>

#include "inspect/source/byte_order.h"
#include "inspect/source/records.h"

void ins_reading_begin(struct ins_reading *reading, const struct ins_request *request,
		       ins_fiber_fn *fn, void *context, struct ins_summary *summary)
{
	*reading = (struct ins_reading){
		.request = request, .fn = fn, .context = context, .summary = summary};
}

bool ins_reading_spend(uint64_t *left, uint64_t size)
{
	if (size > *left)
		return false;
	*left -= size;
	return true;
}

bool ins_reading_wants(struct ins_reading *reading, const struct fib_row *row)
{
	if (ins_records_wanted(reading->request, row))
		return true;
	reading->summary->total++;
	return false;
}

void ins_reading_complete(struct ins_reading *reading, struct ins_source *source,
			  ins_depth_fn *depth, struct ins_fiber *fiber)
{
	if (reading->request->bare)
		fiber->row.labels = 0;
	if (ins_byte_order_labels(source, &fiber->row) < 0)
		reading->lacks.unlabelled++;
	if (reading->request->high_water && fiber->row.state != FIBER_DEAD)
		fiber->row.stack_high_water = depth(source, &fiber->row);
}

int ins_reading_emit(struct ins_reading *reading, const struct ins_fiber *fiber)
{
	reading->summary->total++;
	reading->summary->shown++;
	return reading->fn(reading->context, fiber);
}

int ins_reading_end(const struct ins_reading *reading, struct ins_source *source, bool core, int rc,
		    struct ins_error *error)
{
	const uint64_t id = reading->request->id;
	char where[32] = "the core";

	ins_lacks_say(&reading->lacks, core, &source->problems);
	if (rc != 0 || !id || reading->summary->shown)
		return rc;
	if (!core)
		snprintf(where, sizeof where, "process %d", (int)source->pid);
	return ins_error_set(error, -ESRCH, "fiber %llu: no such fiber in %s",
			     (unsigned long long)id, where);
}
