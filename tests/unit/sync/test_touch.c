/* SPDX-License-Identifier: MIT */
/* test_touch.c - an object records which fiber alone has signalled it, and that several have */
#include "queue.h"

#include <string.h>

#include "sync/touch.h"

struct object {
	struct fiber_cond cond;
	struct fiber_sem sem;
	struct fiber_event event;
	int (*signal)(struct object *object);
	struct fiber_wait_queue *waiters;
	enum fib_wait_kind kind;
	void *at;
};

static int signals(struct object *o)
{
	return fiber_cond_signal(&o->cond);
}

static int broadcasts(struct object *o)
{
	return fiber_cond_broadcast(&o->cond);
}

static int posts(struct object *o)
{
	return fiber_sem_post(&o->sem);
}

static int sets(struct object *o)
{
	return fiber_event_set(&o->event);
}

static void *signal_twice(void *arg)
{
	struct object *o = arg;

	o->signal(o);
	o->signal(o);
	return (void *)(uintptr_t)fiber_id(fiber_self());
}

/* Signal twice in a fiber of its own. Returns the low half of its id. */
static uint32_t touch(struct object *o)
{
	struct fiber_result r = {NULL, 1};

	assert_int_equal(fiber_join(queue_spawn(signal_twice, o), &r, FIBER_FOREVER), 0);
	return (uint32_t)(uintptr_t)r.value;
}

static const struct {
	int (*signal)(struct object *object);
	enum fib_wait_kind kind;
} ways[] = {
	{signals, FIB_WAIT_COND},
	{broadcasts, FIB_WAIT_COND},
	{posts, FIB_WAIT_SEM},
	{sets, FIB_WAIT_EVENT},
};

static void make(struct object *o, size_t way)
{
	memset(o, 0, sizeof *o);
	o->signal = ways[way].signal;
	o->kind = ways[way].kind;
	if (o->kind == FIB_WAIT_COND) {
		o->waiters = &o->cond.waiters;
		o->at = &o->cond;
	} else if (o->kind == FIB_WAIT_SEM) {
		o->waiters = &o->sem.waiters;
		o->at = &o->sem;
	} else {
		o->waiters = &o->event.waiters;
		o->at = &o->event;
	}
}

/* The toucher that readers find at the place that the registry publishes. */
static uint32_t toucher(const struct object *o)
{
	const struct fib_layout_field f = fiber_registry.touchers[o->kind];
	uint32_t who;

	assert_int_equal(f.size, sizeof who);
	memcpy(&who, (const char *)o->at + f.offset, sizeof who);
	return who;
}

static void test_touch_of_one_fiber_is_its_id(void **state)
{
	struct object o;
	size_t i;

	(void)state;
	for (i = 0; i < fib_countof(ways); i++) {
		uint32_t id;

		make(&o, i);
		assert_int_equal(toucher(&o), 0);
		id = touch(&o);
		assert_true(id != 0);
		assert_int_equal(toucher(&o), id);
	}
}

static void test_touch_of_two_fibers_is_that_of_several_for_ever(void **state)
{
	struct object o;
	size_t i;

	(void)state;
	for (i = 0; i < fib_countof(ways); i++) {
		make(&o, i);
		touch(&o);
		touch(&o);
		assert_int_equal(toucher(&o), FIB_TOUCHER_SEVERAL);
		touch(&o);
		assert_int_equal(toucher(&o), FIB_TOUCHER_SEVERAL);
	}
}

static void test_touch_of_a_thread_is_that_of_several(void **state)
{
	struct object o;
	size_t i;

	(void)state;
	for (i = 0; i < fib_countof(ways); i++) {
		make(&o, i);
		assert_int_equal(o.signal(&o), 0);
		assert_int_equal(toucher(&o), FIB_TOUCHER_SEVERAL);
		make(&o, i);
		touch(&o);
		assert_int_equal(o.signal(&o), 0);
		assert_int_equal(toucher(&o), FIB_TOUCHER_SEVERAL);
	}
}

static void *waits_for_sem(void *arg)
{
	struct object *o = arg;

	return (void *)(intptr_t)fiber_sem_wait(&o->sem, FIBER_FOREVER);
}

static void test_touch_is_not_a_wait_that_is_woken(void **state)
{
	struct fiber *f;
	struct object o;
	uint32_t id;

	(void)state;
	make(&o, 2);
	f = queue_spawn(waits_for_sem, &o);
	queue_await(o.waiters, 1);
	assert_int_equal(toucher(&o), 0);
	id = touch(&o);
	assert_int_equal(queue_join(f), 0);
	assert_int_equal(fiber_sem_trywait(&o.sem), 0);
	assert_int_equal(toucher(&o), id);
}

static void test_touch_of_a_semaphore_that_starts_above_0_is_that_of_several(void **state)
{
	struct object o;

	(void)state;
	make(&o, 2);
	fiber_sem_init(&o.sem, 1);
	assert_int_equal(toucher(&o), FIB_TOUCHER_SEVERAL);
	touch(&o);
	assert_int_equal(toucher(&o), FIB_TOUCHER_SEVERAL);
	fiber_sem_init(&o.sem, 0);
	assert_int_equal(toucher(&o), 0);
}

static void test_touch_is_not_published_of_other_objects(void **state)
{
	(void)state;
	assert_int_equal(fiber_registry.touchers[FIB_WAIT_MUTEX].size, 0);
	assert_int_equal(fiber_registry.touchers[FIB_WAIT_BARRIER].size, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_touch_of_one_fiber_is_its_id),
		cmocka_unit_test(test_touch_of_two_fibers_is_that_of_several_for_ever),
		cmocka_unit_test(test_touch_of_a_thread_is_that_of_several),
		cmocka_unit_test(test_touch_is_not_a_wait_that_is_woken),
		cmocka_unit_test(test_touch_of_a_semaphore_that_starts_above_0_is_that_of_several),
		cmocka_unit_test(test_touch_is_not_published_of_other_objects),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, queue_start, queue_stop);
}
