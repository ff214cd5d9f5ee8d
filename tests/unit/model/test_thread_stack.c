/* SPDX-License-Identifier: MIT */
/*
 * test_thread_stack.c - a thread's stack, from its program and from process memory
 *
 * The fixture deadlock has a thread that sleeps below a frame of variable size, so its frame
 * pointer must be found, and one that computes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inspect/source/source.h"
#include "tests/harness/inspect/head.h"
#include "inspect/symbols/symbolize.h"
#include "inspect/model/thread_stack.h"
#include "inspect/unwind/thread_stack_walk.h"
#include "tests/harness/inspect/snapshots.h"
#include "tests/harness/process.h"

static struct harness_process *fixture;
static struct ins_source *source;
static struct ins_unwinder *unwinder;
static struct ins_symbols *symbols;
static struct ins_thread_stack stack;
static struct ins_walk walk;
static struct ins_error error;
static uint64_t asleep, running;

static uint64_t holder(const char *name)
{
	char *at = strstr(fixture->out.bytes, name);

	at = at ? strstr(at, "thread:") : NULL;
	return at ? strtoull(at + strlen("thread:"), NULL, 10) : 0;
}

static int start(void **state)
{
	char program[HARNESS_PATH];
	const char *const argv[] = {harness_program(program, "deadlock"), "--thread-asleep",
				    "--thread-running", NULL};

	(void)state;
	fixture = harness_start(argv, NULL);
	if (!harness_wait_line(fixture, "ready ", 60))
		return -1;
	asleep = holder("mutex\tasleep");
	running = holder("mutex\trunning");
	return asleep && running ? 0 : -1;
}

static int stop(void **state)
{
	(void)state;
	harness_free(fixture);
	return 0;
}

static int look_away(void *context, const struct ins_fiber *fiber)
{
	(void)context;
	(void)fiber;
	return 0;
}

static void open_it(bool live)
{
	const struct ins_request request = {0};
	char path[HARNESS_PATH], name[64];
	struct ins_summary summary;

	snprintf(name, sizeof name, "fiber/%d.sock", (int)fixture->pid);
	if (live)
		assert_int_equal(ins_source_open_live(fixture->pid, &error, &source), 0);
	else
		assert_int_equal(ins_source_open_control(harness_file(path, name), fixture->pid,
							 INT64_C(60000000000), &error, &source),
				 0);
	/* The modules of a program are known only after a request. */
	assert_int_equal(ins_source_read(source, &request, look_away, NULL, &summary, &error), 0);
	assert_int_equal(ins_unwinder_new(source, &unwinder), 0);
	assert_int_equal(ins_symbols_new(source->modules, &symbols), 0);
}

static void close_it(void)
{
	ins_symbols_free(symbols);
	ins_unwinder_free(unwinder);
	ins_source_close(source);
}

static bool sleeps(void *arg)
{
	(void)arg;
	assert_int_equal(ins_thread_stack_read(source, asleep, &stack), 0);
	if (stack.state == FIB_WIRE_THREAD_SLEEPS && stack.call >= 0)
		return true;
	ins_thread_stack_free(&stack);
	return false;
}

/* The first frame of that function after frame `from`, or the number of frames. */
static unsigned after(unsigned from, const char *function)
{
	size_t count;

	for (; from < walk.count; from++) {
		const struct ins_frame *f = ins_symbols_at(symbols, walk.pc[from],
							   ins_walk_returned(&walk, from), &count);

		if (f[count - 1].function && strcmp(f[count - 1].function, function) == 0)
			break;
	}
	return from;
}

static void expect_the_sleepers_frames(bool live)
{
	unsigned inner;

	open_it(live);
	assert_true(harness_until(sleeps, NULL, 60));
	ins_thread_stack_walk(unwinder, &stack, &walk);
	assert_string_equal(walk.reason, "");
	assert_false(walk.truncated);
	inner = after(0, "keep_asleep");
	assert_true(inner > 0 && inner < walk.count);
	assert_true(after(inner, "keeper_main") < walk.count);
	/* An earlier call left a frame in the unused part of the variable-sized frame. */
	assert_int_equal(after(0, "fiber_mutex_lock"), walk.count);
	if (!*harness_sanitizer())
		assert_int_equal(after(inner, "keep_lock"), inner + 1);
	ins_thread_stack_free(&stack);
	close_it();
}

