/* SPDX-License-Identifier: MIT */
/*
 * test_spawn_failure.c - a failed spawn leaves no fiber, mapping, group member or count behind
 *
 * Runs in children whose address space is limited; after the limit is raised everything works
 * again.
 */
#include "carriers.h"

#include <errno.h>

#include "tests/harness/child.h"

#define MOST  20000
#define AGAIN 500 /* failing spawns in a row */

struct end {
	struct fiber *fibers[MOST];
	unsigned count;
	_Atomic unsigned parked;
	int line; /* the failed line; the exit code is half of it */
};

static void *park_once(void *arg)
{
	struct end *e = arg;

	e->parked++;
	fiber_park(FIBER_FOREVER);
	return arg;
}

static int count_one(const struct fiber_info *info, void *arg)
{
	(void)info;
	++*(unsigned *)arg;
	return 0;
}

static unsigned alive(void)
{
	unsigned n = 0;

	fiber_foreach(NULL, count_one, &n);
	return n;
}

/* Pages of address space. (The number of mappings changes when the service thread splits one.) */
static unsigned long space(void)
{
	FILE *statm = fopen("/proc/self/statm", "r");
	unsigned long pages = 0;

	if (!statm || fscanf(statm, "%lu", &pages) != 1)
		pages = 0;
	if (statm)
		fclose(statm);
	return pages;
}

#define must(e, condition)                      \
	do {                                    \
		if (!(condition) && !(e)->line) \
			(e)->line = __LINE__;   \
	} while (0)

static void fail_in_every_way(struct end *e)
{
	const struct fiber_attr big = {.size = sizeof(big), .stack_size = 512 << 20};
	struct fiber *const mark = (struct fiber *)e;
	struct fiber *fiber = mark;
	struct fiber_group group;
	unsigned i;

	fiber_group_init(&group);
	for (i = 0; i < AGAIN; i++) {
		must(e, fiber_spawn(park_once, e, &fiber) == -ENOMEM);
		must(e, fiber_spawn(park_once, e, NULL) == -ENOMEM);
		must(e, fiber_create(NULL, park_once, e, &fiber) == -ENOMEM);
		must(e, fiber_spawn_attr(&big, park_once, e, &fiber) == -ENOMEM);
		must(e, fiber_runtime_spawn(fiber_runtime_self(), NULL, park_once, e, &fiber) ==
				-ENOMEM);
		must(e, fiber_group_spawn(&group, park_once, e) == -ENOMEM);
		must(e, fiber == mark);
	}
	must(e, fiber_group_live(&group) == 0);
	must(e, fiber_group_wait(&group, 0) == 0);
}

static void *spawn_to_the_end(void *arg)
{
	struct end *e = arg;
	struct fiber_result r;
	unsigned i, before;
	unsigned long pages;
	int rc = 0;

	/*
	 * Repeat until this carrier has no free stack: a yield may move this fiber to another
	 * carrier, which has one.
	 */
	do {
		before = e->count;
		while (e->count < MOST &&
		       (rc = fiber_spawn(park_once, e, &e->fibers[e->count])) == 0)
			e->count++;
		while (e->parked < e->count)
			fiber_yield();
	} while (e->count > before);
	must(e, rc == -ENOMEM && e->count > 10);
	must(e, alive() == e->count + 1);
	fail_in_every_way(e);
	pages = space();
	fail_in_every_way(e);
	must(e, pages && space() == pages);
	must(e, alive() == e->count + 1);
	must(e, e->parked == e->count);
	/* One exits: its stack can be reused, unless another carrier keeps it for its own use. */
	fiber_unpark(e->fibers[0]);
	must(e, fiber_join(e->fibers[0], &r, FIBER_FOREVER) == 0 && r.value == e);
	rc = fiber_spawn(park_once, e, &e->fibers[0]);
	must(e, rc == 0 || (rc == -ENOMEM && carriers() > 1));
	harness_limit_space(SIZE_MAX);
	must(e, rc == 0 || fiber_spawn(park_once, e, &e->fibers[0]) == 0);
	must(e, fiber_spawn(park_once, e, &e->fibers[e->count]) == 0);
	e->count++;
	for (i = 0; i < e->count; i++) {
		fiber_unpark(e->fibers[i]);
		must(e, fiber_join(e->fibers[i], NULL, FIBER_FOREVER) == 0);
	}
	must(e, alive() == 1);
	return NULL;
}

static struct end the_end;

static int in_the_child(void *arg)
{
	const struct fiber_runtime_options options = carriers_options();
	struct fiber_runtime *rt;
	struct fiber *fiber;

	(void)arg;
	if (fiber_runtime_start(&options, &rt) < 0)
		return 1;
	harness_limit_space((size_t)100 << 20);
	if (fiber_runtime_spawn(rt, NULL, spawn_to_the_end, &the_end, &fiber) < 0)
		return 2;
	fiber_join(fiber, NULL, FIBER_FOREVER);
	/* The runtime finishes only if every spawn that was counted in was counted out. */
	if (fiber_runtime_finish(rt, fiber_after(20000 * MS)) < 0)
		return 3;
	return the_end.line / 2;
}

static void test_spawn_without_memory_leaves_nothing_behind(void **state)
{
	struct harness_child child;

	(void)state;
	/* A sanitizer's shadow takes the whole address space. */
	if (*harness_sanitizer())
		skip();
	harness_child(in_the_child, NULL, 60, &child);
	if (child.code)
		print_error("# code %d, signal %d, line %d: %s\n", child.code, child.signal,
			    child.code * 2, child.text);
	assert_int_equal(child.signal, 0);
	assert_int_equal(child.code, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spawn_without_memory_leaves_nothing_behind),
	};

	harness_watchdog(100);
	return cmocka_run_group_tests_name("spawn: failure", tests, NULL, NULL);
}
