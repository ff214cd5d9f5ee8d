/* SPDX-License-Identifier: MIT */
/*
 * frame_order.c - convert frames of the control protocol from the other byte order
 *
 * Tables say where the numbers are. A new member of a struct in wire.h, or of struct fib_row, gets an
 * entry; a new kind of frame in an answer gets an entry in kinds. Structs have no holes, and the
 * same offsets on each machine. A frame of another version may be shorter or longer: what it lacks is not
 * converted, what it has more is not read.
 */
#include "inspect/source/frame_order.h"

#include <string.h>

#include "inspect/source/byte_order.h"
#include "layout/row.h"
#include "wire/thread.h"
#include "wire/wire.h"

static const struct ins_run header[] = {{1, 4}, {2, 2}, {1, 4}, {0}};
static const struct ins_run process[] = {{4, 4}, {2, 8}, {0}};
static const struct ins_run rows[] = {{2, 4}, {0}};
static const struct ins_run stack[] = {{4, 4}, {0}};
static const struct ins_run row[] = {
	{20, 8}, /* id to entry */
	{4, 1},	 /* state to cancelled */
	{2, 2},	 /* carrier, pins */
	INS_RUN_TEXT(fib_row, name),
	INS_RUN_TEXT(fib_row, object_name),
	{4, 8}, /* runnable to labels */
	INS_RUN_TEXT(fib_row, label),
	{1 + FIB_ROW_READS, 8},
	{2, 4}, /* reading, toucher */
	{3, 8}, /* held to runtime */
	{2, 4}, /* pinned_waits, bound */
	{1, 8}, /* polled */
	{0},
};
static const struct ins_run policy[] = {{2, 4}, {2, 8}, {0}};
static const struct ins_run watchdog[] = {{3, 8}, {0}};
static const struct ins_run end[] = {{4, 8}, {0}};
static const struct ins_run error[] = {{1, 4}, {0}};
static const struct ins_run runtime[] = {
	{2, 8},
	{4, 4},
	INS_RUN_TEXT(fib_wire_runtime, poller),
	INS_RUN_TEXT(fib_wire_runtime, note),
	{5, 8}, /* now to pinned_dropped */
	{2, 4},
	{0},
};
static const struct ins_run carrier[] = {
	{2, 4},
	{1, 8},
	{2, 4},			  /* queued, timers */
	{9 + FIB_WIRE_DELAYS, 8}, /* since to delays */
	{1, 8},
	INS_RUN_TEXT(fib_wire_carrier, name),
	{1, 8},
	{0},
};
static const struct ins_run counters[] = {
	{14, 8},
	{2, 4},
	{FIB_WIRE_STATES + FIB_WIRE_WAITS, 8},
	{0},
};
static const struct ins_run audited[] = {{2, 4}, {1, 8}, {0}};
static const struct ins_run audit_entry[] = {{3, 8}, {4, 4}, {4, 8}, {0}};
static const struct ins_run thread[] = {{4, 8}, {4, 4}, {0}};
static const struct ins_run event[] = {
	{10, 8}, {6, 4}, {1, 8}, INS_RUN_TEXT(fib_wire_event, name), {1, 8}, {0},
};

/* What a payload is made of: a head, and perhaps elements at its end, whose size and number are in the head. */
static const struct kind {
	uint16_t type;
	uint16_t size_at, count_at; /* offsets in the head */
	const struct ins_run *head;
	const struct ins_run *element; /* NULL: there are none */
} kinds[] = {
	{FIB_WIRE_PROCESS, 0, 0, process, NULL},
	{FIB_WIRE_ROWS, offsetof(struct fib_wire_rows, row_size),
	 offsetof(struct fib_wire_rows, count), rows, row},
	{FIB_WIRE_POLICY_IS, 0, 0, policy, NULL},
	{FIB_WIRE_WATCHDOG_IS, 0, 0, watchdog, NULL},
	{FIB_WIRE_END, 0, 0, end, NULL},
	{FIB_WIRE_ERROR, 0, 0, error, NULL},
	{FIB_WIRE_REFUSED, 0, 0, error, NULL},
	{FIB_WIRE_RUNTIME, offsetof(struct fib_wire_runtime, carrier_size),
	 offsetof(struct fib_wire_runtime, carriers), runtime, carrier},
	{FIB_WIRE_COUNTERS_ARE, 0, 0, counters, NULL},
	{FIB_WIRE_AUDITED, offsetof(struct fib_wire_audited, entry_size),
	 offsetof(struct fib_wire_audited, count), audited, audit_entry},
	{FIB_WIRE_THREAD_IS, 0, 0, thread, NULL},
	{FIB_WIRE_EVENT, 0, 0, event, NULL},
};

/* A number of a payload, from the other byte order. 0: the payload ends before it. */
static uint32_t number(const unsigned char *at, size_t size, size_t offset)
{
	uint32_t n = 0;

	if (size < sizeof n || offset > size - sizeof n)
		return 0;
	memcpy(&n, at + offset, sizeof n);
	return __builtin_bswap32(n);
}

/* Convert the elements at the end. Returns the number of bytes before them. */
static size_t convert_elements(const struct kind *kind, unsigned char *at, size_t size)
{
	const size_t each = number(at, size, kind->size_at);
	const size_t count = number(at, size, kind->count_at);
	size_t before, i;

	if (!each || count > size / each)
		return size;
	before = size - count * each;
	for (i = 0; i < count; i++)
		ins_swap_runs(at + before + i * each, each, kind->element);
	return before;
}

/* The head is followed by one row, and that by the bytes of a stack. */
static void convert_stack(unsigned char *at, size_t size)
{
	const size_t known = number(at, size, offsetof(struct fib_wire_stack, row_size));
	const size_t head = sizeof(struct fib_wire_stack), left = size > head ? size - head : 0;

	ins_swap_runs(at, size, stack);
	ins_swap_runs(at + size - left, known < left ? known : left, row);
}

static void convert_layout(unsigned char *at, size_t size)
{
	const struct ins_machine other = {.swapped = true};
	struct fib_layout layout = {0};

	if (size > sizeof layout)
		size = sizeof layout;
	memcpy(&layout, at, size);
	ins_byte_order_layout(other, &layout);
	memcpy(at, &layout, size);
}

static void convert_payload(uint16_t type, unsigned char *at, size_t size)
{
	size_t i;

	if (type == FIB_WIRE_LAYOUT)
		convert_layout(at, size);
	else if (type == FIB_WIRE_STACKS)
		convert_stack(at, size);
	for (i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		if (kinds[i].type != type)
			continue;
		if (kinds[i].element)
			size = convert_elements(&kinds[i], at, size);
		ins_swap_runs(at, size, kinds[i].head);
	}
}

void ins_frame_order_convert(void *frames, size_t size)
{
	unsigned char *at = frames;
	struct fib_wire_header h;

	while (size >= sizeof h) {
		ins_swap_runs(at, sizeof h, header);
		memcpy(&h, at, sizeof h);
		at += sizeof h;
		size -= sizeof h;
		if (fib_wire_check(&h, FIB_WIRE_FRAME_MAX) < 0 || h.length > size)
			return;
		convert_payload(h.type, at, h.length);
		at += h.length;
		size -= h.length;
	}
}
