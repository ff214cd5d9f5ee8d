/* SPDX-License-Identifier: MIT */
/*
 * test_fiber.c - a fiber's record while the fiber lives, and what remains of it afterwards
 *
 * There is one carrier, so the program decides the order: a fiber looks at another between the
 * steps of the other's life. Fibers record; the tests assert.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <fiber/fiber.h>
#include <fiber/runtime.h>
#include <fiber/time.h>

#include "core/record.h"
#include "core/registry.h"
#include "tests/harness/watchdog.h"

#define MANY 200

static const struct fiber_runtime_options one_carrier = {
	.size = sizeof one_carrier, .carriers = 1, .control_path = ""};

static void run(fiber_fn *fn)
{
	struct fiber_result result;

	assert_int_equal(fiber_run(fn, NULL, &one_carrier, &result), 0);
	assert_int_equal(result.error, 0);
}

static void *rest(void *arg)
{
	return arg;
}

/* -- the record's shape: a switch touches one cache line, a wait another -- */

#define inside(line, member)                                                     \
	(offsetof(struct fiber, member) >= (line)*FIB_CACHE_LINE &&              \
	 offsetof(struct fiber, member) + sizeof(((struct fiber *)0)->member) <= \
		 ((line) + 1) * FIB_CACHE_LINE)

static void test_fiber_record_keeps_a_switch_and_a_wait_in_a_line_each(void **state)
{
	(void)state;
	assert_true(inside(0, context) && inside(0, link) && inside(0, seq) && inside(0, since) &&
		    inside(0, state) && inside(0, wait_kind) && inside(0, carrier));
	assert_true(inside(1, parker) && inside(1, wait_object) && inside(1, wait_arg) &&
		    inside(1, wait_deadline) && inside(1, timers) && inside(1, token));
	assert_int_equal(sizeof(struct fiber) % FIB_CACHE_LINE, 0);
}

/* -- names -- */

static void test_fiber_name_is_cut_and_says_by_how_much(void **state)
{
	struct fiber_attr attr = {.size = sizeof attr,
				  .name = "a-name-of-forty-bytes-which-is-nine-more"};
	struct fiber *f;

	(void)state;
	assert_int_equal(fiber_create(&attr, rest, NULL, &f), 0);
	assert_string_equal(fiber_name(f), "a-name-of-forty-bytes-which-is-");
	assert_int_equal(fiber_set_name(f, attr.name), 9);
	assert_int_equal(fiber_set_name(f, "short"), 0);
	assert_string_equal(fiber_name(f), "short");
	assert_int_equal(fiber_set_name(f, NULL), 0);
	assert_string_equal(fiber_name(f), "");
	fiber_detach(f);
	/* The next fiber in this record does not inherit the name. */
	assert_int_equal(fiber_create(NULL, rest, NULL, &f), 0);
	assert_string_equal(fiber_name(f), "");
	fiber_detach(f);
}

/* -- ids -- */

static void test_fiber_ids_count_up_over_runtimes_and_threads(void **state)
{
	static struct fiber *many[MANY];
	uint64_t last = 0;
	int i, round;

	(void)state;
	for (round = 0; round < 3; round++) {
		for (i = 0; i < MANY; i++) {
			assert_int_equal(fiber_create(NULL, rest, NULL, &many[i]), 0);
			assert_true(fiber_id(many[i]) > last);
			last = fiber_id(many[i]);
		}
		for (i = 0; i < MANY; i++)
			fiber_detach(many[i]);
		run(rest);
	}
}

static uint64_t ids[2][MANY];

static void *create_many(void *arg)
{
	uint64_t *mine = arg;
	int i;

	for (i = 0; i < MANY; i++) {
		struct fiber *f;

		if (fiber_create(NULL, rest, NULL, &f) < 0)
			break;
		mine[i] = fiber_id(f);
		fiber_detach(f);
	}
	return NULL;
}

static void test_fiber_ids_of_two_threads_are_different(void **state)
{
	pthread_t threads[2];
	int i, k, same = 0;

	(void)state;
	for (i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, create_many, ids[i]);
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < MANY; i++)
		for (k = 0; k < MANY; k++)
			same += ids[0][i] == ids[1][k];
	assert_int_equal(same, 0);
	assert_true(ids[0][MANY - 1] && ids[1][MANY - 1]);
}

/* -- states -- */

static struct {
	enum fiber_state created, submitted, within, parked, woken, ended;
	uint64_t seq_created, seq_within, seq_parked, seq_ended, id, id_after;
	uint8_t kind_parked;
	int rc;
} life;

static void *step(void *arg)
{
	struct fiber *me = fiber_self();

	(void)arg;
	life.within = fiber_state(me);
	life.seq_within = fib_load(&me->seq);
	life.rc = fiber_park(FIBER_FOREVER);
	return me;
}

