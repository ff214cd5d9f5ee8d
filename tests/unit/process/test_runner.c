/* SPDX-License-Identifier: MIT */
/* test_runner.c - find the threads that run fibers, stop them rarely, copy only their fibers */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <fiber/fiber.h>

#include "inspect/source/source.h"
#include "tests/harness/inspect/crowd.h"
#include "tests/harness/inspect/head.h"
#include "inspect/process/runner.h"
#include "inspect/unwind/unwind.h"

static struct harness_process *target;
static struct ins_source *source;
static struct ins_unwinder *unwinder;
static struct ins_pauses pauses;
static struct ins_error error;
static struct ins_summary summary;
static struct ins_walk walk;
static unsigned running, whole;

/* Two carriers that spin (fixtures/spin). */
static int open_spin(void **state)
{
	char path[HARNESS_PATH];

	(void)state;
	target = harness_start((const char *const[]){harness_plain(path, "spin"), NULL}, NULL);
	if (!harness_wait_line(target, "ready ", 30) ||
	    ins_source_open_live(target->pid, &error, &source) < 0 ||
	    ins_unwinder_new(source, &unwinder) < 0)
		return -1;
	source->pauses = &pauses;
	return 0;
}

static int each(void *context, const struct ins_fiber *fiber)
{
	(void)context;
	if (fiber->row.state != FIBER_RUNNING) {
		assert_int_equal(fiber->registers.known, 0);
		return 0;
	}
	running++;
	if (!(fiber->flags & INS_FIBER_PAUSED))
		fail_msg("fiber %s was not stopped: flags %u", fiber->row.name, fiber->flags);
	assert_true(__builtin_popcount(fiber->registers.known) >= 15);
	assert_int_equal(fiber->row.sp, fiber->registers.sp);
	assert_int_equal(fiber->stack_size, fiber->row.stack_used);
	assert_true(fiber->row.carrier < 2);
	ins_unwind(unwinder, fiber, &walk);
	whole += !walk.truncated && walk.count >= 3;
	assert_int_equal(walk.pc[0], fiber->registers.pc);
	return 0;
}

static void read_all(bool stacks)
{
	const struct ins_request request = {.stacks = stacks};
	char text[256];

	running = whole = 0;
	pauses = (struct ins_pauses){0};
	assert_int_equal(ins_source_read(source, &request, each, NULL, &summary, &error), 0);
	if (ins_problems_lines(&source->problems))
		fail_msg("%s", ins_problems_text(&source->problems, 0, text, sizeof text));
}

static void test_each_that_runs_is_found_and_walked(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++) {
		read_all(true);
		assert_int_equal(running, 2);
		assert_int_equal(whole, 2);
		/* Each of the two carriers is stopped once or twice; no other thread runs. */
		assert_in_range(pauses.threads, 2, 8);
	}
}

static int look(void *context, const struct ins_fiber *fiber)
{
	unsigned *const n = context;

	*n += fiber->row.state == FIBER_RUNNING;
	assert_int_equal(fiber->registers.known, 0);
	assert_null(fiber->flags & INS_FIBER_PAUSED ? fiber : NULL);
	return 0;
}

static void test_nobody_is_stopped_for_what_nobody_asks(void **state)
{
	const struct ins_request without = {0}, with = {.stacks = true};
	unsigned n = 0;

	(void)state;
	pauses = (struct ins_pauses){0};
	assert_int_equal(ins_source_read(source, &without, look, &n, &summary, &error), 0);
	assert_int_equal(n, 2);
	assert_int_equal(pauses.threads, 0);
	/* A source that does not allow it stops no thread. */
	ins_unwinder_free(unwinder);
	ins_source_close(source);
	assert_int_equal(ins_source_open_live(target->pid, &error, &source), 0);
	assert_int_equal(ins_unwinder_new(source, &unwinder), 0);
	assert_int_equal(ins_source_read(source, &with, look, &n, &summary, &error), 0);
	assert_int_equal(n, 4);
	assert_int_equal(pauses.threads, 0);
}

static struct ins_fiber kept;

static int keep(void *context, const struct ins_fiber *fiber)
{
	(void)context;
	if (fiber->row.state == FIBER_RUNNING)
		kept = *fiber;
	return 0;
}

static void test_a_record_that_is_anothers_by_now_has_moved(void **state)
{
	const struct ins_request request = {0};
	struct ins_memory memory = {.pid = target->pid, .file = -1};
	struct ins_runners *runners;
	struct ins_fiber fiber;

	(void)state;
	source->pauses = &pauses;
	assert_int_equal(ins_source_read(source, &request, keep, NULL, &summary, &error), 0);
	assert_int_equal(ins_runners_new(source, &memory, &runners), 0);
	ins_runners_begin(runners);
	fiber = kept;
	assert_int_equal(ins_runners_take(runners, &fiber), INS_RUNNER_TAKEN);
	assert_int_equal(fiber.row.id, kept.row.id);
	/* The stack is right, but it belongs to another fiber. */
	fiber = kept;
	fiber.row.id += 1000;
	assert_int_equal(ins_runners_take(runners, &fiber), INS_RUNNER_MOVED);
	assert_int_equal(fiber.row.id, kept.row.id + 1000);
	/* No thread is on that stack and the fiber does not move: it is being switched. */
	fiber = kept;
	fiber.row.stack_low = 0x10000;
	fiber.row.stack_size = 0x1000;
	assert_int_equal(ins_runners_take(runners, &fiber), INS_RUNNER_TAKEN);
	assert_true(fiber.flags & INS_FIBER_SWITCHING);
	assert_null(fiber.stack);
	ins_runners_free(runners);
	ins_runners_free(NULL);
}

static int walk_as_another(void *context, const struct ins_fiber *fiber)
{
	const struct fib_layout *const layout = &source->layout;
	struct ins_fiber other = *fiber;

	if (!(fiber->flags & INS_FIBER_PAUSED))
		return 0;
	++*(unsigned *)context;
	/* `other` is about to start on this stack; the frames are those of its predecessor. */
	other.row.record += layout->record_size;
	if (other.row.record - layout->records >= layout->committed * layout->record_size)
		other.row.record = layout->records;
	ins_unwind(unwinder, &other, &walk);
	assert_true(walk.truncated);
	assert_int_equal(walk.count, 0);
	assert_non_null(strstr(walk.reason, "middle of a switch"));
	/* A walk that leaves the fiber's stack does not belong to the fiber. */
	other = *fiber;
	other.row.stack_size = fiber->row.sp + 8 - other.row.stack_low;
	other.stack_size = 8;
	ins_unwind(unwinder, &other, &walk);
	assert_true(walk.truncated);
	/* A walk of the fiber itself is complete. */
	ins_unwind(unwinder, fiber, &walk);
	assert_false(walk.truncated);
	return 0;
}

static void test_frames_of_who_had_the_stack_before_are_not_shown(void **state)
{
	const struct ins_request request = {.stacks = true};
	unsigned n = 0;

	(void)state;
	assert_int_equal(ins_source_read(source, &request, walk_as_another, &n, &summary, &error),
			 0);
	assert_int_equal(n, 2);
}

static int close_spin(void **state)
{
	(void)state;
	ins_unwinder_free(unwinder);
	ins_source_close(source);
	harness_free(target);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_that_runs_is_found_and_walked),
		cmocka_unit_test(test_nobody_is_stopped_for_what_nobody_asks),
		cmocka_unit_test(test_a_record_that_is_anothers_by_now_has_moved),
		cmocka_unit_test(test_frames_of_who_had_the_stack_before_are_not_shown),
	};

	return HEAD_RUN(tests, open_spin, close_spin);
}
