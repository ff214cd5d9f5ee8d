/* SPDX-License-Identifier: MIT */
/*
 * test_many_threads.c - fibers that go on in whichever thread takes them next, while others are
 * created, deleted and stored into
 */
#include "win32_test.h"

#include <stdlib.h>

#define THREADS 4u
#define FIBERS	24u
#define ROUNDS	400u /* of each thread */

struct member {
	LPVOID fiber, home; /* home: of the thread that runs it */
	struct member *next;
	uintptr_t runs, wrong;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct member *pool; /* L */
static struct member members[FIBERS];
static DWORD slot;
static unsigned calls;

static struct member *take(void)
{
	struct member *m;

	pthread_mutex_lock(&lock);
	m = pool;
	if (m)
		pool = m->next;
	pthread_mutex_unlock(&lock);
	return m;
}

static void give(struct member *m)
{
	pthread_mutex_lock(&lock);
	m->next = pool;
	pool = m;
	pthread_mutex_unlock(&lock);
}

static void check(struct member *m, bool condition)
{
	m->wrong += !condition;
}

/* The value is the fiber's own wherever it runs. */
static VOID CALLBACK work(LPVOID parameter)
{
	struct member *m = parameter;

	for (;;) {
		check(m, FlsGetValue(slot) == (m->runs ? (PVOID)m->runs : NULL));
		check(m, FlsSetValue(slot, (PVOID)++m->runs));
		check(m, GetCurrentFiber() == m->fiber && GetFiberData() == m);
		SwitchToFiber(m->home);
	}
}

static VOID CALLBACK count_call(PVOID value)
{
	(void)value;
	__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
}

static VOID CALLBACK visit_once(LPVOID home)
{
	FlsSetValue(slot, home);
	SwitchToFiber(home);
}

static void *run_members(void *arg)
{
	LPVOID home = ConvertThreadToFiber(arg), guest;
	unsigned i;

	FlsSetValue(slot, home);
	for (i = 0; i < ROUNDS; i++) {
		struct member *m = take();

		if (!m)
			continue;
		m->home = home;
		SwitchToFiber(m->fiber);
		check(m, GetCurrentFiber() == home && FlsGetValue(slot) == home);
		give(m);
		if (i % 16)
			continue;
		guest = CreateFiber(0, visit_once, home);
		SwitchToFiber(guest);
		DeleteFiber(guest);
	}
	return ConvertFiberToThread() ? NULL : (void *)1;
}

static void test_many_threads_run_the_fibers_of_one_pool(void **state)
{
	uintptr_t i, runs = 0, guests;
	pthread_t threads[THREADS];
	void *result;

	(void)state;
	slot = FlsAlloc(count_call);
	for (i = 0; i < FIBERS; i++) {
		members[i].fiber = CreateFiberEx(0, 65536, 0, work, &members[i]);
		assert_non_null(members[i].fiber);
		give(&members[i]);
	}
	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, run_members, NULL), 0);
	for (i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(threads[i], &result), 0);
		assert_null(result);
	}
	/* There are more fibers than threads, so none has found the pool empty. */
	for (i = 0; i < FIBERS; i++) {
		assert_int_equal(members[i].wrong, 0);
		runs += members[i].runs;
	}
	assert_int_equal(runs, THREADS * ROUNDS);
	guests = THREADS * ((ROUNDS + 15) / 16);
	assert_int_equal(calls, guests + THREADS);
	assert_true(FlsFree(slot));
	for (i = runs = 0; i < FIBERS; i++) {
		runs += members[i].runs != 0;
		DeleteFiber(members[i].fiber);
	}
	assert_int_equal(calls, guests + THREADS + runs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many_threads_run_the_fibers_of_one_pool),
	};

	harness_watchdog(90);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