static void test_a_program_tells_where_its_thread_sleeps(void **state)
{
	(void)state;
	expect_the_sleepers_frames(false);
}

static void test_the_memory_of_a_process_has_where_its_thread_sleeps(void **state)
{
	(void)state;
	expect_the_sleepers_frames(true);
}

static void test_who_computes_has_no_frames_and_says_so(void **state)
{
	(void)state;
	for (int live = 0; live < 2; live++) {
		open_it(live);
		assert_int_equal(ins_thread_stack_read(source, running, &stack), 0);
		assert_int_equal(stack.state, FIB_WIRE_THREAD_RUNS);
		ins_thread_stack_walk(unwinder, &stack, &walk);
		assert_int_equal(walk.count, 0);
		assert_false(walk.truncated);
		assert_string_equal(walk.reason, "it runs; no stack without stopping it");
		ins_thread_stack_free(&stack);
		/* A thread of another process. */
		assert_int_equal(ins_thread_stack_read(source, 1, &stack), 0);
		assert_int_equal(stack.state, FIB_WIRE_THREAD_ENDED);
		ins_thread_stack_free(&stack);
		close_it();
	}
}

static void test_a_stack_of_which_something_is_missing_is_truncated(void **state)
{
	(void)state;
	open_it(false);
	assert_true(harness_until(sleeps, NULL, 60));
	stack.fiber.stack_size = 64;
	stack.fiber.flags |= INS_FIBER_CUT;
	ins_thread_stack_walk(unwinder, &stack, &walk);
	assert_true(walk.truncated);
	assert_string_equal(walk.reason, "the outer part of its stack could not be copied");
	ins_thread_stack_free(&stack);
	close_it();
}

static void test_what_a_program_says_is_not_believed(void **state)
{
	struct {
		struct fib_wire_thread_is is;
		unsigned char bytes[64];
	} said = {.is = {.tid = 5, .stack_size = 64}};
	const size_t all = sizeof said.is + sizeof said.bytes;

	(void)state;
	assert_int_equal(ins_thread_stack_take(&said, all, 5, &stack), 0);
	assert_int_equal(stack.fiber.stack_size, 64);
	ins_thread_stack_free(&stack);
	assert_int_equal(ins_thread_stack_take(&said, all, 6, &stack), -EPROTO);
	assert_int_equal(ins_thread_stack_take(&said, all - 1, 5, &stack), -EPROTO);
	assert_int_equal(ins_thread_stack_take(&said, sizeof said.is - 1, 5, &stack), -EPROTO);
	said.is.stack_size = 0;
	assert_int_equal(ins_thread_stack_take(&said, sizeof said.is, 5, &stack), -EPROTO);
	said.is.state = 99;
	assert_int_equal(ins_thread_stack_take(&said, sizeof said.is, 5, &stack), 0);
	assert_non_null(strstr(stack.why, "later version"));
	ins_thread_stack_free(&stack);
}

/* Read thread 5 of a program that sends this answer. */
static int answer_of(const struct snapshot_file *answer)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	char path[HARNESS_PATH];
	int listener, fd, rc, status;
	pid_t child;

	snprintf(at.sun_path, sizeof at.sun_path, "%.100s", harness_file(path, "t.sock"));
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	unlink(path);
	assert_int_equal(bind(listener, (struct sockaddr *)&at, sizeof at), 0);
	assert_int_equal(listen(listener, 4), 0);
	child = fork();
	if (!child) {
		/*
		 * The first connection is the source's, for fibers; threads are read over another
		 * one.
		 */
		accept(listener, NULL, NULL);
		fd = accept(listener, NULL, NULL);
		_exit(send(fd, answer->at, answer->size, MSG_NOSIGNAL) != (ssize_t)answer->size);
	}
	assert_int_equal(ins_source_open_control(path, 0, INT64_C(60000000000), &error, &source),
			 0);
	rc = ins_thread_stack_read(source, 5, &stack);
	ins_source_close(source);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	close(listener);
	return rc;
}

