/* SPDX-License-Identifier: MIT */
/* test_thread_wait.c - a sleep on a word and on descriptors is ended only by these */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "base/atomic.h"
#include "os/os.h"
#include "tests/harness/watchdog.h"
#include "wait/thread_wait.h"

#define MS     INT64_C(1000000)
#define ROUNDS 20000

struct sleeper {
	struct pollfd fds[2];
	struct fib_thread_wait thread_wait;
	int ends[2];
	_Atomic uint32_t word, other;
	_Atomic uint32_t ready;
};

static void begin(struct sleeper *s)
{
	assert_int_equal(pipe(s->ends), 0);
	s->fds[1] = (struct pollfd){.fd = s->ends[0], .events = POLLIN};
	s->thread_wait.fds = s->fds;
	s->thread_wait.count = 2;
	assert_int_equal(fib_thread_wait_make(&s->thread_wait), 0);
	fib_thread_wait_enter(&s->thread_wait, &s->word);
}

static void end(struct sleeper *s)
{
	fib_thread_wait_leave(&s->thread_wait);
	fib_thread_wait_free(&s->thread_wait);
	close(s->ends[0]);
	close(s->ends[1]);
}

static void test_vigil_ends_by_word_descriptor_and_deadline(void **state)
{
	struct sleeper s = {.word = 0};
	int64_t soon;

	(void)state;
	begin(&s);
	assert_int_equal(fib_thread_wait_sleep(&s.thread_wait, 1, INT64_MAX), 0); /* it is not 1 */
	soon = fib_os_now() + 2 * MS;
	assert_int_equal(fib_thread_wait_sleep(&s.thread_wait, 0, soon), -ETIMEDOUT);
	assert_true(fib_os_now() >= soon);
	/* A wake-up before the sleep starts is kept, once. */
	fib_thread_wait_wake(&s.word);
	assert_int_equal(fib_thread_wait_sleep(&s.thread_wait, 0, INT64_MAX), 0);
	assert_int_equal(fib_thread_wait_sleep(&s.thread_wait, 0, fib_os_now()), -ETIMEDOUT);
	/* A wake-up for another word has no effect. */
	fib_thread_wait_wake(&s.other);
	assert_int_equal(fib_thread_wait_sleep(&s.thread_wait, 0, fib_os_now()), -ETIMEDOUT);
	assert_int_equal(write(s.ends[1], "x", 1), 1);
	assert_int_equal(fib_thread_wait_sleep(&s.thread_wait, 0, INT64_MAX), 1);
	fib_thread_wait_wake(&s.word);
	assert_int_equal(fib_thread_wait_sleep(&s.thread_wait, 0, INT64_MAX), 1);
	end(&s);
	fib_thread_wait_wake(&s.word); /* no thread waits any more */
}

static void *ends_each_round(void *arg)
{
	struct sleeper *s = arg;
	uint32_t i;

	for (i = 1; i <= ROUNDS; i++) {
		while (fib_load_acquire(&s->ready) != i)
			sched_yield();
		fib_store_release(&s->word, i);
		fib_thread_wait_wake(&s->word);
	}
	return NULL;
}

/* The thread waits again and again, and a change at any moment of a sleep ends that sleep. */
static void test_vigil_that_comes_and_goes_is_never_missed(void **state)
{
	struct sleeper s = {.word = 0};
	pthread_t thread;
	uint32_t i;

	(void)state;
	begin(&s);
	assert_int_equal(pthread_create(&thread, NULL, ends_each_round, &s), 0);
	for (i = 1; i <= ROUNDS; i++) {
		fib_thread_wait_leave(&s.thread_wait);
		fib_store_release(&s.ready, i);
		fib_thread_wait_enter(&s.thread_wait, &s.word);
		while (fib_load_acquire(&s.word) != i)
			assert_int_equal(fib_thread_wait_sleep(&s.thread_wait, i - 1, INT64_MAX),
					 0);
	}
	pthread_join(thread, NULL);
	end(&s);
}

static void test_vigil_of_many_each_hears_of_its_own(void **state)
{
	struct sleeper s[5] = {{.word = 0}};
	int i, j;

	(void)state;
	for (i = 0; i < 5; i++)
		begin(&s[i]);
	for (i = 0; i < 5; i++) {
		fib_thread_wait_wake(&s[i].word);
		for (j = 0; j < 5; j++)
			assert_int_equal(fib_thread_wait_sleep(&s[j].thread_wait, 0, fib_os_now()),
					 i == j ? 0 : -ETIMEDOUT);
	}
	/* End them in another order than they were started in. */
	for (i = 0; i < 5; i++)
		end(&s[(i + 2) % 5]);
}

static void test_vigil_in_a_forked_child_is_forgotten(void **state)
{
	struct sleeper s = {.word = 0};

	(void)state;
	begin(&s);
	fib_thread_wait_lock();
	fib_thread_wait_forget();
	fib_thread_wait_unlock();
	fib_thread_wait_wake(&s.word);
	assert_int_equal(fib_thread_wait_sleep(&s.thread_wait, 0, fib_os_now()), -ETIMEDOUT);
	fib_thread_wait_enter(&s.thread_wait, &s.word);
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vigil_ends_by_word_descriptor_and_deadline),
		cmocka_unit_test(test_vigil_that_comes_and_goes_is_never_missed),
		cmocka_unit_test(test_vigil_of_many_each_hears_of_its_own),
		cmocka_unit_test(test_vigil_in_a_forked_child_is_forgotten),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
