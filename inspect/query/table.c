/* SPDX-License-Identifier: MIT */
/*
 * table.c - all fibers of a source at once
 *
 * Rows are kept without the array for labels, which is half of a row and mostly empty.
 */
#include "inspect/query/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct entry {
	unsigned char row[offsetof(struct fib_row, label)];
	unsigned char tail[sizeof(struct fib_row) - offsetof(struct fib_row, readers)];
	unsigned flags; /* INS_FIBER_* */
	char *label;	/* FIB_LAYOUT_LABELS bytes, or NULL: none */
};

struct ins_table {
	struct entry *entries;
	size_t count, room;
	bool sorted;
	int64_t now;
	struct ins_summary summary;
};

int ins_table_new(struct ins_table **ret)
{
	*ret = calloc(1, sizeof **ret);
	return *ret ? 0 : -ENOMEM;
}

void ins_table_free(struct ins_table *table)
{
	size_t i;

	if (!table)
		return;
	for (i = 0; i < table->count; i++)
		free(table->entries[i].label);
	free(table->entries);
	free(table);
}

static uint64_t id_of(const struct entry *e)
{
	uint64_t id;

	memcpy(&id, e->row + offsetof(struct fib_row, id), sizeof id);
	return id;
}

static int make_room(struct ins_table *table)
{
	size_t room = table->room ? table->room + table->room / 2 : 1024;
	struct entry *entries;

	if (table->count < table->room)
		return 0;
	entries = realloc(table->entries, room * sizeof *entries);
	if (!entries)
		return -ENOMEM;
	table->entries = entries;
	table->room = room;
	return 0;
}

int ins_table_add(struct ins_table *table, const struct ins_fiber *fiber)
{
	struct entry *e;
	int rc = make_room(table);

	if (rc < 0)
		return rc;
	e = &table->entries[table->count];
	memcpy(e->row, &fiber->row, sizeof e->row);
	memcpy(e->tail, &fiber->row.readers, sizeof e->tail);
	e->flags = fiber->flags;
	e->label = NULL;
	if (fiber->row.label[0]) {
		e->label = malloc(sizeof fiber->row.label);
		if (!e->label)
			return -ENOMEM;
		memcpy(e->label, fiber->row.label, sizeof fiber->row.label);
	}
	table->now = fiber->now;
	table->sorted = table->count ? table->sorted && id_of(e - 1) < id_of(e) : true;
	table->count++;
	return 0;
}

static int take(void *context, const struct ins_fiber *fiber)
{
	return ins_table_add(context, fiber);
}

int ins_table_read(struct ins_source *source, const struct ins_request *request,
		   struct ins_error *error, struct ins_table **ret)
{
	int rc = ins_table_new(ret);

	if (rc == 0)
		rc = ins_source_read(source, request, take, *ret, &(*ret)->summary, error);
	if (rc == -ENOMEM)
		ins_error_set(error, rc, "out of memory");
	if (rc < 0) {
		ins_table_free(*ret);
		*ret = NULL;
	}
	return rc;
}

static int by_id(const void *a, const void *b)
{
	uint64_t x = id_of(a), y = id_of(b);

	return x < y ? -1 : x > y;
}

static void sort(struct ins_table *table)
{
	if (!table->sorted && table->count)
		qsort(table->entries, table->count, sizeof(struct entry), by_id);
	table->sorted = true;
}

size_t ins_table_count(struct ins_table *table)
{
	sort(table);
	return table->count;
}

void ins_table_get(struct ins_table *table, size_t i, struct ins_fiber *ret)
{
	const struct entry *e;

	sort(table);
	e = &table->entries[i];
	*ret = (struct ins_fiber){.now = table->now, .flags = e->flags};
	memcpy(&ret->row, e->row, sizeof e->row);
	memcpy(&ret->row.readers, e->tail, sizeof e->tail);
	if (e->label)
		memcpy(ret->row.label, e->label, sizeof ret->row.label);
}

ssize_t ins_table_find(struct ins_table *table, uint64_t id)
{
	size_t low = 0, high;

	sort(table);
	high = table->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (id_of(&table->entries[middle]) < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < table->count && id_of(&table->entries[low]) == id ? (ssize_t)low : -1;
}

const struct ins_summary *ins_table_summary(const struct ins_table *table)
{
	return &table->summary;
}
