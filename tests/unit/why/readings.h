/* SPDX-License-Identifier: MIT */
/* readings.h - two readings made by hand, for the tests of rules */
#ifndef UNIT_WHY_READINGS_H
#define UNIT_WHY_READINGS_H

#include <string.h>

#include "inspect/why/rules.h"
#include "tests/harness/inspect/waiting.h"

#define S INT64_C(1000000000)

static struct ins_look look;
static struct ins_source source;
static struct ins_findings findings;

static struct waiting before, after;

static inline int begin(void **state)
{
	(void)state;
	memset(&look, 0, sizeof look);
	memset(&source, 0, sizeof source);
	rows_layout(&source.layout);
	source.layout.carriers = 1;
	findings = (struct ins_findings){0};
	before = waiting_new();
	after = waiting_new();
	look.source = &source;
	look.wanted = 3 * S;
	return 0;
}

static inline int end(void **state)
{
	(void)state;
	ins_findings_drop(&findings);
	ins_deadlocks_free(look.last.found);
	waiting_free(&before);
	waiting_free(&after);
	return 0;
}

/* The fiber is in both readings and was not switched in between. */
static inline void stays(const struct ins_fiber *fiber)
{
	waiting_put(&before, fiber);
	waiting_put(&after, fiber);
}

static inline void was_switched(struct ins_fiber fiber)
{
	waiting_put(&before, &fiber);
	fiber.row.seq += 2;
	waiting_put(&after, &fiber);
}

/* Let one rule look. Returns how much it has found. */
static inline size_t found(const struct ins_rule *rule)
{
	waiting_graph(&before);
	waiting_graph(&after);
	look.earlier =
		(struct ins_confirmed){.table = before.table, .graph = before.graph, .at = 0};
	look.last = (struct ins_confirmed){.table = after.table, .graph = after.graph, .at = 3 * S};
	assert_int_equal(ins_deadlocks_find(after.graph, NULL, 0, &look.last.found), 0);
	assert_int_equal(rule->find(&look, &findings), 0);
	ins_findings_sort(&findings);
	return findings.count;
}

static inline struct ins_fiber in_state(uint64_t id, enum fiber_state state, int64_t age)
{
	struct ins_fiber fiber = waiting_for(id, FIB_WAIT_NONE, 0, 0);

	fiber.row.state = (uint8_t)state;
	fiber.row.age = age;
	if (state == FIBER_RUNNING)
		fiber.row.carrier = 0;
	return fiber;
}

#define RULE_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

#endif
