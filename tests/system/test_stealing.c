/* SPDX-License-Identifier: MIT */
/*
 * test_stealing.c - other carriers run the work that one carrier made, and none is left behind
 *
 * The machine decides which carrier runs what. So the tests wait until what must happen has
 * happened, and the watchdog reports if it does not.
 */
#include "carriers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

/* Thread ids of the kernel: the compiler may treat pthread_self() as constant within a function. */
struct threads {
	struct fiber_mutex mutex;
	pid_t ids[256];
	unsigned count;
};

static void sign(struct threads *t)
{
	const pid_t me = gettid();
	unsigned i;

	fiber_mutex_lock(&t->mutex, FIBER_FOREVER);
	for (i = 0; i < t->count && t->ids[i] != me; i++)
		;
	if (i == t->count && i < 256)
		t->ids[t->count++] = me;
	fiber_mutex_unlock(&t->mutex);
}

/* -- every carrier at once -- */

struct meeting {
	atomic_uint present;
	atomic_bool over;
	struct threads threads;
};

/* Occupies its carrier until all carriers are here. */
static void *attend(void *arg)
{
	struct meeting *m = arg;

	sign(&m->threads);
	m->present++;
	while (m->present < carriers())
		;
	return NULL;
}

static void *call_a_meeting(void *arg)
{
	struct fiber *f[256];

	for (unsigned i = 0; i < carriers(); i++)
		if (fiber_spawn(attend, arg, &f[i]) < 0)
			return NULL;
	for (unsigned i = 0; i < carriers(); i++)
		fiber_join(f[i], NULL, FIBER_FOREVER);
	return arg;
}

static void test_stealing_every_carrier_takes_part(void **state)
{
	struct meeting m = {.threads = {.count = 0}};

	(void)state;
	assert_non_null(carriers_run(call_a_meeting, &m).value);
	assert_int_equal(m.threads.count, carriers());
}

/* The other carriers sleep while the caller does; the first one woken must wake the next. */
static void *meet_after_sleep(void *arg)
{
	fiber_sleep(2 * MS);
	return call_a_meeting(arg);
}

static void test_stealing_wakes_carriers_that_sleep(void **state)
{
	(void)state;
	for (int round = 0; round < 10; round++) {
		struct meeting m = {.threads = {.count = 0}};

		assert_non_null(carriers_run(meet_after_sleep, &m).value);
		assert_int_equal(m.threads.count, carriers());
	}
}

/* -- a carrier that computes delays only its own fiber -- */

static void *compute(void *arg)
{
	struct meeting *m = arg;

	m->present++;
	while (!m->over)
		;
	return NULL;
}

static void *count_in(void *arg)
{
	atomic_int *left = arg;

	fiber_yield();
	--*left;
	return NULL;
}

/* All carriers but one run fibers that never yield; the last one does the rest. */
static void test_stealing_rescues_fibers_behind_one_that_computes(void **state)
{
	struct fiber_runtime *rt = carriers_start();
	struct meeting m = {.present = 0};
	atomic_int left = 500;

	(void)state;
	for (unsigned i = 1; i < carriers(); i++)
		assert_int_equal(fiber_runtime_spawn(rt, NULL, compute, &m, NULL), 0);
	while (m.present < carriers() - 1)
		sched_yield();
	for (int i = 0; i < 500; i++)
		assert_int_equal(fiber_runtime_spawn(rt, NULL, count_in, &left, NULL), 0);
	while (left)
		sched_yield();
	m.over = true;
	carriers_finish(rt);
}

struct burst {
	atomic_int left;
	atomic_bool over;
};

static void *count_burst(void *arg)
{
	struct burst *b = arg;

	if (--b->left == 0)
		b->over = true;
	return NULL;
}

/* The fibers are in the queue of a carrier that does not look at it until they have all run. */
static void *spawn_and_compute(void *arg)
{
	struct burst *b = arg;

	for (int i = 0; i < 1000; i++)
		if (fiber_spawn(count_burst, b, NULL) < 0)
			return NULL;
	while (!b->over)
		;
	return arg;
}

static void test_stealing_empties_the_queue_of_a_carrier_that_computes(void **state)
{
	(void)state;
	if (carriers() == 1)
		skip(); /* there is no other carrier */
	for (int round = 0; round < 10; round++) {
		struct burst b = {1000, false};

		assert_non_null(carriers_run(spawn_and_compute, &b).value);
		assert_int_equal(b.left, 0);
	}
}

/* -- bound fibers stay -- */

struct bound {
	struct threads threads[16];
};

static void *move_about(void *arg)
{
	struct threads *t = arg;

	for (int i = 0; i < 100; i++) {
		sign(t);
		if (i % 10 == 0)
			fiber_sleep(10000);
		else
			fiber_yield();
	}
	return NULL;
}

static void *bind_some(void *arg)
{
	const struct fiber_attr attr = {.size = sizeof attr, .flags = FIBER_BOUND};
	struct bound *b = arg;
	struct fiber *f[16];

	for (int i = 0; i < 16; i++)
		if (fiber_spawn_attr(&attr, move_about, &b->threads[i], &f[i]) < 0)
			return NULL;
	for (int i = 0; i < 16; i++)
		fiber_join(f[i], NULL, FIBER_FOREVER);
	return arg;
}

static void test_stealing_leaves_bound_fibers_where_they_are(void **state)
{
	static struct bound b;

	(void)state;
	memset(&b, 0, sizeof b);
	assert_non_null(carriers_run(bind_some, &b).value);
	for (int i = 0; i < 16; i++)
		assert_int_equal(b.threads[i].count, 1);
}

/* -- fairness among fibers that yield -- */

struct turns {
	atomic_bool over;
	atomic_int low;
	int taken[50];
};

static void *take_turns(void *arg)
{
	int *taken = arg;

	for (; *taken < 200; ++*taken)
		fiber_yield();
	return NULL;
}

static void *run_rounds(void *arg)
{
	struct turns *t = arg;
	struct fiber *f[50];
	int worst = 0;

	for (int i = 0; i < 50; i++)
		if (fiber_spawn(take_turns, &t->taken[i], &f[i]) < 0)
			return NULL;
	for (int round = 0; round < 100; round++) {
		int low = 1 << 20, high = 0;

		fiber_yield();
		for (int i = 0; i < 50; i++) {
			low = t->taken[i] < low ? t->taken[i] : low;
			high = t->taken[i] > high ? t->taken[i] : high;
		}
		worst = high - low > worst ? high - low : worst;
	}
	for (int i = 0; i < 50; i++)
		fiber_join(f[i], NULL, FIBER_FOREVER);
	t->low = worst;
	return arg;
}

static void test_stealing_apart_each_yielder_runs_once_a_round(void **state)
{
	struct turns t = {.low = 0};

	(void)state;
	if (carriers() > 1)
		skip(); /* rounds exist per carrier */
	assert_non_null(carriers_run(run_rounds, &t).value);
	/* The regular poll after every so many fibers may delay one fiber by a turn. */
	assert_in_range(t.low, 0, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stealing_every_carrier_takes_part),
		cmocka_unit_test(test_stealing_wakes_carriers_that_sleep),
		cmocka_unit_test(test_stealing_rescues_fibers_behind_one_that_computes),
		cmocka_unit_test(test_stealing_empties_the_queue_of_a_carrier_that_computes),
		cmocka_unit_test(test_stealing_leaves_bound_fibers_where_they_are),
		cmocka_unit_test(test_stealing_apart_each_yielder_runs_once_a_round),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
