/* SPDX-License-Identifier: MIT */
/* test_mutex.c - pthread_mutex_t of each kind, by fibers and plain threads at once */
#include "mixed.h"

#include <dlfcn.h>
#include <sched.h>
#include <sys/single_threaded.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#include <fiber_layout.h>

#include "outcome.h"

#define ROUNDS 2000

static const int kinds[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK,
			    PTHREAD_MUTEX_ADAPTIVE_NP};

static void init(pthread_mutex_t *mutex, int kind)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	assert_int_equal(pthread_mutexattr_settype(&attr, kind), 0);
	assert_int_equal(pthread_mutex_init(mutex, &attr), 0);
	pthread_mutexattr_destroy(&attr);
}

/* -- in a process with one thread -- */

static void *take_and_release(void *arg)
{
	const int rc = pthread_mutex_lock(arg);

	return rc || pthread_mutex_unlock(arg) ? NULL : arg;
}

/* In a process with one thread: lock, make a thread that waits, unlock. Returns an exit status. */
static int lock_alone(int kind)
{
	pthread_mutex_t mutex;
	pthread_t thread;
	void *value;

	init(&mutex, kind);
	if (!__libc_single_threaded || pthread_mutex_lock(&mutex) || mutex.__data.__lock != 1 ||
	    mutex.__data.__owner != getpid() ||
	    pthread_mutex_trylock(&mutex) != (kind == PTHREAD_MUTEX_RECURSIVE ? 0 : EBUSY))
		return 1;
	if (kind == PTHREAD_MUTEX_RECURSIVE && pthread_mutex_unlock(&mutex))
		return 2;
	if (pthread_mutex_unlock(&mutex) || mutex.__data.__lock || mutex.__data.__owner ||
	    pthread_mutex_lock(&mutex))
		return 3;
	if (pthread_create(&thread, NULL, take_and_release, &mutex))
		return 4;
	while (__atomic_load_n(&mutex.__data.__lock, __ATOMIC_RELAXED) != 2)
		sched_yield();
	if (__libc_single_threaded || pthread_mutex_unlock(&mutex) || pthread_join(thread, &value))
		return 5;
	return value == &mutex && !pthread_mutex_destroy(&mutex) ? 0 : 6;
}

static int alone[sizeof(kinds) / sizeof(kinds[0])]; /* the exit statuses of those processes */

/* Before the test has a thread, so before its watchdog. */
static void run_alone(void)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const pid_t child = fork();

		if (child == 0) {
			alarm(60);
			_exit(lock_alone(kinds[i]));
		}
		if (child < 0 || waitpid(child, &alone[i], 0) != child)
			alone[i] = -1;
	}
}

static void test_mutex_of_a_process_with_one_thread_is_whole_when_it_has_more(void **state)
{
	(void)state;
	/* ThreadSanitizer has a thread of its own from the start. */
	if (strcmp(harness_sanitizer(), "thread") == 0)
		skip();
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		assert_int_equal(alone[i], 0);
}

/* -- exclusion -- */

struct shared {
	pthread_mutex_t mutex;
	int kind;
	long count;
};

/* Not atomic, and some of them park or sleep while they have the mutex. */
static void *add(void *arg)
{
	struct shared *s = arg;

	for (int i = 0; i < ROUNDS; i++) {
		long seen;

		pthread_mutex_lock(&s->mutex);
		if (s->kind == PTHREAD_MUTEX_RECURSIVE)
			pthread_mutex_lock(&s->mutex);
		seen = s->count;
		if (i % 100 == 0)
			usleep(10);
		s->count = seen + 1;
		if (s->kind == PTHREAD_MUTEX_RECURSIVE)
			pthread_mutex_unlock(&s->mutex);
		pthread_mutex_unlock(&s->mutex);
	}
	return NULL;
}

static void test_mutex_has_one_owner_at_a_time(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct shared s = {.kind = kinds[i]};

		init(&s.mutex, kinds[i]);
		mixed_run(add, &s);
		assert_int_equal(s.count, ROUNDS * (FIBERS + THREADS));
		assert_int_equal(pthread_mutex_destroy(&s.mutex), 0);
	}
}

