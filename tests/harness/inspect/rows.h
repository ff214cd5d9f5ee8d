/* SPDX-License-Identifier: MIT */
/* rows.h - fibers and a registry's layout as in a healthy program */
#ifndef TEST_INSPECT_ROWS_H
#define TEST_INSPECT_ROWS_H

#include <stdio.h>
#include <string.h>

#include <fiber/fiber.h>

#include "inspect/elf/image.h"
#include "inspect/model/source.h"
#include "layout/layout.h"

/* A suspended fiber without a wait. */
static inline struct ins_fiber rows_fiber(uint64_t id, const char *name)
{
	struct ins_fiber fiber = {.now = INT64_C(5000000000)};

	fiber.row.id = id;
	fiber.row.parent = 1;
	fiber.row.seq = 2 * id;
	fiber.row.switches = id;
	fiber.row.state = FIBER_SUSPENDED;
	fiber.row.age = INT64_C(1500000000);
	fiber.row.deadline = INT64_MAX;
	fiber.row.carrier = FIB_ROW_CARRIER_NONE;
	fiber.row.stack_low = 0x10000;
	fiber.row.stack_size = 0x4000;
	fiber.row.stack_used = 0x100;
	fiber.row.stack_high_water = 0x200;
	fiber.row.sp = 0x13f00;
	fiber.row.spawn_pc = 0x1234;
	snprintf(fiber.row.name, sizeof fiber.row.name, "%s", name);
	return fiber;
}

struct rows_record {
	uint64_t sp, fp, pc, seq, since;
	uint64_t id, parent, stack_low, stack_size;
	uint64_t object;
	uint8_t state, wait_kind, unused[6];
	char name[32];
};

/* A layout that describes struct rows_record. */
static inline void rows_layout(struct fib_layout *layout)
{
#define ROWS_FIELD(id, member)                                                               \
	layout->fields[id] = (struct fib_layout_field){offsetof(struct rows_record, member), \
						       sizeof((struct rows_record *)0)->member}
	memset(layout, 0, sizeof *layout);
	memcpy(layout->magic, FIB_LAYOUT_MAGIC, sizeof layout->magic);
	layout->version = FIB_LAYOUT_VERSION;
	layout->size = sizeof *layout;
	layout->machine = ins_machine_self();
	layout->recipe = FIB_RECIPE_CFI;
	layout->record_size = sizeof(struct rows_record);
	layout->field_count = FIB_FIELD_COUNT;
	ROWS_FIELD(FIB_FIELD_SP, sp);
	ROWS_FIELD(FIB_FIELD_FP, fp);
	ROWS_FIELD(FIB_FIELD_PC, pc);
	ROWS_FIELD(FIB_FIELD_SEQ, seq);
	ROWS_FIELD(FIB_FIELD_SINCE, since);
	ROWS_FIELD(FIB_FIELD_ID, id);
	ROWS_FIELD(FIB_FIELD_PARENT, parent);
	ROWS_FIELD(FIB_FIELD_STACK_LOW, stack_low);
	ROWS_FIELD(FIB_FIELD_STACK_SIZE, stack_size);
	ROWS_FIELD(FIB_FIELD_WAIT_OBJECT, object);
	ROWS_FIELD(FIB_FIELD_STATE, state);
	ROWS_FIELD(FIB_FIELD_WAIT_KIND, wait_kind);
	ROWS_FIELD(FIB_FIELD_NAME, name);
#undef ROWS_FIELD
	snprintf(layout->program, sizeof layout->program, "rows");
	snprintf(layout->port, sizeof layout->port, "x86_64");
}

#endif
