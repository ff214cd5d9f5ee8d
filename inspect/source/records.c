/* SPDX-License-Identifier: MIT */
/*
 * records.c - reading the registry's range
 *
 * The range is read in big pieces: a million records are some hundred reads. In a truncated core,
 * or where the registry's numbers lie, pieces are missing; then records are read one by one where
 * at least one end of the piece is there, and after a long hole the walk gives up, so that a
 * registry that claims terabytes costs seconds and not days.
 */
#include "inspect/source/records.h"

#include <errno.h>
#include <stdlib.h>

#define PIECE	  (1u << 20)
#define HOLES_MAX 1024 /* whole pieces in a row that cannot be read */

struct walk {
	struct ins_source *source;
	ins_record_fn *fn;
	void *context;
	unsigned char *buf;
	uint64_t missing;
	uint64_t seen;
};

static int each_in(struct walk *w, uint64_t address, const unsigned char *bytes, uint64_t n)
{
	uint32_t size = w->source->layout.record_size;
	uint64_t i;
	int rc;

	for (i = 0; i < n; i++) {
		w->seen++;
		rc = w->fn(w->context, address + i * size, bytes + i * size);
		if (rc)
			return rc;
	}
	return 0;
}

/* A piece that cannot be read as a whole: *ret_hole when not even its ends can. */
static int each_one(struct walk *w, uint64_t address, uint64_t n, bool *ret_hole)
{
	uint32_t size = w->source->layout.record_size;
	uint64_t i, ends[2] = {address, address + (n - 1) * size};
	int rc;

	if (w->source->memory(w->source, ends[0], w->buf, size) < 0 &&
	    w->source->memory(w->source, ends[1], w->buf, size) < 0) {
		w->missing += n;
		*ret_hole = true;
		return 0;
	}
	for (i = 0; i < n; i++) {
		if (w->source->memory(w->source, address + i * size, w->buf, size) < 0) {
			w->missing++;
			continue;
		}
		rc = each_in(w, address + i * size, w->buf, 1);
		if (rc)
			return rc;
	}
	return 0;
}

static int each_piece(struct walk *w)
{
	const struct fib_layout *layout = &w->source->layout;
	uint64_t per = PIECE / layout->record_size;
	unsigned holes = 0;
	uint64_t i, n;
	int rc;

	for (i = 0; i < layout->committed; i += n) {
		uint64_t at = layout->records + i * layout->record_size;
		bool hole = false;

		n = layout->committed - i < per ? layout->committed - i : per;
		if (w->source->memory(w->source, at, w->buf, n * layout->record_size) == 0)
			rc = each_in(w, at, w->buf, n);
		else
			rc = each_one(w, at, n, &hole);
		if (rc)
			return rc;
		holes = hole ? holes + 1 : 0;
		if (holes == HOLES_MAX) {
			w->missing += layout->committed - i - n;
			return 0;
		}
	}
	return 0;
}

int ins_records_each(struct ins_source *source, ins_record_fn *fn, void *context,
		     struct ins_error *error)
{
	struct walk w = {source, fn, context, malloc(PIECE), 0, 0};
	int rc;

	if (!w.buf)
		return ins_error_set(error, -ENOMEM, "out of memory");
	rc = each_piece(&w);
	free(w.buf);
	if (rc)
		return rc;
	if (w.missing && !w.seen)
		return ins_error_set(
			error, -EFAULT, "the fiber records at 0x%llx cannot be read: none of %llu",
			(unsigned long long)source->layout.records, (unsigned long long)w.missing);
	if (w.missing)
		ins_problems_add(&source->problems,
				 "%llu of %llu fiber records cannot be read: fibers in them are "
				 "missing here",
				 (unsigned long long)w.missing,
				 (unsigned long long)source->layout.committed);
	return 0;
}

bool ins_records_wanted(const struct ins_request *request, const struct fib_row *row)
{
	return !request->id || request->id == row->id;
}