static void *add_timed(void *arg)
{
	struct shared *s = arg;

	for (int i = 0; i < ROUNDS; i++) {
		const struct timespec at = mixed_in(CLOCK_REALTIME, i % 2);
		const int rc = i % 3 ? pthread_mutex_timedlock(&s->mutex, &at)
				     : pthread_mutex_trylock(&s->mutex);
		long seen;

		if (rc != 0)
			continue;
		seen = s->count;
		if (i % 100 == 0)
			usleep(10);
		s->count = seen + 1;
		__atomic_add_fetch(&s->kind, 1, __ATOMIC_RELAXED);
		pthread_mutex_unlock(&s->mutex);
	}
	return NULL;
}

static void test_mutex_that_some_give_up_waiting_for_is_whole(void **state)
{
	struct shared s = {.mutex = PTHREAD_MUTEX_INITIALIZER};

	(void)state;
	mixed_run(add_timed, &s);
	assert_int_equal(s.count, s.kind);
	assert_int_equal(pthread_mutex_trylock(&s.mutex), 0);
	assert_int_equal(pthread_mutex_unlock(&s.mutex), 0);
}

/* -- kinds -- */

struct steps {
	pthread_mutex_t mutex;
	int rc[6];
};

static void *take_twice(void *arg)
{
	struct steps *s = arg;

	s->rc[0] = pthread_mutex_lock(&s->mutex);
	s->rc[1] = pthread_mutex_trylock(&s->mutex);
	s->rc[2] = (s->mutex.__data.__kind & 3) == PTHREAD_MUTEX_NORMAL
			   ? 0
			   : pthread_mutex_lock(&s->mutex);
	for (int i = 3; i < 6; i++)
		s->rc[i] = i == 3 || (s->mutex.__data.__kind & 3) != PTHREAD_MUTEX_NORMAL
				   ? pthread_mutex_unlock(&s->mutex)
				   : 0;
	return NULL;
}