static void test_an_answer_is_passed_over_as_far_as_it_is_not_known(void **state)
{
	struct snapshot_file answer = {.size = 0};

	(void)state;
	snapshot_frame(&answer, 0x7777, "of a later version", 18, "", 0);
	snapshot_thread(&answer, 5, true);
	snapshot_end(&answer, 1, 1, 0);
	assert_int_equal(answer_of(&answer), 0);
	assert_int_equal(stack.call, 34);
	assert_memory_equal(stack.fiber.stack, "0123456789abcdef", 16);
	ins_thread_stack_free(&stack);
}

static void test_a_program_that_does_not_know_threads_or_lies_about_them_is_refused(void **state)
{
	const struct fib_wire_error unknown = {-EOPNOTSUPP, "this program does not know that"};
	const struct fib_wire_error nonsense = {12, "well"};
	struct snapshot_file answer = {.size = 0};

	(void)state;
	assert_int_equal(answer_of(&answer), -ECONNRESET);
	snapshot_frame(&answer, FIB_WIRE_ERROR, &unknown, sizeof unknown, "", 0);
	assert_int_equal(answer_of(&answer), -EOPNOTSUPP);
	answer.size = 0;
	snapshot_frame(&answer, FIB_WIRE_ERROR, &nonsense, sizeof nonsense, "", 0);
	assert_int_equal(answer_of(&answer), -EPROTO);
	answer.size = 0;
	snapshot_frame(&answer, FIB_WIRE_ERROR, "short", 5, "", 0);
	assert_int_equal(answer_of(&answer), -EPROTO);
	answer.size = 0;
	snapshot_thread(&answer, 6, true);
	assert_int_equal(answer_of(&answer), -EPROTO);
	answer.size = 0;
	snapshot_end(&answer, 0, 0, 0);
	assert_int_equal(answer_of(&answer), -EPROTO);
}

/* The snapshot stores the section of threads unchecked, or does not have it. */
static void test_threads_are_found_among_what_makes_no_sense(void **state)
{
	const struct fib_wire_thread_is bad = {.tid = 60, .stack_size = 100};
	static struct snapshot_file file;
	char path[HARNESS_PATH];

	(void)state;
	harness_file(path, "t.snap");
	snapshot_whole(&file);
	snapshot_section(&file, INS_SNAPSHOT_THREADS);
	snapshot_frame(&file, 0x7777, "new", 3, "", 0);
	snapshot_frame(&file, FIB_WIRE_THREAD_IS, "short", 5, "", 0);
	snapshot_frame(&file, FIB_WIRE_THREAD_IS, &bad, sizeof bad, "", 0);
	snapshot_thread(&file, 61, true);
	snapshot_put(&file, "half a header", 6);
	snapshot_section_end(&file);
	snapshot_save(&file, path);
	assert_int_equal(ins_source_open_snapshot(path, &error, &source), 0);
	assert_int_equal(ins_thread_stack_read(source, 61, &stack), 0);
	assert_int_equal(stack.call, 34);
	assert_int_equal(stack.fiber.row.sp, 0x6000);
	assert_memory_equal(stack.fiber.stack, "0123456789abcdef", 16);
	ins_thread_stack_free(&stack);
	assert_int_equal(ins_thread_stack_read(source, 60, &stack), -EOPNOTSUPP);
	assert_int_equal(ins_thread_stack_read(source, 62, &stack), -EOPNOTSUPP);
	ins_source_close(source);
	/* A snapshot from before the section existed. */
	snapshot_whole(&file);
	snapshot_save(&file, path);
	assert_int_equal(ins_source_open_snapshot(path, &error, &source), 0);
	assert_int_equal(ins_thread_stack_read(source, 61, &stack), -EOPNOTSUPP);
	ins_source_close(source);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_program_tells_where_its_thread_sleeps),
		cmocka_unit_test(test_the_memory_of_a_process_has_where_its_thread_sleeps),
		cmocka_unit_test(test_who_computes_has_no_frames_and_says_so),
		cmocka_unit_test(test_a_stack_of_which_something_is_missing_is_truncated),
		cmocka_unit_test(test_what_a_program_says_is_not_believed),
		cmocka_unit_test(test_threads_are_found_among_what_makes_no_sense),
		cmocka_unit_test(test_an_answer_is_passed_over_as_far_as_it_is_not_known),
		cmocka_unit_test(
			test_a_program_that_does_not_know_threads_or_lies_about_them_is_refused),
	};

	return HEAD_RUN(tests, start, stop);
}
