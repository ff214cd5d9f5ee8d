/* SPDX-License-Identifier: MIT */
/* test_own_group.c - a group waits for all of its members, and tells how the first failed one failed */
#include "tests/explore/own.h"

#define MEMBERS 3u

struct test {
	struct fiber_group group;
	struct fiber_event never;
	unsigned begun, ended;
	bool io, no_entry, cancelled; /* with which errors members failed */
};

struct setting {
	bool keeps;
	bool faults; /* members may be cancelled */
};

static void *fail_with(struct test *t, bool *told, int error)
{
	*told = true;
	t->ended++;
	fiber_fail(error, "on purpose");
}

/* Ends well, fails, or waits for the group to be cancelled. */
static void *member(void *arg)
{
	struct test *t = arg;
	int error;

	t->begun++;
	switch (fiber_test_choose(4, "member")) {
	case 0:
		error = fiber_sleep(OWN_MS);
		break;
	case 1:
		return fail_with(t, &t->io, -EIO);
	case 2:
		return fail_with(t, &t->no_entry, -ENOENT);
	default:
		error = fiber_event_wait(&t->never, fiber_after(50 * OWN_MS));
	}
	fiber_test_assert(error == 0 || own_given_up(error));
	if (error == -ECANCELED) {
		fiber_test_reached("cancelled");
		return fail_with(t, &t->cancelled, -ECANCELED);
	}
	t->ended++;
	return NULL;
}

static unsigned spawn_members(struct test *t, bool keeps)
{
	unsigned n = 0;
	int rc;

	for (unsigned i = 0; i < MEMBERS; i++) {
		rc = fiber_group_spawn(&t->group, member, t);
		fiber_test_assert(rc == 0 || rc == -ENOMEM || rc == -EAGAIN ||
				  (rc == -ECANCELED && !keeps));
		n += rc == 0;
	}
	return n;
}

static void expect_ended(struct test *t, unsigned spawned)
{
	fiber_test_assert(fiber_group_live(&t->group) == 0);
	fiber_test_assert(t->begun == spawned && t->ended == t->begun);
}

/* The error is that of a member; without faults, of one that failed by itself. */
static void expect_result(struct test *t, const struct setting *setting, int result)
{
	fiber_test_assert(result || (!t->io && !t->no_entry && !t->cancelled));
	fiber_test_assert(result != -EIO || t->io);
	fiber_test_assert(result != -ENOENT || t->no_entry);
	fiber_test_assert(result != -ECANCELED || setting->faults);
	fiber_test_assert(!t->cancelled || setting->faults || !setting->keeps);
}

static void wait_for_all(void *arg)
{
	const struct setting *setting = arg;
	struct test t = {.begun = 0};
	unsigned n;
	int result;

	fiber_group_init(&t.group);
	fiber_group_set_flags(&t.group, setting->keeps ? FIBER_GROUP_KEEP : 0);
	n = spawn_members(&t, setting->keeps);
	result = fiber_group_wait(&t.group, 0);
	if (result == -ETIMEDOUT) {
		fiber_test_reached("timed out");
		result = fiber_group_wait(&t.group, FIBER_FOREVER);
	}
	expect_ended(&t, n);
	expect_result(&t, setting, result);
	if (!setting->keeps && result < 0)
		fiber_test_assert(fiber_group_spawn(&t.group, member, &t) < 0);
}

static void test_group_waits_for_all_members_and_tells_the_first_error(void **state)
{
	static const char *const reach[] = {"timed out", "cancelled", NULL};
	static struct setting cancels = {false, false}, keeps = {true, false};

	(void)state;
	EXPLORE(wait_for_all, &cancels, .reach = reach);
	EXPLORE(wait_for_all, &keeps, .faults = 0);
}

static void test_group_loses_no_member_to_faults(void **state)
{
	static struct setting cancels = {false, true}, keeps = {true, true};
	const unsigned faults = FIBER_TEST_FAULT_CANCEL | FIBER_TEST_FAULT_SPAWN;

	(void)state;
	EXPLORE_FAULTS(wait_for_all, &cancels, faults);
	EXPLORE_FAULTS(wait_for_all, &keeps, faults);
}

/* -- the waiter is cancelled -- */

static void *wait_inside(void *arg)
{
	struct test *t = arg;
	unsigned n;
	int result;

	fiber_group_init(&t->group);
	n = spawn_members(t, false);
	result = fiber_group_wait(&t->group, FIBER_FOREVER);
	expect_ended(t, n);
	if (fiber_cancelled() && result == -ECANCELED)
		fiber_test_reached("the waiter is cancelled");
	return NULL;
}

static void cancel_the_waiter(void *arg)
{
	struct test t = {.begun = 0};
	struct fiber *f;

	(void)arg;
	own_spawn(&f, 1, wait_inside, &t, 0);
	fiber_sleep(fiber_test_choose(3, "ms") * OWN_MS);
	fiber_cancel(f);
	own_join(&f, 1);
	fiber_test_assert(t.begun == t.ended && fiber_group_live(&t.group) == 0);
}

static void test_cancelled_waiter_still_waits_for_its_members(void **state)
{
	static const char *const reach[] = {"the waiter is cancelled", NULL};

	(void)state;
	EXPLORE(cancel_the_waiter, NULL, .reach = reach);
	EXPLORE_FAULTS(cancel_the_waiter, NULL, FIBER_TEST_FAULT_CANCEL);
}

/* -- every schedule -- */

static void *wait_for_ever(void *arg)
{
	struct test *t = arg;

	fiber_test_assert(fiber_event_wait(&t->never, FIBER_FOREVER) == -ECANCELED);
	t->ended++;
	return NULL;
}

static void *fail_at_once(void *arg)
{
	(void)arg;
	fiber_fail(-EIO, NULL);
}

static void one_fails(void *arg)
{
	struct test t = {.begun = 0};

	(void)arg;
	fiber_group_init(&t.group);
	t.begun += fiber_group_spawn(&t.group, wait_for_ever, &t) == 0;
	fiber_test_assert(fiber_group_spawn(&t.group, fail_at_once, &t) == 0);
	fiber_test_assert(fiber_group_wait(&t.group, FIBER_FOREVER) == -EIO);
	fiber_test_assert(t.ended <= t.begun);
}

static void test_failure_cancels_the_others_in_every_schedule(void **state)
{
	(void)state;
	EXPLORE_ALL(one_fails, NULL, .preemptions = 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_group_waits_for_all_members_and_tells_the_first_error),
		cmocka_unit_test(test_group_loses_no_member_to_faults),
		cmocka_unit_test(test_cancelled_waiter_still_waits_for_its_members),
		cmocka_unit_test(test_failure_cancels_the_others_in_every_schedule),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
