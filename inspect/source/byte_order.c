/* SPDX-License-Identifier: MIT */
/*
 * byte_order.c - convert what a program of another byte order publishes about its fibers
 *
 * Tables say where the numbers are. A new member of struct fib_layout gets an entry; a new field of
 * a record needs none, because every field but the texts is one number of the field's size, or an
 * array of 8-byte numbers.
 *
 * Objects are read through functions of libfiber/layout/, which know no byte order. They read the
 * object's name, or a list of descriptors, or one number at a time. So the reader that they get
 * converts what is read by its address and size.
 */
#include "inspect/source/byte_order.h"

#include <poll.h>

#define AT(member) offsetof(struct fib_layout, member)
/* An array of numbers of that size, or of structs of such numbers. */
#define ALL(member, size)                                                               \
	{                                                                               \
		AT(member), size, sizeof((struct fib_layout *)0)->member / (size), size \
	}

static const struct {
	size_t offset, size, count, step;
} numbers[] = {
	ALL(version, 4),
	ALL(size, 4),
	ALL(machine, 4),
	ALL(recipe, 4),
	ALL(records, 8),
	ALL(record_size, 4),
	ALL(field_count, 4),
	ALL(committed, 8),
	ALL(capacity, 8),
	ALL(entry_low, 8),
	ALL(entry_high, 8),
	ALL(clock, 8),
	ALL(carriers, 4),
	ALL(state_count, 4),
	ALL(wait_count, 4),
	ALL(fields, 2),
	ALL(objects, 2),
	ALL(register_count, 4),
	ALL(context, 2),
	{AT(registers) + offsetof(struct fib_layout_register, offset), 2, FIB_LAYOUT_REGISTERS,
	 sizeof(struct fib_layout_register)},
	ALL(code, 8),
	ALL(readers, 2),
	ALL(waiting_threads, 4),
	ALL(offload_threads, 4),
	ALL(offload_queued, 4),
	ALL(offload_since, 8),
	ALL(recording_lost, 8),
	ALL(waiters, 2),
	ALL(stacks, 8),
	ALL(thread_wait, 2),
	ALL(touchers, 2),
	ALL(worker, 2),
};

void ins_byte_order_layout(struct ins_machine machine, struct fib_layout *layout)
{
	unsigned char *at = (unsigned char *)layout;
	size_t i, k;

	for (i = 0; machine.swapped && i < sizeof numbers / sizeof numbers[0]; i++)
		for (k = 0; k < numbers[i].count; k++)
			ins_swap(at + numbers[i].offset + k * numbers[i].step, numbers[i].size);
}

static bool is_swapped(const struct ins_source *source)
{
	return source->modules->machine.swapped;
}

void ins_byte_order_record(const struct ins_source *source, void *record)
{
	const struct fib_layout *layout = &source->layout;
	unsigned char *at = record;
	size_t i;

	for (i = 0; is_swapped(source) && i < FIB_LAYOUT_FIELDS; i++) {
		const struct fib_layout_field f = layout->fields[i];

		if (i == FIB_FIELD_NAME || i == FIB_FIELD_FAILURE)
			continue;
		if (f.size == 2 || f.size == 4 || f.size == 8)
			ins_swap(at + f.offset, f.size);
		else if (i == FIB_FIELD_READS)
			ins_swap_all(at + f.offset, sizeof(uint64_t), f.size / sizeof(uint64_t));
	}
	for (i = 0;
	     is_swapped(source) && layout->recipe == FIB_RECIPE_SAVED && i < layout->register_count;
	     i++)
		if (layout->registers[i].base == FIB_BASE_RECORD)
			ins_swap(at + layout->registers[i].offset, sizeof(uint64_t));
	if (is_swapped(source) && layout->recipe == FIB_RECIPE_SAVED && layout->context.size == 8)
		ins_swap(at + layout->context.offset, sizeof(uint64_t));
}

struct object {
	struct ins_source *source;
	const struct fib_row *row;
};

/* Read one number, the name of the object or a list of descriptors. */
static int read_object(void *context, uint64_t address, void *buf, size_t size)
{
	const struct object *o = context;
	const struct fib_row *row = o->row;
	const struct fib_layout_field name = o->source->layout.objects[row->wait_kind].name;
	const int rc = o->source->memory(o->source, address, buf, size);
	size_t i;

	if (rc < 0)
		return rc;
	for (i = 0; row->polled && i < size / sizeof(struct pollfd); i++)
		ins_swap_members((struct pollfd *)buf + i, "422");
	if (!row->polled && !(name.size && address == row->wait_object + name.offset))
		ins_swap(buf, size);
	return 0;
}

int ins_byte_order_resolve(struct ins_source *source, struct fib_row *row)
{
	struct object o = {source, row};

	return is_swapped(source) ? fib_row_resolve(&source->layout, row, read_object, &o)
				  : fib_row_resolve(&source->layout, row, source->memory, source);
}

/* The head of a block of labels is two numbers; the rest is text. */
static int read_labels(void *context, uint64_t address, void *buf, size_t size)
{
	struct ins_source *source = context;
	const int rc = source->memory(source, address, buf, size);

	if (rc == 0 && size == offsetof(struct fib_layout_labels, text))
		ins_swap_members(buf, "88");
	return rc;
}

int ins_byte_order_labels(struct ins_source *source, struct fib_row *row)
{
	return fib_row_labels(row, is_swapped(source) ? read_labels : source->memory, source);
}

int ins_byte_order_word(struct ins_source *source, uint64_t address, uint64_t *ret)
{
	const int rc = source->memory(source, address, ret, sizeof *ret);

	if (rc == 0 && is_swapped(source))
		ins_swap(ret, sizeof *ret);
	return rc;
}
