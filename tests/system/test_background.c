/* SPDX-License-Identifier: MIT */
/* test_background.c - a program ends when its work is done, despite background fibers */
#include "carriers.h"

#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>

struct flusher {
	struct fiber_mutex mutex;
	atomic_int flushed, told, ended;
	int dirty; /* under mutex */
	int pipe[2];
};

static const struct fiber_attr in_background = {.size = sizeof in_background,
						.name = "background",
						.flags = FIBER_BACKGROUND | FIBER_DETACHED};

static void count_end(void *arg)
{
	((struct flusher *)arg)->ended++;
}

/* Ignores all results. */
static void *flush_for_ever(void *arg)
{
	struct flusher *f = arg;

	fiber_at_exit(count_end, f);
	for (;;) {
		fiber_mutex_lock(&f->mutex, FIBER_FOREVER);
		f->flushed += f->dirty;
		f->dirty = 0;
		fiber_mutex_unlock(&f->mutex);
		fiber_sleep(MS / 10);
	}
	return NULL;
}

/* Checks every result. */
static void *serve(void *arg)
{
	struct flusher *f = arg;
	char byte;

	fiber_at_exit(count_end, f);
	while (fiber_read(f->pipe[0], &byte, 1, FIBER_FOREVER) > 0)
		f->flushed++;
	f->told++;
	return NULL;
}

static void *spin(void *arg)
{
	fiber_at_exit(count_end, arg);
	while (fiber_yield() == 0)
		;
	return NULL;
}

static void *work(void *arg)
{
	struct flusher *f = arg;

	for (int i = 0; i < 50; i++) {
		fiber_mutex_lock(&f->mutex, FIBER_FOREVER);
		f->dirty++;
		fiber_mutex_unlock(&f->mutex);
		fiber_sleep(MS / 20);
	}
	return arg;
}

static void *work_with_servants(void *arg)
{
	static fiber_fn *const servants[] = {flush_for_ever, serve, spin};
	intptr_t rc = 0;

	for (int i = 0; i < 30; i++)
		rc |= fiber_spawn_attr(&in_background, servants[i % 3], arg, NULL);
	return rc ? NULL : work(arg);
}

/* Send it bytes one by one, each when it has read the one before and found nothing more. */
static void *send_and_end(void *arg)
{
	struct flusher *f = arg;
	intptr_t rc = fiber_spawn_attr(&in_background, serve, f, NULL);

	for (int i = 0; i < 20 && rc == 0; i++) {
		fiber_sleep(MS);
		rc = write(f->pipe[1], "", 1) != 1;
		while (f->flushed <= i)
			fiber_sleep(MS / 10);
	}
	fiber_sleep(MS);
	return rc ? NULL : arg;
}

/* A fiber that waits once more than it was told of would exit without its -ECANCELED. */
static void test_background_fiber_that_reads_what_is_often_empty_is_told_once(void **state)
{
	struct flusher f = {0};
	struct fiber_result r;

	(void)state;
	assert_int_equal(pipe(f.pipe), 0);
	r = carriers_run(send_and_end, &f);
	assert_ptr_equal(r.value, &f);
	assert_int_equal(f.told, 1);
	close(f.pipe[0]);
	close(f.pipe[1]);
}

static void test_background_fibers_do_not_keep_the_program(void **state)
{
	(void)state;
	for (int i = 0; i < 10; i++) {
		struct flusher f = {0};
		struct fiber_result r;

		assert_int_equal(pipe(f.pipe), 0);
		r = carriers_run(work_with_servants, &f);
		assert_ptr_equal(r.value, &f);
		assert_int_equal(f.ended, 30);
		assert_int_equal(f.told, 10);
		/* No exited fiber holds the mutex. */
		assert_int_equal(fiber_mutex_trylock(&f.mutex), 0);
		assert_int_equal(f.flushed + f.dirty, 50);
		close(f.pipe[0]);
		close(f.pipe[1]);
	}
}

/* Ten thousand background fibers, in any state, end with the runtime. */
static void test_background_fibers_in_great_number_end(void **state)
{
	struct fiber_runtime *rt = carriers_start();
	const size_t n = carriers_scale(10000);
	struct flusher f = {0};

	(void)state;
	assert_int_equal(pipe(f.pipe), 0);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(fiber_runtime_spawn(
					 rt, &in_background,
					 i % 100 ? i % 2 ? serve : flush_for_ever : spin, &f, NULL),
				 0);
	carriers_finish(rt);
	assert_int_equal(f.ended, n);
	close(f.pipe[0]);
	close(f.pipe[1]);
}

/* -- one that blocks its carrier -- */

struct blocker {
	struct fiber_sem never;
	struct fiber *fiber;
	int woken;
};

static void *block_pinned(void *arg)
{
	struct blocker *b = arg;

	fiber_park(FIBER_FOREVER);
	b->woken++;
	fiber_pin();
	fiber_sem_wait(&b->never, FIBER_FOREVER);
	fiber_unpin();
	return NULL;
}

static void *wake_and_end(void *arg)
{
	struct blocker *b = arg;

	fiber_sleep(20 * MS); /* by then the runtime waits for its end */
	fiber_unpark(b->fiber);
	fiber_detach(b->fiber);
	return NULL;
}

static void *start_blocker(void *arg)
{
	const struct fiber_attr attr = {.size = sizeof attr, .flags = FIBER_BACKGROUND};
	struct blocker *b = arg;

	if (fiber_spawn_attr(&attr, block_pinned, b, &b->fiber) == 0)
		fiber_spawn(wake_and_end, b, NULL);
	return NULL;
}

/* The last counted fiber exits, and the next fiber on its carrier blocks the carrier forever. */
static void test_background_fiber_that_blocks_its_carrier_does_not_hold_up_the_end(void **state)
{
	struct fiber_runtime_options options = carriers_options();
	struct blocker b = {.woken = 0};

	(void)state;
	options.pinned_policy = FIBER_PINNED_SILENT;
	fiber_sem_init(&b.never, 0);
	assert_int_equal(fiber_run(start_blocker, &b, &options, NULL), 0);
	assert_int_equal(b.woken, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_background_fibers_do_not_keep_the_program),
		cmocka_unit_test(test_background_fiber_that_reads_what_is_often_empty_is_told_once),
		cmocka_unit_test(test_background_fibers_in_great_number_end),
		cmocka_unit_test(
			test_background_fiber_that_blocks_its_carrier_does_not_hold_up_the_end),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
