/* SPDX-License-Identifier: MIT */
/*
 * test_promise.c - a promised stack is there when it is requested, whatever happens meanwhile
 *
 * The tests run in children with limited address space, with stacks so large that each is a mapping
 * of its own: a promise that is not kept shows at once.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "base/compiler.h"
#include "os/os.h"
#include "stack/pool.h"
#include "tests/harness/child.h"
#include "tests/harness/watchdog.h"

#define LARGE	(64u << 20)
#define SECOND	INT64_C(1000000000)
#define THREADS 3u
#define ROUNDS	20000u
#define MOST	64u

static struct harness_child child;

static unsigned class_for(size_t size)
{
	unsigned class;
	size_t real;

	return fib_stack_class(size, 0, &class, &real) == 0 && real >= size ? class : ~0u;
}

/* Whether the stack's lowest page is writable and a guard is below it. */
static bool is_whole(const struct fib_stack *s)
{
	char byte;

	memset(s->low, 0x5a, 4096);
	return fib_os_peek((uint64_t)(uintptr_t)s->low - 1, &byte, 1) < 0;
}

/* In a child: if the condition fails, exit with half the line number, which fits an exit code. */
#define must(condition)                      \
	do {                                 \
		if (!(condition))            \
			return __LINE__ / 2; \
	} while (0)

static int keep(void *arg)
{
	const unsigned class = class_for(LARGE);
	struct fib_stack promised[2], other;
	unsigned i;

	(void)arg;
	for (i = 0; i < 2; i++)
		must(fib_stack_promise(NULL, class) == 0);
	harness_limit_space(1 << 20);
	/* No more stacks are promised than there can be. */
	must(fib_stack_promise(NULL, class) == -ENOMEM);
	/* A caller without a promise gets no promised stack. */
	must(fib_stack_take(NULL, LARGE, &other) == -ENOMEM);
	fib_stack_trim(fib_os_now() + 10 * SECOND);
	fib_stack_trim(fib_os_now() + 20 * SECOND);
	fib_stack_take_promised(NULL, class, &promised[0]);
	must(is_whole(&promised[0]) && fib_stack_take(NULL, LARGE, &other) == -ENOMEM);
	fib_stack_take_promised(NULL, class, &promised[1]);
	must(is_whole(&promised[1]) && promised[0].low != promised[1].low);
	/* When a stack taken by a promise is freed, it is available to all. */
	fib_stack_give(NULL, &promised[0]);
	must(fib_stack_take(NULL, LARGE, &other) == 0 && other.low == promised[0].low);
	fib_stack_give(NULL, &other);
	/* It can also be promised again then. */
	must(fib_stack_promise(NULL, class) == 0);
	must(fib_stack_promise(NULL, class) == -ENOMEM);
	must(fib_stack_take(NULL, LARGE, &other) == -ENOMEM);
	fib_stack_unpromise(NULL, class);
	must(fib_stack_take(NULL, LARGE, &other) == 0);
	return 0;
}

static void run_in_child(int (*fn)(void *))
{
	harness_child(fn, NULL, 20, &child);
	if (child.code)
		print_message("# line %d: %s\n", child.code * 2, child.text);
	assert_int_equal(child.signal, 0);
	assert_int_equal(child.code, 0);
}

static void test_promise_is_kept_or_given_back_and_nobody_else_has_it(void **state)
{
	(void)state;
	run_in_child(keep);
}

/* A carrier's promises and stacks are in its cache. */
static int keep_in_cache(void *arg)
{
	const unsigned class = class_for(LARGE), small = class_for(FIB_STACK_MIN);
	struct fib_stack_cache mine = {0}, other = {0};
	struct fib_stack stack, again;

	(void)arg;
	harness_limit_space((size_t)220 << 20);
	/* If there are fewer stacks than a cache takes at a time, it takes one by one. */
	must(fib_stack_promise(&mine, class) == 0 && mine.promises == 0);
	while (fib_stack_promise(&mine, class) == 0)
		;
	/* Promises of different sizes do not mix. */
	must(fib_stack_promise(&mine, small) == 0 && mine.promised_class == small);
	must(mine.promises > 0);
	fib_stack_unpromise(&mine, small);
	fib_stack_flush(&mine);
	must(mine.promises == 0);
	fib_stack_take_promised(&mine, class, &stack);
	must(is_whole(&stack));
	/* When freed it is in the cache: no promise for others, but one for its carrier. */
	fib_stack_give(&mine, &stack);
	must(mine.count == 1);
	must(fib_stack_promise(&other, class) == -ENOMEM);
	must(fib_stack_promise(&mine, class) == 0 && mine.count == 0);
	must(fib_stack_promise(&mine, class) == -ENOMEM);
	fib_stack_take_promised(&other, class, &again);
	must(is_whole(&again));
	/* A fiber that starts on a cached stack leaves its promise to the carrier. */
	fib_stack_give(&mine, &again);
	fib_stack_take_promised(&mine, class, &again);
	must(mine.promises == 1 && fib_stack_promise(&mine, class) == 0 && mine.promises == 0);
	return 0;
}

