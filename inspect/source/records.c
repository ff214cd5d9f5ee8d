/* SPDX-License-Identifier: MIT */
/*
 * records.c - read the registry's range of records
 *
 * The range is read in big pieces: a million records take some hundred reads. Pieces are missing in
 * a truncated core, or where the registry's numbers are wrong. Then records are read one by one if
 * at least one end of the piece can be read.
 *
 * A registry may describe terabytes. Pages that were never written hold no fiber and are skipped,
 * because reading them would make the kernel allocate them.
 *
 * The walk stops, and reports after how many records, in four cases: a long range cannot be read; a
 * long range was never written; more was read than the process has in memory; or a read is refused
 * because it would make the process larger (present.h).
 */
#include "inspect/source/records.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/source/byte_order.h"

#define PIECE	    (1u << 20)
#define HOLES_MAX   1024		  /* consecutive whole pieces that cannot be read */
#define NOTHING_MAX (UINT64_C(256) << 30) /* bytes that were never written, in total */
#define HELD_MORE   (UINT64_C(16) << 20)  /* margin: the process' memory is not counted exactly */

struct walk {
	struct ins_source *source;
	ins_record_fn *fn;
	void *context;
	unsigned char *buf;
	uint64_t missing;
	uint64_t seen;
	uint64_t bytes, most; /* read so far, and allowed */
	uint64_t nothing;     /* bytes skipped */
	unsigned holes;	      /* consecutive */
	char why[128];	      /* why the walk stopped; "": it did not */
};

static int each_in(struct walk *w, uint64_t address, unsigned char *bytes, uint64_t n)
{
	uint32_t size = w->source->layout.record_size;
	uint64_t i;
	int rc;

	for (i = 0; i < n; i++) {
		w->seen++;
		ins_byte_order_record(w->source, bytes + i * size);
		rc = w->fn(w->context, address + i * size, bytes + i * size);
		if (rc)
			return rc;
	}
	return 0;
}

/*
 * Read a piece that cannot be read as a whole. It counts as a hole if neither of its ends can be
 * read.
 */
