/* SPDX-License-Identifier: MIT */
/* test_runtimes.c - several runtimes in one process, each with its own options and fibers */
#include "runtimes.h"

#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>

/* -- each has its own settings -- */

struct self {
	struct fiber_runtime *rt, *of_child;
	size_t stack_size;
	int pinned, spawned;
};

static void *say_runtime(void *arg)
{
	(void)arg;
	return fiber_runtime_self();
}

static int my_stack(const struct fiber_info *info, void *arg)
{
	struct self *s = arg;

	if (info->id == fiber_id(fiber_self()))
		s->stack_size = info->stack_size;
	return 0;
}

static void *say_self(void *arg)
{
	struct self *s = arg;
	struct fiber_result r = {NULL, 1};
	struct fiber *child;

	s->rt = fiber_runtime_self();
	s->spawned = fiber_spawn(say_runtime, NULL, &child);
	fiber_join(child, &r, FIBER_FOREVER);
	s->of_child = r.value;
	fiber_foreach(s->rt, my_stack, s);
	fiber_pin();
	/* One that is to be refused must not be over before it has begun. */
	s->pinned =
		fiber_sleep(fiber_pinned_policy(s->rt) == FIBER_PINNED_ERROR ? 3600000 * MS : MS);
	fiber_unpin();
	return NULL;
}

static void test_runtimes_have_their_own_stacks_policy_and_children(void **state)
{
	struct fiber_runtime *rts[MOST];
	struct self selves[MOST] = {{NULL}};
	struct fiber *fibers[MOST];
	unsigned i;

	(void)state;
	start_kinds(rts, MOST);
	for (i = 0; i < MOST; i++)
		fibers[i] = spawn_in(rts[i], say_self, &selves[i]);
	for (i = 0; i < MOST; i++) {
		const bool refuses = kinds[i].pinned_policy == FIBER_PINNED_ERROR;
		const size_t size = kinds[i].stack_size ? kinds[i].stack_size : 256 << 10;

		join(fibers[i]);
		assert_ptr_equal(selves[i].rt, rts[i]);
		assert_ptr_equal(selves[i].of_child, rts[i]);
		assert_int_equal(selves[i].pinned, refuses ? -EDEADLK : 0);
		assert_int_equal(fiber_pinned_policy(rts[i]), kinds[i].pinned_policy);
		/* The size may differ by the guard and the colour. */
		assert_in_range(selves[i].stack_size, size - 8192, size + 8192);
	}
	/* The policy of one does not affect the others. */
	assert_int_equal(fiber_set_pinned_policy(rts[0], FIBER_PINNED_ERROR), 0);
	assert_int_equal(fiber_pinned_policy(rts[4]), FIBER_PINNED_SILENT);
	for (i = 0; i < MOST; i++)
		carriers_finish(rts[i]);
}

/* -- one finishes while the other lives -- */

static _Atomic bool enough;

static void *count_until_enough(void *arg)
{
	long turns = 0;

	(void)arg;
	while (!enough) {
		fiber_sleep(MS / 10);
		turns++;
	}
	return (void *)turns;
}

static void test_runtimes_one_comes_and_goes_while_another_runs(void **state)
{
	struct fiber_runtime *first = start_kind(0), *rt;
	struct fiber *fiber;
	unsigned i;

	(void)state;
	enough = false;
	fiber = spawn_in(first, count_until_enough, NULL);
	for (i = 0; i < 20; i++) {
		rt = start_kind(1 + i % 4);
		join(spawn_in(rt, say_runtime, NULL));
		carriers_finish(rt);
		assert_int_equal(fiber_state(fiber) == FIBER_DEAD, 0);
	}
	enough = true;
	assert_true(join(fiber) > 0);
	carriers_finish(first);
}

/* -- a runtime's life inside a fiber of another -- */

struct nested {
	struct fiber *parent;
	int started, timed_out, finished;
	_Atomic int beside; /* how often another fiber of the same carriers ran meanwhile */
	_Atomic bool over;
};

static void *run_beside(void *arg)
{
	struct nested *n = arg;

	while (!n->over) {
		n->beside++;
		fiber_yield();
	}
	return NULL;
}

/* In the inner runtime: waits for a fiber of the outer one. */
static void *ask_outside(void *arg)
{
	struct nested *n = arg;
	const int before = n->beside;

	while (n->beside < before + 100)
		fiber_sleep(MS / 10);
	return NULL;
}