static void test_promise_of_a_carrier_is_kept_from_its_cache(void **state)
{
	(void)state;
	run_in_child(keep_in_cache);
}

/* -- among threads -- */

struct user {
	struct fib_stack_cache cache;
	struct fib_stack held[MOST];
	unsigned promised[2], count, wrong, seed;
};

static unsigned pick(struct user *u, unsigned n)
{
	u->seed = u->seed * 1103515245u + 12345u;
	return (u->seed >> 16) % n;
}

static void use_one(struct user *u)
{
	static const size_t sizes[2] = {FIB_STACK_MIN, 2 * FIB_STACK_MIN};
	const unsigned which = pick(u, 2), class = class_for(sizes[which]);
	struct fib_stack_cache *cache = pick(u, 3) ? &u->cache : NULL;
	struct fib_stack *at = &u->held[u->count];

	switch (pick(u, 5)) {
	case 0:
		u->promised[which] += fib_stack_promise(cache, class) == 0;
		return;
	case 1:
		if (u->promised[which]) {
			fib_stack_unpromise(cache, class);
			u->promised[which]--;
		}
		return;
	case 2:
		if (!u->promised[which] || u->count == MOST)
			return;
		fib_stack_take_promised(cache, class, at);
		u->promised[which]--;
		break;
	case 3:
		if (u->count == MOST || fib_stack_take(cache, sizes[which], at) < 0)
			return;
		break;
	default:
		if (!u->count)
			return;
		at = &u->held[--u->count];
		u->wrong += *(struct user **)at->low != u;
		fib_stack_give(cache, at);
		return;
	}
	u->wrong += at->size != sizes[which];
	*(struct user **)at->low = u;
	u->count++;
}

static void *use(void *arg)
{
	struct user *u = arg;
	unsigned i;

	for (i = 0; i < ROUNDS; i++) {
		use_one(u);
		if (i % 256 == 0)
			fib_stack_trim(fib_os_now() + i * SECOND);
	}
	while (u->count) {
		u->wrong += *(struct user **)u->held[--u->count].low != u;
		fib_stack_give(&u->cache, &u->held[u->count]);
	}
	for (i = 0; i < 2; i++)
		for (; u->promised[i]; u->promised[i]--)
			fib_stack_unpromise(&u->cache, class_for(FIB_STACK_MIN << i));
	fib_stack_flush(&u->cache);
	return NULL;
}

static void test_promises_of_threads_are_kept_beside_those_who_have_none(void **state)
{
	static struct user users[THREADS];
	pthread_t threads[THREADS];
	unsigned i;

	(void)state;
	for (i = 0; i < THREADS; i++) {
		users[i].seed = i;
		pthread_create(&threads[i], NULL, use, &users[i]);
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(users[i].wrong, 0);
	}
}

/* -- sizes -- */

static void test_promise_class_is_that_of_the_stack(void **state)
{
	struct fib_stack stack;
	unsigned class;
	size_t size;

	(void)state;
	assert_int_equal(fib_stack_class(FIB_STACK_MAX + 1, 0, &class, &size), -EINVAL);
	assert_int_equal(fib_stack_class(1, 0, &class, &size), 0);
	assert_int_equal(size, FIB_STACK_MIN);
	assert_int_equal(fib_stack_class(FIB_STACK_MIN + 1, 0, &class, &size), 0);
	assert_int_equal(size, 2 * FIB_STACK_MIN);
	assert_int_equal(fib_stack_promise(NULL, class), 0);
	fib_stack_take_promised(NULL, class, &stack);
	assert_int_equal(stack.size, size);
	assert_int_equal(stack.class, class);
	fib_stack_give(NULL, &stack);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_promise_class_is_that_of_the_stack),
		cmocka_unit_test(test_promise_is_kept_or_given_back_and_nobody_else_has_it),
		cmocka_unit_test(test_promise_of_a_carrier_is_kept_from_its_cache),
		cmocka_unit_test(test_promises_of_threads_are_kept_beside_those_who_have_none),
	};

	harness_watchdog(100);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
