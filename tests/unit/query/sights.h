/* SPDX-License-Identifier: MIT */
/* sights.h - fibers as a look at each of them in turn delivers them */
#ifndef TEST_INSPECT_SIGHTS_H
#define TEST_INSPECT_SIGHTS_H

#include <assert.h>

#include "inspect/query/fields.h"
#include "tests/harness/inspect/rows.h"

/* A fiber seen at `now`, with this CPU time and this number of switches. */
static inline struct ins_fiber sights_fiber(uint64_t id, int64_t now, uint64_t cpu,
					    uint64_t switches)
{
	struct ins_fiber fiber = rows_fiber(id, "");

	fiber.now = now;
	fiber.row.cpu = cpu;
	fiber.row.switches = switches;
	return fiber;
}

static inline struct ins_sight sights_of(const struct ins_fiber *fiber)
{
	static struct fib_layout layout;
	struct ins_sight sight;

	rows_layout(&layout);
	sight.layout = &layout;
	sight.symbols = NULL;
	sight.fiber = fiber;
	return sight;
}

static inline struct ins_field sights_field(const char *name)
{
	struct ins_field field;

	if (!ins_field_find(name, strlen(name), &field))
		assert(!"a field of that name");
	return field;
}

#endif