static void test_mutex_locked_again_by_its_owner_is_as_its_kind_says(void **state)
{
	static const struct {
		int kind, rc[6];
	} expected[] = {
		{PTHREAD_MUTEX_NORMAL, {0, EBUSY, 0, 0, 0, 0}},
		{PTHREAD_MUTEX_RECURSIVE, {0, 0, 0, 0, 0, 0}},
		{PTHREAD_MUTEX_ERRORCHECK, {0, EBUSY, EDEADLK, 0, EPERM, EPERM}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		struct steps s;

		init(&s.mutex, expected[i].kind);
		inside(take_twice, &s);
		assert_memory_equal(s.rc, expected[i].rc, sizeof(s.rc));
		on_a_thread(take_twice, &s);
		assert_memory_equal(s.rc, expected[i].rc, sizeof(s.rc));
	}
}

static void *touch_from_beside(void *arg)
{
	struct steps *s = arg;

	s->rc[0] = pthread_mutex_trylock(&s->mutex);
	s->rc[1] = pthread_mutex_unlock(&s->mutex);
	return NULL;
}

static void *hold_and_look(void *arg)
{
	struct fiber_attr attr = {.size = sizeof(attr), .flags = FIBER_BOUND};
	struct steps *s = arg;
	struct fiber *other;

	pthread_mutex_lock(&s->mutex);
	/* Bound: of this carrier, so of the same thread. */
	s->rc[2] = fiber_spawn_attr(&attr, touch_from_beside, s, &other);
	fiber_join(other, NULL, FIBER_FOREVER);
	s->rc[3] = pthread_mutex_unlock(&s->mutex);
	return NULL;
}

static void test_mutex_of_a_fiber_is_not_that_of_another_on_its_thread(void **state)
{
	(void)state;
	for (size_t i = 1; i < 3; i++) {
		struct steps s;

		init(&s.mutex, kinds[i]);
		inside(hold_and_look, &s);
		assert_int_equal(s.rc[2], 0);
		assert_int_equal(s.rc[0], EBUSY);
		assert_int_equal(s.rc[1], EPERM);
		assert_int_equal(s.rc[3], 0);
	}
}

/* -- waits -- */

static void *lock_and_unlock(void *arg)
{
	struct steps *s = arg;

	s->rc[0] = pthread_mutex_lock(&s->mutex);
	return (void *)(intptr_t)pthread_mutex_unlock(&s->mutex);
}

static void test_mutex_that_a_thread_has_suspends_the_fiber(void **state)
{
	struct steps s = {.mutex = PTHREAD_MUTEX_INITIALIZER};
	struct fiber *waiter;

	(void)state;
	pthread_mutex_lock(&s.mutex);
	waiter = inside_suspended(lock_and_unlock, &s);
	pthread_mutex_unlock(&s.mutex);
	assert_int_equal(inside_join(waiter), 0);
	assert_int_equal(s.rc[0], 0);
}

static _Atomic int locked, had;

static void *want_once(void *arg)
{
	struct steps *s = arg;

	while (!locked)
		usleep(100);
	pthread_mutex_lock(&s->mutex);
	had++;
	pthread_mutex_unlock(&s->mutex);
	return NULL;
}

/* Until all others have had it. */
static void *lock_again_at_once(void *arg)
{
	struct steps *s = arg;

	while (had < 3) {
		pthread_mutex_lock(&s->mutex);
		locked = 1;
		usleep(200);
		pthread_mutex_unlock(&s->mutex);
	}
	return NULL;
}

/* It is handed to those that have waited for long: else the first fiber would have it again each time. */
static void test_mutex_goes_to_all_that_wait_though_one_locks_again_at_once(void **state)
{
	struct steps s = {.mutex = PTHREAD_MUTEX_INITIALIZER};
	struct fiber *greedy, *waiters[2];
	pthread_t thread;

	(void)state;
	locked = had = 0;
	for (int i = 0; i < 2; i++)
		waiters[i] = inside_spawn(want_once, &s);
	assert_int_equal(pthread_create(&thread, NULL, want_once, &s), 0);
	greedy = inside_spawn(lock_again_at_once, &s);
	for (int i = 0; i < 2; i++)
		inside_join(waiters[i]);
	assert_int_equal(pthread_join(thread, NULL), 0);
	inside_join(greedy);
}

static struct steps held = {.mutex = PTHREAD_MUTEX_INITIALIZER};
static _Atomic int ready;

static void *hold_for_a_while(void *arg)
{
	pthread_mutex_lock(&held.mutex);
	ready = 1;
	while (ready == 1)
		fiber_sleep(MS);
	pthread_mutex_unlock(&held.mutex);
	return arg;
}

static int (*in_c_library(const char *name))(pthread_mutex_t *)
{
	return (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, name);
}

/* Code that does not call this library: the C library's own lock. */
static void *lock_in_the_c_library(void *arg)
{
	in_c_library("pthread_mutex_lock")(&held.mutex);
	in_c_library("pthread_mutex_unlock")(&held.mutex);
	return arg;
}

static void test_mutex_of_a_fiber_is_waited_for_in_the_c_library_too(void **state)
{
	struct fiber *holder, *waiter;
	pthread_t thread;
	uint64_t owner;

	(void)state;
	holder = inside_spawn(hold_for_a_while, NULL);
	while (!ready)
		usleep(1000);
	memcpy(&owner, (char *)&held.mutex + FIB_LAYOUT_PTHREAD_OWNER, sizeof(owner));
	assert_int_equal(owner, fiber_id(holder));
	assert_int_equal(pthread_create(&thread, NULL, lock_in_the_c_library, NULL), 0);
	waiter = inside_suspended(lock_and_unlock, &held);
	usleep(20000);
	ready = 2;
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(inside_join(waiter), 0);
	inside_join(holder);
	memcpy(&owner, (char *)&held.mutex + FIB_LAYOUT_PTHREAD_OWNER, sizeof(owner));
	assert_int_equal(owner, 0);
}

/* Code that this library does not reach has locked it: it is the thread's all the same. */
static void test_mutex_locked_in_the_c_library_is_unlocked_here(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		pthread_mutex_t mutex;

		init(&mutex, kinds[i]);
		assert_int_equal(in_c_library("pthread_mutex_lock")(&mutex), 0);
		assert_int_equal(pthread_mutex_unlock(&mutex), 0);
		assert_int_equal(pthread_mutex_lock(&mutex), 0);
		assert_int_equal(in_c_library("pthread_mutex_unlock")(&mutex), 0);
		assert_int_equal(pthread_mutex_destroy(&mutex), 0);
	}
}

