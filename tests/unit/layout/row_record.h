/* SPDX-License-Identifier: MIT */
/* row_record.h - a fiber's record in that registry, and the row made of it */
#ifndef UNIT_LAYOUT_ROW_RECORD_H
#define UNIT_LAYOUT_ROW_RECORD_H

#include <fiber/fiber.h>

#include "layout/row.h"
#include "registry.h"

#define ADDRESS UINT64_C(0x12340)
#define NOW	INT64_C(5000000000)
#define LOW	UINT64_C(0x700000)
#define SIZE	UINT64_C(0x10000)

static struct fib_layout l;
static unsigned char *record;
static struct fib_row row;

static void put(enum fib_layout_field_id id, uint64_t value)
{
	const size_t size = l.fields[id].size;
	const bool big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

	/* A big-endian machine has the low bytes last. */
	memcpy(record + l.fields[id].offset, (const char *)&value + (big ? sizeof value - size : 0),
	       size);
}

static void put_text(enum fib_layout_field_id id, const char *text)
{
	strncpy((char *)record + l.fields[id].offset, text, l.fields[id].size);
}

static bool decode(void)
{
	return fib_row_decode(&l, record, ADDRESS, NOW, &row);
}

/* A fiber suspended in a mutex, 4 KiB deep in its stack. */
static int setup(void **state)
{
	(void)state;
	make_layout(&l);
	if (!record)
		record = make_edge(RECORD_SIZE);
	memset(record, 0, RECORD_SIZE);
	put(FIB_FIELD_ID, 7741);
	put(FIB_FIELD_PARENT, 88);
	put(FIB_FIELD_SEQ, 20);
	put(FIB_FIELD_SP, LOW + SIZE - 4096);
	put(FIB_FIELD_FP, 0x7777);
	put(FIB_FIELD_PC, 0x4444);
	put(FIB_FIELD_SINCE, (uint64_t)NOW - 1000);
	put(FIB_FIELD_STATE, FIBER_SUSPENDED);
	put(FIB_FIELD_WAIT_KIND, FIB_WAIT_MUTEX);
	put(FIB_FIELD_FLAGS, FIBER_DETACHED);
	put(FIB_FIELD_LABELS, 0xaaaa);
	put(FIB_FIELD_CANCELLED, 6); /* not 0: cancelled; the bits are internal */
	put(FIB_FIELD_MASKED, 2);
	put(FIB_FIELD_CARRIER, 3);
	put(FIB_FIELD_PINS, 0x102);
	put(FIB_FIELD_WAIT_OBJECT, 0x5f00);
	put(FIB_FIELD_WAIT_ARG, 0x5f01);
	put(FIB_FIELD_DEADLINE, (uint64_t)NOW + 1);
	put(FIB_FIELD_CPU, 500);
	put(FIB_FIELD_STACK_LOW, LOW);
	put(FIB_FIELD_STACK_SIZE, SIZE);
	put(FIB_FIELD_SPAWN_PC, 0x8888);
	put(FIB_FIELD_ENTRY, 0x9999);
	put_text(FIB_FIELD_NAME, "req-7741");
	return 0;
}

#define ROW_TEST(name) cmocka_unit_test_setup(name, setup)

#endif