static int each_one(struct walk *w, uint64_t address, uint64_t n)
{
	uint32_t size = w->source->layout.record_size;
	uint64_t i, ends[2] = {address, address + (n - 1) * size};
	int rc;

	if (w->source->memory(w->source, ends[0], w->buf, size) < 0 &&
	    w->source->memory(w->source, ends[1], w->buf, size) < 0) {
		w->missing += n;
		if (++w->holes == HOLES_MAX)
			snprintf(w->why, sizeof w->why, "the %u MiB before cannot be read",
				 HOLES_MAX * (PIECE >> 20));
		return 0;
	}
	w->holes = 0;
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

/*
 * How many of the n records from address on are read at once. *ret_there: false if they were never
 * written. A record that was partly written is read alone. 0: the walk stops.
 */
static uint64_t next_run(struct walk *w, uint64_t address, uint64_t n, bool *ret_there)
{
	const uint32_t size = w->source->layout.record_size;
	const uint64_t per = PIECE / size;
	uint64_t run;

	*ret_there = true;
	if (!w->source->run)
		return n < per ? n : per;
	run = w->source->run(w->source, address, n * size, ret_there);
	if (!run) {
		snprintf(w->why, sizeof w->why, "the process has not touched what they are in");
		return 0;
	}
	if (run < size)
		*ret_there = true;
	run = run < size ? 1 : run / size;
	return !*ret_there || run < per ? run : per;
}

/*
 * Read one record. Of its pages, those that the process has never touched are zeros, and are left
 * untouched: else the next record would be in a page that exists, and so on.
 */
static int read_touched(struct walk *w, uint64_t at)
{
	const uint64_t size = w->source->layout.record_size;
	uint64_t done, run;
	int rc = 0;

	for (done = 0; done < size && rc >= 0; done += run) {
		bool there;

		run = w->source->run(w->source, at + done, size - done, &there);
		there |= !run;
		run = run && run < size - done ? run : size - done;
		if (there)
			rc = w->source->memory(w->source, at + done, w->buf + done, run);
		else
			memset(w->buf + done, 0, run);
	}
	return rc;
}

/* Whether `more` bytes are within the process' memory, which may have grown meanwhile. */
static bool may_be(struct walk *w, uint64_t more)
{
	uint64_t held;

	w->bytes += more;
	if (!w->source->held || w->bytes <= w->most)
		return true;
	held = w->source->held(w->source);
	w->most = held > UINT64_MAX - HELD_MORE ? UINT64_MAX : held + HELD_MORE;
	if (w->bytes <= w->most)
		return true;
	snprintf(w->why, sizeof w->why,
		 "there are no more than %llu MiB of memory to look for them",
		 (unsigned long long)(held >> 20));
	return false;
}

static int each_piece(struct walk *w, uint64_t at, uint64_t n)
{
	int rc;

	if (n == 1 && w->source->run)
		rc = read_touched(w, at);
	else
		rc = w->source->memory(w->source, at, w->buf, n * w->source->layout.record_size);
	if (rc == -EDQUOT) {
		snprintf(w->why, sizeof w->why, "the process has not touched what they are in");
		return 0;
	}
	if (rc < 0)
		return each_one(w, at, n);
	w->holes = 0;
	return each_in(w, at, w->buf, n);
}

/* *ret: how many records the walk has covered. */
static int walk(struct walk *w, uint64_t *ret)
{
	const struct fib_layout *layout = &w->source->layout;
	uint64_t n;
	int rc = 0;

	for (*ret = 0; rc == 0 && *ret < layout->committed && !w->why[0]; *ret += n) {
		const uint64_t at = layout->records + *ret * layout->record_size;
		bool there;

		n = next_run(w, at, layout->committed - *ret, &there);
		if (!n)
			break;
		if (there && !may_be(w, n * layout->record_size))
			break;
		if (there) {
			rc = each_piece(w, at, n);
			if (w->why[0] && !w->holes)
				break; /* these were not read */
			continue;
		}
		w->nothing += n * layout->record_size;
		w->seen += n;
		if (w->nothing > NOTHING_MAX)
			snprintf(w->why, sizeof w->why, "%llu GiB of them were never written",
				 (unsigned long long)(w->nothing >> 30));
	}
	return rc;
}

static void say(struct walk *w, uint64_t done)
{
	const struct fib_layout *layout = &w->source->layout;

	w->source->partial = w->why[0] || w->missing;
	if (w->why[0])
		ins_problems_add(&w->source->problems,
				 "gave up after %llu of %llu fiber records: %s; fibers in the "
				 "others are missing here",
				 (unsigned long long)done, (unsigned long long)layout->committed,
				 w->why);
	else if (w->missing)
		ins_problems_add(&w->source->problems,
				 "%llu of %llu fiber records cannot be read: fibers in them are "
				 "missing here",
				 (unsigned long long)w->missing,
				 (unsigned long long)layout->committed);
}

int ins_records_each(struct ins_source *source, ins_record_fn *fn, void *context,
		     struct ins_error *error)
{
	struct walk w = {source, fn, context, malloc(PIECE), 0, 0, 0, 0, 0, 0, ""};
	uint64_t done;
	int rc;

	if (!w.buf)
		return ins_error_set(error, -ENOMEM, "out of memory");
	rc = walk(&w, &done);
	free(w.buf);
	if (rc)
		return rc;
	if (w.missing && !w.seen)
		return ins_error_set(
			error, -EFAULT, "the fiber records at 0x%llx cannot be read: none of %llu",
			(unsigned long long)source->layout.records,
			(unsigned long long)(w.why[0] ? source->layout.committed : w.missing));
	say(&w, done);
	return 0;
}

/* Whether there is a record at that address. */
static bool is_record(const struct fib_layout *layout, uint64_t address)
{
	const uint64_t offset = address - layout->records;

	return address >= layout->records && offset % layout->record_size == 0 &&
	       offset / layout->record_size < layout->committed;
}

int ins_records_asked(struct ins_source *source, const struct ins_request *request,
		      ins_record_fn *fn, void *context, struct ins_error *error)
{
	const uint64_t at = request->record;
	unsigned char *bytes;
	int rc;

	if (!request->id || !is_record(&source->layout, at))
		return ins_records_each(source, fn, context, error);
	bytes = malloc(source->layout.record_size);
	if (!bytes)
		return ins_error_set(error, -ENOMEM, "out of memory");
	rc = source->memory(source, at, bytes, source->layout.record_size);
	if (rc == 0)
		ins_byte_order_record(source, bytes);
	rc = rc < 0 ? 0 : fn(context, at, bytes); /* else it is not found */
	free(bytes);
	return rc;
}

bool ins_records_wanted(const struct ins_request *request, const struct fib_row *row)
{
	return !request->id || request->id == row->id;
}
