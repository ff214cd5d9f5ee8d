/* SPDX-License-Identifier: MIT */
/*
 * live_many.c - copy many records of a live process at once
 *
 * A search that needs only the records, but all of them, would spend its time on a system call for
 * each. Records lie side by side. So one call copies a run of them three times, one copy after the other.
 * The middle copy of a record is consistent if its seq, id and start of the wait are the same in all
 * three, and the fiber does not run: this is the check of live_copy.c, for many records together.
 *
 * A record that has moved meanwhile is left to live_copy.c, which tries again.
 */
#include "inspect/source/live.h"

#include <stdlib.h>
#include <string.h>

#include "inspect/text/duration.h"

#define RUN (64u << 10) /* bytes of records in a copy: small enough for the cache */

struct ins_live_many {
	uint64_t start, end; /* the addresses that the copies have; equal: none */
	int64_t now;	     /* when they were made */
	unsigned char before[RUN], during[RUN], after[RUN];
};

void ins_live_many_begin(struct ins_live *l)
{
	if (l->many)
		l->many->start = l->many->end = 0;
}

void ins_live_many_free(struct ins_live *l)
{
	free(l->many);
	l->many = NULL;
}

/* Copy the records from address on, as far as the process has touched their memory. */
static bool renew(struct ins_live *l, uint64_t address)
{
	const struct fib_layout *layout = &l->source.layout;
	const uint64_t end = layout->records + layout->committed * layout->record_size;
	struct ins_live_many *m = l->many;
	uint64_t size = RUN - RUN % layout->record_size;
	struct ins_memory_piece piece[3];
	bool there;

	ins_live_many_begin(l);
	size = size < end - address ? size : end - address;
	size = ins_present_run(l->present, address, size, &there);
	size -= size % layout->record_size;
	if (!there || !size)
		return false;
	piece[0] = (struct ins_memory_piece){address, m->before, size};
	piece[1] = (struct ins_memory_piece){address, m->during, size};
	piece[2] = (struct ins_memory_piece){address, m->after, size};
	if (ins_memory_read(&l->memory, piece, 3) < 0)
		return false;
	m->now = ins_duration_now();
	m->start = address;
	m->end = address + size;
	return true;
}

/* Whether a field of the record at an offset of the copies is the same in all of them. */
static bool is_same(const struct ins_live_many *m, size_t at, const struct fib_layout_field *field)
{
	const size_t i = at + field->offset;

	return memcmp(m->before + i, m->during + i, field->size) == 0 &&
	       memcmp(m->during + i, m->after + i, field->size) == 0;
}

static bool is_consistent(const struct ins_live *l, size_t at)
{
	const struct fib_layout_field *fields = l->source.layout.fields;
	uint64_t seq, id;

	memcpy(&seq, l->many->during + at + fields[FIB_FIELD_SEQ].offset, sizeof seq);
	memcpy(&id, l->many->during + at + fields[FIB_FIELD_ID].offset, sizeof id);
	/* A record without an id is free: decoding it would clear the caller's row. */
	return id && !(seq & 1) && is_same(l->many, at, &fields[FIB_FIELD_SEQ]) &&
	       is_same(l->many, at, &fields[FIB_FIELD_ID]) &&
	       is_same(l->many, at, &fields[FIB_FIELD_SINCE]);
}

bool ins_live_many(struct ins_live *l, uint64_t address, struct ins_fiber *fiber)
{
	const uint32_t record_size = l->source.layout.record_size;
	struct ins_live_many *m = l->many;
	size_t at;

	if (record_size > RUN)
		return false;
	if (!m)
		m = l->many = calloc(1, sizeof *m);
	if (!m)
		return false;
	if ((address < m->start || address + record_size > m->end) && !renew(l, address))
		return false;
	at = address - m->start;
	if (!is_consistent(l, at))
		return false;
	fiber->now = m->now;
	return fib_row_decode(&l->source.layout, m->during + at, address, m->now, &fiber->row);
}
