/* SPDX-License-Identifier: MIT */
/* test_cond.c - pthread_cond_t between fibers and plain threads */
#include "mixed.h"

#include <threads.h>

#include "outcome.h"

#define ROUNDS 2000
#define SOON   20 /* ms */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

/* -- no signal is lost -- */

static int turn, players;

/* Each round passes to the next player: a signal too few stops the game. */
static void *play(void *arg)
{
	int me;

	pthread_mutex_lock(&mutex);
	me = players++;
	for (int i = 0; i < ROUNDS; i++) {
		while (turn % 2 != me)
			pthread_cond_wait(&cond, &mutex);
		turn++;
		pthread_cond_signal(&cond);
	}
	pthread_mutex_unlock(&mutex);
	return arg;
}

static void start_game(void)
{
	turn = players = 0;
}

static void test_cond_ping_pong_of_two_fibers(void **state)
{
	struct fiber *fibers[2];

	(void)state;
	start_game();
	for (int i = 0; i < 2; i++)
		fibers[i] = inside_spawn(play, NULL);
	for (int i = 0; i < 2; i++)
		inside_join(fibers[i]);
	assert_int_equal(turn, 2 * ROUNDS);
}

static void test_cond_ping_pong_of_a_fiber_and_a_thread(void **state)
{
	struct fiber *fiber;
	pthread_t thread;

	(void)state;
	start_game();
	fiber = inside_spawn(play, NULL);
	assert_int_equal(pthread_create(&thread, NULL, play, NULL), 0);
	inside_join(fiber);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(turn, 2 * ROUNDS);
}

/* -- a queue: who takes waits for "some", who puts waits for "room" -- */

static struct {
	pthread_cond_t some, room;
	int in, most;
	long put, taken;
} queue = {.some = PTHREAD_COND_INITIALIZER, .room = PTHREAD_COND_INITIALIZER};

static void *put_and_take(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&mutex);
		while (queue.in == 3)
			pthread_cond_wait(&queue.room, &mutex);
		queue.in++;
		queue.put++;
		pthread_cond_signal(&queue.some);
		pthread_mutex_unlock(&mutex);
		pthread_mutex_lock(&mutex);
		while (queue.in == 0)
			pthread_cond_wait(&queue.some, &mutex);
		queue.in--;
		queue.taken++;
		pthread_cond_signal(&queue.room);
		pthread_mutex_unlock(&mutex);
	}
	return arg;
}

static void test_cond_wakes_fibers_and_threads_of_one_queue(void **state)
{
	(void)state;
	mixed_run(put_and_take, NULL);
	assert_int_equal(queue.put, (long)ROUNDS * (FIBERS + THREADS));
	assert_int_equal(queue.taken, queue.put);
	assert_int_equal(queue.in, 0);
}

static int gathered, opened;

static void *gather(void *arg)
{
	pthread_mutex_lock(&mutex);
	if (++gathered == FIBERS + THREADS) {
		opened = 1;
		pthread_cond_broadcast(&cond);
	}
	while (!opened)
		pthread_cond_wait(&cond, &mutex);
	pthread_mutex_unlock(&mutex);
	return arg;
}

static void test_cond_broadcast_wakes_all(void **state)
{
	(void)state;
	for (int i = 0; i < 200; i++) {
		gathered = opened = 0;
		mixed_run(gather, NULL);
	}
}

/* -- time -- */

static struct timespec limit;

static void *wait_until(void *arg)
{
	struct call *c = arg;
	int rc;

	pthread_mutex_lock(&mutex);
	if (c->flags < 0)
		rc = pthread_cond_timedwait(c->buf, &mutex, &limit);
	else
		rc = pthread_cond_clockwait(c->buf, &mutex, c->flags, &limit);
	pthread_mutex_unlock(&mutex);
	return (void *)(intptr_t)rc;
}

static void test_cond_wait_ends_when_the_time_is_over(void **state)
{
	struct call c = {.buf = &cond, .flags = -1};
	pthread_condattr_t attr;
	pthread_cond_t monotonic;
	int64_t began;

	(void)state;
	began = fiber_now();
	limit = mixed_in(CLOCK_REALTIME, SOON);
	both_give(wait_until, &c, ETIMEDOUT, 0);
	assert_true(fiber_now() - began >= (SOON - 1) * MS);
	c.flags = CLOCK_MONOTONIC;
	limit = mixed_in(CLOCK_MONOTONIC, SOON);
	both_give(wait_until, &c, ETIMEDOUT, 0);
	limit.tv_nsec = -1;
	both_give(wait_until, &c, EINVAL, 0);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&monotonic, &attr);
	c = (struct call){.buf = &monotonic, .flags = -1};
	began = fiber_now();
	limit = mixed_in(CLOCK_MONOTONIC, SOON);
	both_give(wait_until, &c, ETIMEDOUT, 0);
	assert_true(fiber_now() - began >= SOON * MS && fiber_now() - began < 10 * 1000 * MS);
	assert_int_equal(pthread_cond_destroy(&monotonic), 0);
}

