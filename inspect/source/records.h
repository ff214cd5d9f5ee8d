/* SPDX-License-Identifier: MIT */
/* records.h - walk the registry's records through a source's memory */
#ifndef INS_RECORDS_H
#define INS_RECORDS_H

#include "inspect/model/source.h"

/* bytes: layout.record_size bytes copied from address. A result other than 0 ends the walk. */
typedef int ins_record_fn(void *context, uint64_t address, const void *bytes);

/*
 * Call fn for the records of the request: the one that it names, else all, as ins_records_each().
 */
int ins_records_asked(struct ins_source *source, const struct ins_request *request,
		      ins_record_fn *fn, void *context, struct ins_error *error);

/*
 * Call fn for every committed record of source->layout, also for free records that were ever
 * written. Unreadable records are reported as one problem, as are those after the point where the
 * walk stopped. Returns 0, fn's result, -ENOMEM, or -EFAULT with error set if no record could be
 * read.
 */
int ins_records_each(struct ins_source *source, ins_record_fn *fn, void *context,
		     struct ins_error *error);

/* Whether the request is for this row: for all rows, or for its id. */
bool ins_records_wanted(const struct ins_request *request, const struct fib_row *row);

#endif
