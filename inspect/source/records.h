/* SPDX-License-Identifier: MIT */
/* records.h - walking the registry's records through a source's memory. */
#ifndef INS_RECORDS_H
#define INS_RECORDS_H

#include "inspect/model/source.h"

/* bytes: layout.record_size bytes copied from address. Anything but 0 ends the walk. */
typedef int ins_record_fn(void *context, uint64_t address, const void *bytes);

/*
 * Call fn for every committed record of source->layout, free ones too where they were ever written. Records that cannot be
 * read become one problem, and so do those that it gave up before. 0, what fn returned, -ENOMEM, or -EFAULT with error set when not one record
 * could be read.
 */
int ins_records_each(struct ins_source *source, ins_record_fn *fn, void *context,
		     struct ins_error *error);

/* Whether the request is for this row: for all, or for the one of that id. */
bool ins_records_wanted(const struct ins_request *request, const struct fib_row *row);

#endif