static void *nest(void *arg)
{
	struct nested *n = arg;
	struct fiber_runtime_options options = kinds[1];
	struct fiber_runtime *rt = NULL;
	struct fiber *beside, *never;

	options.size = sizeof(options);
	options.control_path = "";
	fiber_spawn(run_beside, n, &beside);
	n->started = fiber_runtime_start(&options, &rt);
	fiber_runtime_spawn(rt, NULL, ask_outside, n, NULL);
	fiber_runtime_spawn(rt, NULL, sleep_for_ever, NULL, &never);
	n->timed_out = fiber_runtime_finish(rt, fiber_after(2 * MS));
	fiber_cancel(never);
	fiber_detach(never);
	n->finished = fiber_runtime_finish(rt, FIBER_FOREVER);
	n->over = true;
	fiber_join(beside, NULL, FIBER_FOREVER);
	return NULL;
}

static void test_runtimes_one_is_started_and_finished_by_a_fiber_which_parks(void **state)
{
	struct nested n = {.started = 1};

	(void)state;
	assert_int_equal(carriers_run(nest, &n).error, 0);
	assert_int_equal(n.started, 0);
	assert_int_equal(n.timed_out, -ETIMEDOUT);
	assert_int_equal(n.finished, 0);
	assert_true(n.beside >= 100);
}

static struct fiber_runtime *inner;

static void *finish_inner(void *arg)
{
	*(int *)arg = fiber_runtime_finish(inner, FIBER_FOREVER);
	return NULL;
}

static void *finish_self(void *arg)
{
	*(int *)arg = fiber_runtime_finish(fiber_runtime_self(), FIBER_FOREVER);
	return NULL;
}

static void test_runtimes_finish_in_a_fiber_is_cancelled_and_done_later(void **state)
{
	struct fiber_runtime *outer = start_kind(0);
	struct fiber *never, *finisher;
	int rc = 1;

	(void)state;
	inner = start_kind(1);
	never = spawn_in(inner, sleep_for_ever, NULL);
	finisher = spawn_in(outer, finish_inner, &rc);
	carriers_await_suspended(finisher);
	fiber_cancel(finisher);
	assert_int_equal(fiber_join(finisher, NULL, FIBER_FOREVER), 0);
	assert_int_equal(rc, -ECANCELED);
	/* The inner runtime still works: this fiber runs. */
	join(spawn_in(inner, say_runtime, NULL));
	join(spawn_in(inner, finish_self, &rc));
	assert_int_equal(rc, -EPERM);
	finisher = spawn_in(outer, finish_inner, &rc);
	carriers_await_suspended(finisher);
	fiber_cancel(never);
	assert_int_equal(fiber_join(never, NULL, FIBER_FOREVER), 0);
	join(finisher);
	assert_int_equal(rc, 0);
	carriers_finish(outer);
}

/* -- observers see all of them, or one -- */

static int count_one(const struct fiber_info *info, void *arg)
{
	(void)info;
	++*(int *)arg;
	return 0;
}

static void test_runtimes_are_looked_at_each_alone_and_all_together(void **state)
{
	struct fiber_runtime *rts[MOST];
	struct fiber *fibers[MOST][MOST];
	int ends[2], total = 0, n;
	char byte;

	(void)state;
	start_kinds(rts, MOST);
	for (unsigned i = 0; i < MOST; i++)
		for (unsigned j = 0; j <= i; j++) {
			fibers[i][j] = spawn_in(rts[i], sleep_for_ever, NULL);
			carriers_await_suspended(fibers[i][j]);
		}
	for (unsigned i = 0; i < MOST; i++) {
		n = 0;
		fiber_foreach(rts[i], count_one, &n);
		assert_int_equal(n, (int)i + 1);
		total += n;
	}
	n = 0;
	fiber_foreach(NULL, count_one, &n);
	assert_int_equal(n, total);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(fiber_dump(ends[1]), total);
	close(ends[1]);
	while (read(ends[0], &byte, 1) == 1)
		;
	close(ends[0]);
	for (unsigned i = 0; i < MOST; i++) {
		for (unsigned j = 0; j <= i; j++) {
			fiber_cancel(fibers[i][j]);
			assert_int_equal(fiber_join(fibers[i][j], NULL, FIBER_FOREVER), 0);
		}
		carriers_finish(rts[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runtimes_have_their_own_stacks_policy_and_children),
		cmocka_unit_test(test_runtimes_one_comes_and_goes_while_another_runs),
		cmocka_unit_test(test_runtimes_one_is_started_and_finished_by_a_fiber_which_parks),
		cmocka_unit_test(test_runtimes_finish_in_a_fiber_is_cancelled_and_done_later),
		cmocka_unit_test(test_runtimes_are_looked_at_each_alone_and_all_together),
	};

	harness_watchdog(100);
	return cmocka_run_group_tests_name("runtimes", tests, NULL, NULL);
}
