/* SPDX-License-Identifier: MIT */
/* test_source_live.c - read the fibers of a live process that runs, is stopped, and ends */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fiber/fiber.h>

#include "tests/harness/inspect/crowd.h"
#include "tests/harness/inspect/head.h"
#include "inspect/source/source.h"

static struct harness_process *crowd;
static struct ins_error error;
static struct ins_summary summary;
static struct ins_source *source;
static unsigned fibers, with_stack;

static int each(void *context, const struct ins_fiber *fiber)
{
	(void)context;
	fibers++;
	assert_true(fiber->row.id != 0);
	assert_string_not_equal(fiber->row.name, "");
	assert_int_equal(fiber->flags, 0);
	if (fiber->stack) {
		with_stack++;
		assert_int_equal(fiber->stack_size, fiber->row.stack_used);
	}
	if (fiber->row.state == FIBER_SUSPENDED) {
		assert_true(fiber->row.stack_high_water >= fiber->row.stack_used);
		assert_true(fiber->row.stack_high_water <= fiber->row.stack_size);
	}
	return 0;
}

static int read_all(uint64_t id)
{
	const struct ins_request request = {.id = id, .stacks = true, .high_water = true};

	fibers = with_stack = 0;
	return ins_source_read(source, &request, each, NULL, &summary, &error);
}

static void test_every_fiber_is_read_with_its_stack(void **state)
{
	(void)state;
	assert_int_equal(ins_source_open_live(crowd->pid, &error, &source), 0);
	assert_string_equal(source->kind, "live");
	assert_string_equal(source->name, "crowd");
	assert_int_equal(read_all(0), 0);
	assert_int_equal(fibers, 22);
	assert_int_equal(with_stack, 20); /* one has exited and one has not started */
	assert_int_equal(summary.total, 22);
	assert_true(summary.sampled_ns > 0);
	assert_int_equal(ins_problems_lines(&source->problems), 0);
	/* One fiber that exists, and one that does not. */
	assert_int_equal(read_all(5), 0);
	assert_int_equal(fibers, 1);
	assert_int_equal(summary.total, 22);
	assert_int_equal(read_all(4711), -ESRCH);
	assert_non_null(strstr(error.text, "fiber 4711"));
	ins_source_close(source);
}

static void test_records_that_came_since_it_was_opened_are_read(void **state)
{
	uint64_t committed;

	(void)state;
	assert_int_equal(ins_source_open_live(crowd->pid, &error, &source), 0);
	committed = source->layout.committed;
	source->layout.committed = 1;
	assert_int_equal(read_all(0), 0);
	assert_int_equal(source->layout.committed, committed);
	assert_int_equal(fibers, 22);
	/* Not more than were reserved. */
	source->layout.committed = source->layout.capacity = 1;
	assert_int_equal(read_all(0), 0);
	assert_int_equal(source->layout.committed, 1);
	ins_source_close(source);
}

static void test_a_stopped_process_is_read_all_the_same(void **state)
{
	(void)state;
	assert_int_equal(kill(crowd->pid, SIGSTOP), 0);
	assert_int_equal(ins_source_open_live(crowd->pid, &error, &source), 0);
	assert_int_equal(read_all(0), 0);
	assert_int_equal(fibers, 22);
	ins_source_close(source);
	assert_int_equal(kill(crowd->pid, SIGCONT), 0);
}

static void test_no_process_and_a_zombie_are_named(void **state)
{
	char text[64];
	siginfo_t info;
	pid_t child = fork();

	(void)state;
	if (child == 0)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(ins_source_open_live(child, &error, &source), -ESRCH);
	snprintf(text, sizeof text, "process %d: has ended", (int)child);
	assert_non_null(strstr(error.text, text));
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(ins_source_open_live(child, &error, &source), -ESRCH);
	assert_non_null(strstr(error.text, "no such process"));
	assert_int_equal(ins_source_open_live(0, &error, &source), -ESRCH);
	assert_int_equal(ins_source_open_live(-1, &error, &source), -ESRCH);
}

static void test_a_process_without_fibers_is_told_so(void **state)
{
	(void)state;
	assert_int_equal(ins_source_open_live(getpid(), &error, &source), -ENOENT);
	assert_non_null(strstr(error.text, "not a fiber program"));
}

static void test_a_first_mapping_that_cannot_be_read_is_passed_over(void **state)
{
	const int fd = open("/proc/self/exe", O_RDONLY);
	void *low;
	pid_t child;

	(void)state;
	assert_true(fd >= 0);
	low = mmap((void *)0x20000, 4096, PROT_NONE, MAP_PRIVATE | MAP_FIXED_NOREPLACE, fd, 0);
	if (low == MAP_FAILED)
		skip();
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	/* The process is read; it has no fibers. */
	assert_int_equal(ins_source_open_live(child, &error, &source), -ENOENT);
	assert_non_null(strstr(error.text, "not a fiber program"));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	munmap(low, 4096);
	close(fd);
}

static int end_it(void *context, const struct ins_fiber *fiber)
{
	(void)context;
	(void)fiber;
	if (!fibers++)
		harness_end(crowd);
	return 0;
}

static void test_a_process_that_ends_meanwhile_is_partial(void **state)
{
	const struct ins_request request = {.stacks = true};
	size_t i, said = 0;
	char text[256];

	(void)state;
	assert_int_equal(ins_source_open_live(crowd->pid, &error, &source), 0);
	fibers = 0;
	assert_int_equal(ins_source_read(source, &request, end_it, NULL, &summary, &error), 0);
	assert_true(fibers >= 1);
	assert_true(ins_problems_lines(&source->problems) >= 1);
	/* The remaining fibers are reported as missing, not as running. */
	assert_int_equal(fibers, 1);
	assert_int_equal(summary.shown, 1);
	for (i = 0; i < ins_problems_lines(&source->problems); i++)
		said += strstr(ins_problems_text(&source->problems, i, text, sizeof text),
			       "ended while it was read") != NULL;
	assert_int_equal(said, 1);
	/* Read again after the process is gone. */
	assert_true(ins_source_read(source, &request, end_it, NULL, &summary, &error) < 0);
	assert_true(error.text[0] != 0);
	ins_source_close(source);
}

static int start(void **state)
{
	(void)state;
	crowd = crowd_begin(NULL, "22");
	return crowd ? 0 : -1;
}

static int stop(void **state)
{
	(void)state;
	harness_free(crowd);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_fiber_is_read_with_its_stack),
		cmocka_unit_test(test_records_that_came_since_it_was_opened_are_read),
		cmocka_unit_test(test_a_stopped_process_is_read_all_the_same),
		cmocka_unit_test(test_no_process_and_a_zombie_are_named),
		cmocka_unit_test(test_a_process_without_fibers_is_told_so),
		cmocka_unit_test(test_a_first_mapping_that_cannot_be_read_is_passed_over),
		cmocka_unit_test(test_a_process_that_ends_meanwhile_is_partial),
	};

	return HEAD_RUN(tests, start, stop);
}
