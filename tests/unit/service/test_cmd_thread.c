/* SPDX-License-Identifier: MIT */
/* test_cmd_thread.c - where threads sleep, with their stacks; and threads that do not sleep */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "talk.h"
#include "tests/harness/paths.h"
#include "tests/harness/process.h"
#include "tests/harness/watchdog.h"
#include "wire/thread.h"

#define STACK (4096u << 10)
#define PAGE  4096u
#define DEEP  (FIB_WIRE_THREAD_STACK + (64u << 10))

static const char magic[] = "what a thread has on its stack";
static struct talk t;
static struct fib_wire_thread_is is;
static unsigned char stack[FIB_WIRE_THREAD_STACK];
static _Atomic pid_t tids[3];
static char *top; /* of the sleeper's stack; nothing is mapped above it */
static _Atomic bool over;

/* Ask for a thread: returns its state, with the bytes of its stack in `stack`. */
static enum fib_wire_thread_state ask(uint64_t tid)
{
	const struct fib_wire_thread request = {tid};
	const void *payload;
	size_t length = 0;

	talk_begin(&t);
	talk_request(&t, FIB_WIRE_THREAD, &request, sizeof request);
	talk_run(&t);
	payload = talk_find(&t, FIB_WIRE_THREAD_IS, &length);
	assert_non_null(payload);
	memcpy(&is, payload, sizeof is);
	assert_int_equal(length, sizeof is + is.stack_size);
	assert_true(is.stack_size <= sizeof stack);
	memcpy(stack, (const char *)payload + sizeof is, is.stack_size);
	assert_non_null(talk_find(&t, FIB_WIRE_END, &length));
	talk_end(&t);
	assert_int_equal(is.tid, tid);
	return is.state;
}

static void *sleeper(void *arg)
{
	volatile char text[sizeof magic];

	for (size_t i = 0; i < sizeof magic; i++)
		text[i] = magic[i];
	tids[0] = gettid();
	while (!over)
		pause();
	return (void *)(uintptr_t)(text[0] + (arg != NULL));
}

static void *deep_sleeper(void *arg)
{
	volatile char room[DEEP];

	room[0] = room[DEEP - 1] = 1;
	tids[1] = gettid();
	while (!over)
		pause();
	return (void *)(uintptr_t)(room[0] + (arg != NULL));
}

static void *spinner(void *arg)
{
	tids[2] = gettid();
	while (!over)
		continue;
	return arg;
}

static void start_on(void *(*fn)(void *), char *low)
{
	pthread_attr_t attr;
	pthread_t thread;

	assert_int_equal(pthread_attr_init(&attr), 0);
	/* musl's default would be too small for the deep one. */
	assert_int_equal(low ? pthread_attr_setstack(&attr, low, STACK)
			     : pthread_attr_setstacksize(&attr, STACK),
			 0);
	assert_int_equal(pthread_create(&thread, &attr, fn, NULL), 0);
	pthread_attr_destroy(&attr);
}

static int start(void **state)
{
	char *low = mmap(NULL, STACK + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);

	(void)state;
	if (low == MAP_FAILED || mprotect(low + STACK, PAGE, PROT_NONE) < 0)
		return -1;
	top = low + STACK;
	start_on(sleeper, low);
	start_on(deep_sleeper, NULL);
	start_on(spinner, NULL);
	for (size_t i = 0; i < 3; i++)
		while (!tids[i])
			usleep(1000);
	return 0;
}

static bool sleeps(void *tid)
{
	return ask((uint64_t) * (_Atomic pid_t *)tid) == FIB_WIRE_THREAD_SLEEPS && is.call >= 0;
}

static void test_a_thread_that_sleeps_has_its_place_and_its_stack(void **state)
{
	uint64_t all;

	(void)state;
	assert_true(harness_until(sleeps, &tids[0], 60));
	assert_true(is.pc != 0);
	all = (uintptr_t)top - is.sp;
	/* ThreadSanitizer uses nearly a megabyte at the top. */
	if (!*harness_sanitizer())
		assert_true(all < FIB_WIRE_THREAD_STACK);
	/* The answer has the whole stack, and nothing beyond it. */
	if (all < FIB_WIRE_THREAD_STACK)
		assert_int_equal(is.stack_size, all);
	assert_int_equal(is.cut != 0, all >= FIB_WIRE_THREAD_STACK);
	assert_non_null(memmem(stack, is.stack_size, magic, sizeof magic));
}

static void test_a_deep_stack_is_cut(void **state)
{
	(void)state;
	assert_true(harness_until(sleeps, &tids[1], 60));
	assert_int_equal(is.stack_size, FIB_WIRE_THREAD_STACK);
	assert_true(is.cut != 0);
}

static bool runs(void *tid)
{
	return ask((uint64_t) * (_Atomic pid_t *)tid) == FIB_WIRE_THREAD_RUNS;
}

static void test_a_thread_that_computes_has_none(void **state)
{
	(void)state;
	assert_true(harness_until(runs, &tids[2], 60));
	assert_int_equal(is.stack_size, 0);
	assert_int_equal(is.sp, 0);
	assert_int_equal(is.pc, 0);
}

static void *nothing(void *arg)
{
	*(pid_t *)arg = gettid();
	return NULL;
}

static bool ended(void *tid)
{
	return ask((uint64_t) * (pid_t *)tid) == FIB_WIRE_THREAD_ENDED;
}

static void test_a_thread_that_is_not_there_has_ended(void **state)
{
	pthread_t thread;
	pid_t tid;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, nothing, &tid), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	/* A join may return a moment before the kernel has removed the thread. */
	assert_true(harness_until(ended, &tid, 60));
	assert_int_equal(is.stack_size, 0);
	/* A thread of another process, and numbers of no thread. */
	assert_int_equal(ask((uint64_t)getppid()), FIB_WIRE_THREAD_ENDED);
	assert_int_equal(ask(0), FIB_WIRE_THREAD_ENDED);
	assert_int_equal(ask(UINT64_MAX), FIB_WIRE_THREAD_ENDED);
	assert_int_equal(ask((UINT64_C(1) << 32) + (uint64_t)tids[0]), FIB_WIRE_THREAD_ENDED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_thread_that_sleeps_has_its_place_and_its_stack),
		cmocka_unit_test(test_a_deep_stack_is_cut),
		cmocka_unit_test(test_a_thread_that_computes_has_none),
		cmocka_unit_test(test_a_thread_that_is_not_there_has_ended),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, start, NULL);
}
