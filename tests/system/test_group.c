/* SPDX-License-Identifier: MIT */
/* test_group.c - large groups, nested groups, and groups whose memory is reused at once */
#include "carriers.h"

#include <errno.h>
#include <stdatomic.h>

struct crowd {
	_Atomic unsigned ended;
	unsigned members, failing; /* index of the member that fails */
	int rounds, wrong;
};

struct place {
	struct crowd *crowd;
	unsigned number;
};

static void *member(void *arg)
{
	struct place *p = arg;
	struct crowd *c = p->crowd;
	unsigned number = p->number;
	int rc = 0;

	for (unsigned i = 0; i < number % 3; i++)
		fiber_yield();
	if (number % 4 == 1)
		rc = fiber_sleep(1000);
	if (number % 4 == 2 && number != c->failing && c->failing < c->members)
		rc = fiber_park(FIBER_FOREVER);
	atomic_fetch_add(&c->ended, 1);
	if (number == c->failing)
		fiber_fail(-EPROTO, "member %u", number);
	return rc ? arg : NULL;
}

/* One group per round on this stack: a late access to a group would hit the next one. */
static void *rounds_of_groups(void *arg)
{
	struct crowd *c = arg;

	for (int i = 0; i < c->rounds; i++) {
		struct fiber_group g;
		struct place places[40];
		unsigned spawned = 0;
		int rc = 0;

		atomic_store(&c->ended, 0);
		fiber_group_init(&g);
		for (unsigned k = 0; k < c->members && rc == 0; k++) {
			places[k] = (struct place){c, k};
			rc = fiber_group_spawn(&g, member, &places[k]);
			spawned += rc == 0;
		}
		rc = fiber_group_wait(&g, FIBER_FOREVER);
		c->wrong += rc != (c->failing < c->members ? -EPROTO : 0);
		c->wrong += atomic_load(&c->ended) != spawned || fiber_group_live(&g) != 0;
		memset(&g, 0xff, sizeof g);
		memset(places, 0xff, sizeof places);
	}
	return NULL;
}

/* TSan takes a millisecond per fiber. */
static int rounds(void)
{
	return *harness_sanitizer() ? 30 : 300;
}

static void test_group_has_none_alive_after_the_wait(void **state)
{
	struct crowd c = {.members = 40, .failing = 40, .rounds = rounds()};

	(void)state;
	assert_int_equal(carriers_run(rounds_of_groups, &c).error, 0);
	assert_int_equal(c.wrong, 0);
}

static void test_group_with_a_failing_member_ends_those_that_wait(void **state)
{
	(void)state;
	for (unsigned failing = 0; failing < 40; failing += 13) {
		struct crowd c = {.members = 40, .failing = failing, .rounds = rounds() / 3};

		assert_int_equal(carriers_run(rounds_of_groups, &c).error, 0);
		assert_int_equal(c.wrong, 0);
	}
}

/* -- a tree of groups -- */

static _Atomic unsigned leaves, refused;

static void *branch(void *arg)
{
	intptr_t depth = (intptr_t)arg;
	struct fiber_group g;
	int rc;

	if (depth == 0) {
		if (fiber_park(FIBER_FOREVER) == -ECANCELED)
			atomic_fetch_add(&refused, 1);
		return NULL;
	}
	fiber_group_init(&g);
	for (int i = 0; i < 3; i++)
		if (fiber_group_spawn(&g, branch, (void *)(depth - 1)) == 0 && depth == 1)
			atomic_fetch_add(&leaves, 1);
	rc = fiber_group_wait(&g, FIBER_FOREVER);
	return fiber_group_live(&g) ? arg : (void *)(intptr_t)rc;
}

static void test_group_cancelled_at_the_root_ends_the_whole_tree(void **state)
{
	struct fiber_runtime *rt = carriers_start();
	struct fiber_result r = {NULL, 1};
	struct fiber *root;

	(void)state;
	assert_int_equal(fiber_runtime_spawn(rt, NULL, branch, (void *)5, &root), 0);
	while (atomic_load(&leaves) != 243)
		sched_yield();
	fiber_cancel(root);
	assert_int_equal(fiber_join(root, &r, FIBER_FOREVER), 0);
	assert_int_equal((intptr_t)r.value, -ECANCELED);
	assert_int_equal(atomic_load(&refused), 243);
	carriers_finish(rt);
}

/* -- many -- */

static void *sleeps(void *arg)
{
	fiber_sleep_until(FIBER_FOREVER);
	return arg;
}

static void *thousands(void *arg)
{
	struct fiber_group g = {0};
	int *rc = arg;

	for (size_t i = carriers_scale(20000); i; i--)
		if (fiber_group_spawn(&g, sleeps, NULL) < 0)
			*rc = 1;
	if (fiber_group_wait(&g, fiber_after(MS)) != -ETIMEDOUT)
		*rc = 2;
	fiber_group_cancel(&g);
	if (fiber_group_wait(&g, FIBER_FOREVER) != -ECANCELED)
		*rc = 3;
	return NULL;
}

static void test_group_of_thousands_is_cancelled(void **state)
{
	int rc = 0;

	(void)state;
	assert_int_equal(carriers_run(thousands, &rc).error, 0);
	assert_int_equal(rc, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_group_has_none_alive_after_the_wait),
		cmocka_unit_test(test_group_with_a_failing_member_ends_those_that_wait),
		cmocka_unit_test(test_group_cancelled_at_the_root_ends_the_whole_tree),
		cmocka_unit_test(test_group_of_thousands_is_cancelled),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