static struct timespec limit;

static void *lock_timed(void *arg)
{
	struct call *c = arg;

	return (void *)(intptr_t)pthread_mutex_clocklock(&held.mutex, c->flags, &limit);
}

static void test_mutex_waits_end_when_the_time_is_over(void **state)
{
	struct call c = {.flags = CLOCK_REALTIME};

	(void)state;
	pthread_mutex_lock(&held.mutex);
	limit = mixed_in(CLOCK_REALTIME, 20);
	both_give(lock_timed, &c, ETIMEDOUT, 0);
	c.flags = CLOCK_MONOTONIC;
	limit = mixed_in(CLOCK_MONOTONIC, 20);
	both_give(lock_timed, &c, ETIMEDOUT, 0);
	limit = (struct timespec){0, 0};
	both_give(lock_timed, &c, ETIMEDOUT, 0);
	limit.tv_nsec = 1000000000;
	both_give(lock_timed, &c, EINVAL, 0);
	c.flags = CLOCK_PROCESS_CPUTIME_ID;
	both_give(lock_timed, &c, EINVAL, 0);
	pthread_mutex_unlock(&held.mutex);
}

/* -- passed on -- */

static void test_mutex_that_is_robust_or_shared_is_the_c_librarys(void **state)
{
	pthread_mutexattr_t attr;
	struct steps s;

	(void)state;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	assert_int_equal(pthread_mutex_init(&s.mutex, &attr), 0);
	assert_int_equal(inside(lock_and_unlock, &s), 0);
	assert_int_equal(s.rc[0], 0);
	assert_int_equal(on_a_thread(lock_and_unlock, &s), 0);
	pthread_mutexattr_destroy(&attr);
}

/* -- C11 -- */

static mtx_t c11;
static long c11_count;

static void *add_c11(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		mtx_lock(&c11);
		c11_count++;
		if (i % 100 == 0)
			usleep(10);
		mtx_unlock(&c11);
	}
	return arg;
}

static void test_mutex_of_c11_is_the_same(void **state)
{
	(void)state;
	assert_int_equal(mtx_init(&c11, mtx_plain), thrd_success);
	mixed_run(add_c11, NULL);
	assert_int_equal(c11_count, ROUNDS * (FIBERS + THREADS));
	assert_int_equal(mtx_lock(&c11), thrd_success);
	assert_int_equal(mtx_trylock(&c11), thrd_busy);
	mtx_destroy(&c11);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mutex_of_a_process_with_one_thread_is_whole_when_it_has_more),
		cmocka_unit_test(test_mutex_has_one_owner_at_a_time),
		cmocka_unit_test(test_mutex_that_some_give_up_waiting_for_is_whole),
		cmocka_unit_test(test_mutex_locked_again_by_its_owner_is_as_its_kind_says),
		cmocka_unit_test(test_mutex_of_a_fiber_is_not_that_of_another_on_its_thread),
		cmocka_unit_test(test_mutex_that_a_thread_has_suspends_the_fiber),
		cmocka_unit_test(test_mutex_goes_to_all_that_wait_though_one_locks_again_at_once),
		cmocka_unit_test(test_mutex_of_a_fiber_is_waited_for_in_the_c_library_too),
		cmocka_unit_test(test_mutex_locked_in_the_c_library_is_unlocked_here),
		cmocka_unit_test(test_mutex_waits_end_when_the_time_is_over),
		cmocka_unit_test(test_mutex_that_is_robust_or_shared_is_the_c_librarys),
		cmocka_unit_test(test_mutex_of_c11_is_the_same),
	};

	run_alone();
	harness_watchdog(100);
	return cmocka_run_group_tests(tests, inside_start, inside_stop);
}
