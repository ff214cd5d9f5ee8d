/* SPDX-License-Identifier: MIT */
/* test_thread_waits.c - what a plain thread waits for is beside the word that it sleeps on */
#include "carriers.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/registry.h"
#include "tests/harness/process.h"

static struct fiber_runtime *rt;
static struct fiber_mutex mutex;
static struct fiber_sem sem;
static struct fiber *fiber;
static _Atomic long tid;

static int start(void **state)
{
	const struct fiber_runtime_options options = carriers_options();

	(void)state;
	return fiber_runtime_start(&options, &rt);
}

static int finish(void **state)
{
	(void)state;
	return fiber_runtime_finish(rt, FIBER_FOREVER);
}

/* The address of the word that the thread sleeps on; 0: it is not in futex(2). */
static uintptr_t word_of(long thread)
{
	char path[64], text[128] = "", *rest;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%ld/syscall", thread);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	(void)!read(fd, text, sizeof(text) - 1);
	close(fd);
	if (text[0] < '0' || text[0] > '9' || strtol(text, &rest, 10) != SYS_futex)
		return 0;
	return (uintptr_t)strtoull(rest, NULL, 16);
}

static bool sleeps(void *arg)
{
	uintptr_t *ret = arg;

	*ret = tid ? word_of(tid) : 0;
	return *ret != 0;
}

/* As a tool reads it: without synchronisation. */
__attribute__((noinline, no_sanitize("thread"))) static uint64_t number(
	uintptr_t from, struct fib_layout_field field)
{
	const char *at = (const char *)from + field.offset;

	return field.size == sizeof(uint32_t) ? *(const uint32_t *)at : *(const uint64_t *)at;
}

/* Start a thread and wait until it sleeps. Returns the word. */
static uintptr_t sleeper(pthread_t *ret, void *(*run)(void *))
{
	uintptr_t word;

	tid = 0;
	assert_int_equal(pthread_create(ret, NULL, run, NULL), 0);
	assert_true(harness_until(sleeps, &word, 30));
	return word;
}

static void expect(uintptr_t word, enum fib_wait_kind kind, const void *object)
{
	const struct fib_layout_thread_wait *t = &fiber_registry.thread_wait;
	const uintptr_t waiter = word - t->word.offset;

	assert_int_equal(number(waiter, t->who), FIB_HOLDER_THREAD | (uint64_t)tid);
	assert_int_equal(number(waiter, t->kind), kind);
	assert_int_equal(number(waiter, t->object), (uintptr_t)object);
}

static void *lock_mutex(void *arg)
{
	tid = syscall(SYS_gettid);
	fiber_mutex_lock(&mutex, FIBER_FOREVER);
	fiber_mutex_unlock(&mutex);
	return arg;
}

static void test_a_wait_for_a_mutex_is_published(void **state)
{
	pthread_t thread;

	(void)state;
	fiber_mutex_lock(&mutex, FIBER_FOREVER);
	expect(sleeper(&thread, lock_mutex), FIB_WAIT_MUTEX, &mutex);
	fiber_mutex_unlock(&mutex);
	pthread_join(thread, NULL);
}

static void *wait_sem(void *arg)
{
	tid = syscall(SYS_gettid);
	fiber_sem_wait(&sem, fiber_after(INT64_C(3600000000000)));
	return arg;
}

static void test_a_wait_with_a_deadline_is_published_too(void **state)
{
	pthread_t thread;

	(void)state;
	expect(sleeper(&thread, wait_sem), FIB_WAIT_SEM, &sem);
	fiber_sem_post(&sem);
	pthread_join(thread, NULL);
}

static void *park(void *arg)
{
	fiber_park(FIBER_FOREVER);
	return arg;
}

static void *join_fiber(void *arg)
{
	tid = syscall(SYS_gettid);
	fiber_join(fiber, NULL, FIBER_FOREVER);
	return arg;
}

static void test_a_join_sleeps_on_a_word_of_the_record(void **state)
{
	pthread_t thread;
	uintptr_t word;
	uint64_t id;

	(void)state;
	assert_int_equal(fiber_runtime_spawn(rt, NULL, park, NULL, &fiber), 0);
	id = fiber_id(fiber);
	word = sleeper(&thread, join_fiber) - fiber_registry.fields[FIB_FIELD_JOINER].offset;
	assert_int_equal((word - fiber_registry.records) % fiber_registry.record_size, 0);
	assert_int_equal(number(word, fiber_registry.fields[FIB_FIELD_ID]), id);
	fiber_unpark(fiber);
	pthread_join(thread, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_wait_for_a_mutex_is_published),
		cmocka_unit_test(test_a_wait_with_a_deadline_is_published_too),
		cmocka_unit_test(test_a_join_sleeps_on_a_word_of_the_record),
	};

	harness_watchdog(100);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, start, finish);
}