static void *watch_a_life(void *arg)
{
	struct fiber_result result;
	struct fiber *f;

	(void)arg;
	if (fiber_create(NULL, step, NULL, &f) < 0)
		return NULL;
	life.id = fiber_id(f);
	life.created = fiber_state(f);
	life.seq_created = fib_load(&f->seq);
	fiber_submit(NULL, f);
	life.submitted = fiber_state(f);
	fiber_yield();
	life.parked = fiber_state(f);
	life.seq_parked = fib_load(&f->seq);
	life.kind_parked = fib_load(&f->wait_kind);
	fiber_unpark(f);
	life.woken = fiber_state(f);
	fiber_yield();
	life.ended = fiber_state(f);
	life.seq_ended = fib_load(&f->seq);
	fiber_join(f, &result, FIBER_FOREVER);
	life.id_after = fib_observe(&f->id);
	return NULL;
}

static void test_fiber_state_is_that_of_every_step_of_its_life(void **state)
{
	(void)state;
	run(watch_a_life);
	assert_int_equal(life.rc, 0);
	assert_int_equal(life.created, FIBER_CREATED);
	assert_int_equal(life.submitted, FIBER_RUNNABLE);
	assert_int_equal(life.within, FIBER_RUNNING);
	assert_int_equal(life.parked, FIBER_SUSPENDED);
	assert_int_equal(life.kind_parked, FIB_WAIT_PARK);
	assert_int_equal(life.woken, FIBER_RUNNABLE);
	assert_int_equal(life.ended, FIBER_DEAD);
}

static void test_fiber_sequence_is_odd_while_it_runs_and_moves_at_every_switch(void **state)
{
	(void)state;
	run(watch_a_life);
	assert_int_equal(life.seq_created, 0);
	assert_int_equal(life.seq_within, 1);
	assert_int_equal(life.seq_parked, 2);
	assert_int_equal(life.seq_ended, 4);
}

static void test_fiber_that_was_joined_is_a_free_record(void **state)
{
	uint64_t i, live = 0;

	(void)state;
	run(watch_a_life);
	assert_true(life.id != 0);
	assert_int_equal(life.id_after, 0);
	/* A walk over the registry now finds no live fiber. */
	for (i = 0; i < fib_registry_committed(); i++)
		live += fib_observe(&fib_registry_at(i)->id) != 0;
	assert_int_equal(live, 0);
}

/* -- results and records -- */

static uint64_t parent, me;
static char failure[2][sizeof((struct fiber *)0)->failure];
static struct fiber_result failed;

static void *note_parent(void *arg)
{
	(void)arg;
	parent = fiber_self()->parent;
	return NULL;
}

static void *fail_at_length(void *arg)
{
	(void)arg;
	fiber_fail(-5, "%0200d", 7);
}

static void *spawn_children(void *arg)
{
	struct fiber *f;

	(void)arg;
	me = fiber_id(fiber_self());
	if (fiber_spawn(note_parent, NULL, &f) == 0)
		fiber_join(f, NULL, FIBER_FOREVER);
	if (fiber_spawn(fail_at_length, NULL, &f) < 0)
		return NULL;
	fiber_yield();
	memcpy(failure[0], f->failure, sizeof failure[0]);
	fiber_join(f, &failed, FIBER_FOREVER);
	/* Probably the same record: its text must start empty. */
	if (fiber_spawn(rest, NULL, &f) < 0)
		return NULL;
	memcpy(failure[1], f->failure, sizeof failure[1]);
	fiber_join(f, NULL, FIBER_FOREVER);
	return NULL;
}

static void test_fiber_record_knows_its_parent_and_keeps_why_it_failed(void **state)
{
	(void)state;
	run(spawn_children);
	assert_int_equal(parent, me);
	assert_int_equal(failed.error, -5);
	/* fiber/fiber.h promises 69 bytes. */
	assert_int_equal(strlen(failure[0]), 69);
	assert_int_equal(strspn(failure[0], "0"), 69);
	assert_string_equal(failure[1], "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fiber_record_keeps_a_switch_and_a_wait_in_a_line_each),
		cmocka_unit_test(test_fiber_name_is_cut_and_says_by_how_much),
		cmocka_unit_test(test_fiber_ids_count_up_over_runtimes_and_threads),
		cmocka_unit_test(test_fiber_ids_of_two_threads_are_different),
		cmocka_unit_test(test_fiber_state_is_that_of_every_step_of_its_life),
		cmocka_unit_test(
			test_fiber_sequence_is_odd_while_it_runs_and_moves_at_every_switch),
		cmocka_unit_test(test_fiber_that_was_joined_is_a_free_record),
		cmocka_unit_test(test_fiber_record_knows_its_parent_and_keeps_why_it_failed),
	};

	setenv("FIBER_CONTROL", "off", 1);
	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
