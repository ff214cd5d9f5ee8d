/* SPDX-License-Identifier: MIT */
/* test_unfollowed.c - count waits with an unknown holder that nothing outside the program ends */
#include <string.h>

#include "inspect/model/words.h"
#include "inspect/waits/unfollowed.h"
#include "tests/harness/inspect/waiting.h"

static struct waiting w;
static struct ins_unfollowed u;

static int begin(void **state)
{
	(void)state;
	w = waiting_new();
	return 0;
}

static int end(void **state)
{
	(void)state;
	waiting_free(&w);
	return 0;
}

static uint64_t count_all(void)
{
	uint64_t sum = 0;
	size_t i;

	waiting_graph(&w);
	ins_unfollowed_count(w.graph, &u);
	for (i = 0; i < sizeof u.count / sizeof u.count[0]; i++)
		sum += u.count[i];
	return sum;
}

static void put(uint64_t id, unsigned kind, uint64_t object, uint64_t holder, int64_t deadline)
{
	struct ins_fiber fiber = waiting_for(id, kind, object, holder);

	fiber.row.deadline = deadline;
	waiting_put(&w, &fiber);
}

static void test_each_kind_without_a_holder_is_counted(void **state)
{
	static const unsigned kinds[] = {
		FIB_WAIT_PARK,	      FIB_WAIT_PREDICATE,    FIB_WAIT_JOIN,	 FIB_WAIT_MUTEX,
		FIB_WAIT_RWLOCK_READ, FIB_WAIT_RWLOCK_WRITE, FIB_WAIT_COND,	 FIB_WAIT_SEM,
		FIB_WAIT_EVENT,	      FIB_WAIT_BARRIER,	     FIB_WAIT_ONCE,	 FIB_WAIT_WAITGROUP,
		FIB_WAIT_GROUP,	      FIB_WAIT_CHAN_SEND,    FIB_WAIT_CHAN_RECV, FIB_WAIT_SELECT,
		FIB_WAIT_FUTEX,	      FIB_LAYOUT_WAITS, /* of a later version */
	};
	const size_t n = sizeof kinds / sizeof kinds[0];
	size_t i;

	(void)state;
	for (i = 0; i < n; i++)
		put(i + 1, kinds[i], 1, 0, INT64_MAX);
	assert_int_equal(count_all(), n);
	for (i = 0; i < n; i++)
		assert_int_equal(u.count[kinds[i]], 1);
}

static void test_what_ends_from_outside_is_not_counted(void **state)
{
	static const unsigned kinds[] = {
		FIB_WAIT_NONE,	  FIB_WAIT_YIELD, FIB_WAIT_SLEEP,  FIB_WAIT_FD,	  FIB_WAIT_TIMER,
		FIB_WAIT_OFFLOAD, FIB_WAIT_OP,	  FIB_WAIT_PINNED, INS_WAIT_CALL,
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		put(i + 1, kinds[i], 1, 0, INT64_MAX);
	/* A select on descriptors alone has no channel. */
	put(20, FIB_WAIT_SELECT, 0, 0, INT64_MAX);
	/* These waits end by their deadline. */
	put(21, FIB_WAIT_SEM, 1, 0, 5);
	put(22, FIB_WAIT_RWLOCK_READ, 1, 0, 5);
	assert_int_equal(count_all(), 0);
}

static void test_what_is_followed_is_not_counted(void **state)
{
	(void)state;
	put(1, FIB_WAIT_MUTEX, 1, 2, INT64_MAX);
	put(2, FIB_WAIT_RWLOCK_READ, 2, 77, INT64_MAX); /* its holder has exited */
	put(3, FIB_WAIT_MUTEX, 3, FIB_HOLDER_THREAD | 5, INT64_MAX);
	waiting_join(&w, 4, 0, 1);
	assert_int_equal(count_all(), 0);
}

static void test_one_that_has_ended_waits_for_nothing(void **state)
{
	struct ins_fiber fiber = waiting_for(1, FIB_WAIT_SEM, 1, 0);

	(void)state;
	fiber.row.state = FIBER_DEAD;
	waiting_put(&w, &fiber);
	assert_int_equal(count_all(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_each_kind_without_a_holder_is_counted, begin,
						end),
		cmocka_unit_test_setup_teardown(test_what_ends_from_outside_is_not_counted, begin,
						end),
		cmocka_unit_test_setup_teardown(test_what_is_followed_is_not_counted, begin, end),
		cmocka_unit_test_setup_teardown(test_one_that_has_ended_waits_for_nothing, begin,
						end),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