/* -- the mutex -- */

static void *wait_with_anothers(void *arg)
{
	return (void *)(intptr_t)pthread_cond_wait(&cond, arg);
}

static void test_cond_with_a_mutex_of_another_is_refused(void **state)
{
	pthread_mutexattr_t attr;
	pthread_mutex_t checked;

	(void)state;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&checked, &attr);
	assert_int_equal(inside(wait_with_anothers, &checked), EPERM);
	assert_int_equal(on_a_thread(wait_with_anothers, &checked), EPERM);
	pthread_mutexattr_destroy(&attr);
}

static void *wait_for_ever(void *arg)
{
	pthread_mutex_lock(&mutex);
	for (;;)
		pthread_cond_wait(&cond, &mutex);
	return arg;
}

static _Atomic int cleaned;

static void clean_up(void *arg)
{
	(void)arg;
	cleaned = pthread_mutex_trylock(&mutex);
	pthread_mutex_unlock(&mutex);
}

static void *wait_to_be_cancelled(void *arg)
{
	pthread_cleanup_push(clean_up, NULL);
	wait_for_ever(arg);
	pthread_cleanup_pop(0);
	return arg;
}

/* Of a plain thread, as ever: the wait is a point of cancellation, and the mutex is taken again. */
static void test_cond_wait_of_a_thread_can_be_cancelled(void **state)
{
	pthread_t thread;
	void *result;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, wait_to_be_cancelled, NULL), 0);
	usleep(SOON * 1000);
	assert_int_equal(pthread_cancel(thread), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, PTHREAD_CANCELED);
	assert_int_equal(cleaned, EBUSY);
	assert_int_equal(pthread_mutex_trylock(&mutex), 0);
	pthread_mutex_unlock(&mutex);
}

/* A thread that waits gives the mutex up inside the C library. */
static void *take_and_signal(void *arg)
{
	pthread_mutex_lock(&mutex);
	opened = 1;
	pthread_cond_signal(&cond);
	pthread_mutex_unlock(&mutex);
	return arg;
}

static void *hold_then_wait(void *arg)
{
	struct fiber *fiber;

	pthread_mutex_lock(&mutex);
	opened = 0;
	/* It waits for the mutex that this thread gives up by waiting. */
	fiber = inside_suspended(take_and_signal, NULL);
	while (!opened)
		pthread_cond_wait(&cond, &mutex);
	pthread_mutex_unlock(&mutex);
	inside_join(fiber);
	return arg;
}

static void test_cond_wait_of_a_thread_wakes_a_fiber_that_wants_the_mutex(void **state)
{
	(void)state;
	for (int i = 0; i < 50; i++)
		hold_then_wait(NULL);
}

/* -- C11 -- */

static mtx_t c11_mutex;
static cnd_t c11_cond;
static int c11_turn, c11_players;

static void *play_c11(void *arg)
{
	int me;

	mtx_lock(&c11_mutex);
	me = c11_players++;
	for (int i = 0; i < ROUNDS; i++) {
		while (c11_turn % 2 != me)
			cnd_wait(&c11_cond, &c11_mutex);
		c11_turn++;
		cnd_signal(&c11_cond);
	}
	mtx_unlock(&c11_mutex);
	return arg;
}

static void test_cond_of_c11_is_the_same(void **state)
{
	struct timespec past = {0, 0};
	struct fiber *fiber;

	(void)state;
	assert_int_equal(mtx_init(&c11_mutex, mtx_plain), thrd_success);
	assert_int_equal(cnd_init(&c11_cond), thrd_success);
	fiber = inside_spawn(play_c11, NULL);
	on_a_thread(play_c11, NULL);
	inside_join(fiber);
	assert_int_equal(c11_turn, 2 * ROUNDS);
	mtx_lock(&c11_mutex);
	assert_int_equal(cnd_timedwait(&c11_cond, &c11_mutex, &past), thrd_timedout);
	mtx_unlock(&c11_mutex);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cond_ping_pong_of_two_fibers),
		cmocka_unit_test(test_cond_ping_pong_of_a_fiber_and_a_thread),
		cmocka_unit_test(test_cond_wakes_fibers_and_threads_of_one_queue),
		cmocka_unit_test(test_cond_broadcast_wakes_all),
		cmocka_unit_test(test_cond_wait_ends_when_the_time_is_over),
		cmocka_unit_test(test_cond_with_a_mutex_of_another_is_refused),
		cmocka_unit_test(test_cond_wait_of_a_thread_can_be_cancelled),
		cmocka_unit_test(test_cond_wait_of_a_thread_wakes_a_fiber_that_wants_the_mutex),
		cmocka_unit_test(test_cond_of_c11_is_the_same),
	};

	harness_watchdog(100);
	return cmocka_run_group_tests(tests, inside_start, inside_stop);
}
