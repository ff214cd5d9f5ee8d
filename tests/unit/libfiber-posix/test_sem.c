/* SPDX-License-Identifier: MIT */
/* test_sem.c - sem_t between fibers and plain threads, and posted by a signal handler */
#include "mixed.h"

#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "outcome.h"

#define ROUNDS 2000

static sem_t sem;

/* -- no post is lost -- */

static sem_t room, some;
static _Atomic long in, most;

static void *hand_on(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		long now;

		sem_wait(&room);
		now = ++in;
		if (now > most)
			most = now;
		if (i % 100 == 0)
			usleep(10);
		sem_post(&some);
		sem_wait(&some);
		in--;
		sem_post(&room);
	}
	return arg;
}

static void test_sem_counts_fibers_and_threads(void **state)
{
	int left;

	(void)state;
	sem_init(&room, 0, 3);
	sem_init(&some, 0, 0);
	mixed_run(hand_on, NULL);
	assert_true(most >= 1 && most <= 3);
	sem_getvalue(&room, &left);
	assert_int_equal(left, 3);
	sem_getvalue(&some, &left);
	assert_int_equal(left, 0);
}

/* -- time -- */

static struct timespec limit;

static void *wait_until(void *arg)
{
	struct call *c = arg;

	return outcome(c, c->flags < 0 ? sem_timedwait(&sem, &limit)
				       : sem_clockwait(&sem, c->flags, &limit));
}

static void test_sem_wait_ends_when_the_time_is_over(void **state)
{
	struct call c = {.flags = -1};

	(void)state;
	sem_init(&sem, 0, 0);
	limit = mixed_in(CLOCK_REALTIME, 20);
	both_give(wait_until, &c, -1, ETIMEDOUT);
	c.flags = CLOCK_MONOTONIC;
	limit = mixed_in(CLOCK_MONOTONIC, 20);
	both_give(wait_until, &c, -1, ETIMEDOUT);
	limit.tv_nsec = -1;
	both_give(wait_until, &c, -1, EINVAL);
	limit.tv_nsec = 0;
	sem_post(&sem);
	sem_post(&sem);
	both_give(wait_until, &c, 0, 0);
}

/* -- cancellation -- */

static void *wait_for_ever(void *arg)
{
	return outcome(arg, sem_wait(&sem));
}

static void test_sem_wait_of_a_cancelled_fiber_ends(void **state)
{
	struct fiber_result result;
	struct fiber *fiber;
	struct call c = {0};

	(void)state;
	sem_init(&sem, 0, 0);
	fiber = inside_suspended(wait_for_ever, &c);
	fiber_cancel(fiber);
	assert_int_equal(fiber_join(fiber, &result, FIBER_FOREVER), 0);
	assert_int_equal(result.error, -ECANCELED);
	assert_int_equal(c.error, ECANCELED);
}

/* -- a handler -- */

static _Atomic bool stop;
static _Atomic long posted, received;

static void post(int number)
{
	(void)number;
	sem_post(&sem);
	posted++;
}

static void *receive(void *arg)
{
	while (!stop) {
		sem_wait(&sem);
		received++;
	}
	return arg;
}

/* Code that the handler interrupts, in the lot too. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *lock_often(void *arg)
{
	while (!stop) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
	return arg;
}

static void test_sem_post_of_a_signal_handler_wakes_a_fiber(void **state)
{
	const struct sigaction action = {.sa_handler = post, .sa_flags = SA_RESTART};
	struct fiber *receiver, *locker;
	pthread_t thread;

	(void)state;
	sem_init(&sem, 0, 0);
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	receiver = inside_suspended(receive, NULL);
	locker = inside_spawn(lock_often, NULL);
	assert_int_equal(pthread_create(&thread, NULL, lock_often, NULL), 0);
	for (long i = 1; i <= 2000; i++) {
		const int64_t end = fiber_after(20 * 1000 * MS);

		pthread_kill(thread, SIGUSR1);
		while (received < i && fiber_now() < end)
			sched_yield();
		assert_int_equal(received, i);
	}
	stop = true;
	sem_post(&sem);
	assert_int_equal(pthread_join(thread, NULL), 0);
	inside_join(receiver);
	inside_join(locker);
	assert_int_equal(posted, 2000);
}

/* -- another process -- */

static sem_t *between;

static void *wait_for_process(void *arg)
{
	return outcome(arg, sem_wait(between));
}

static void test_sem_post_of_another_process_wakes_a_fiber(void **state)
{
	struct fiber_result result = {NULL, 1};
	struct call c = {0};
	int status;
	pid_t pid;

	(void)state;
	/* ThreadSanitizer does not support a fork of a program with threads. */
	if (!strcmp(harness_sanitizer(), "thread"))
		skip();
	between = mmap(NULL, sizeof *between, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	assert_ptr_not_equal(between, MAP_FAILED);
	sem_init(between, 1, 0);
	pid = fork();
	if (!pid) {
		poll(NULL, 0, 20);
		sem_post(between);
		_exit(0);
	}
	assert_int_equal(fiber_run(wait_for_process, &c, NULL, &result), 0);
	assert_null(result.value);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(munmap(between, sizeof *between), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sem_counts_fibers_and_threads),
		cmocka_unit_test(test_sem_wait_ends_when_the_time_is_over),
		cmocka_unit_test(test_sem_wait_of_a_cancelled_fiber_ends),
		cmocka_unit_test(test_sem_post_of_a_signal_handler_wakes_a_fiber),
		cmocka_unit_test(test_sem_post_of_another_process_wakes_a_fiber),
	};

	harness_watchdog(100);
	return cmocka_run_group_tests(tests, inside_start, inside_stop);
}
