/* SPDX-License-Identifier: MIT */
/*
 * test_snapshot_write.c - a process's answers get into a file as a whole, or not at all
 *
 * The process is a child that gives each connection the next answer of a list and hangs up.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inspect/source/source.h"
#include "tests/harness/inspect/head.h"
#include "inspect/text/atomic_file.h"
#include "inspect/model/event.h"
#include "inspect/model/thread_stack.h"
#include "tests/harness/inspect/snapshots.h"

#define TIMEOUT INT64_C(20000000000)
#define ANSWERS 9 /* the last is about threads, and is used if a thread holds something */

static char path[HARNESS_PATH], socket_path[HARNESS_PATH];
static int listener;
static struct snapshot_file answers[ANSWERS];
static struct ins_snapshot_taken taken;
static struct ins_error error;

static void serve(void)
{
	char request[512];

	for (int i = 0; i < ANSWERS; i++) {
		const int fd = accept(listener, NULL, NULL);
		size_t sent = 0;

		if (recv(fd, request, sizeof request, 0) <= 0)
			_exit(1);
		while (sent < answers[i].size) {
			const ssize_t n = send(fd, answers[i].at + sent, answers[i].size - sent,
					       MSG_NOSIGNAL);

			if (n < 0)
				break;
			sent += (size_t)n;
		}
		close(fd);
	}
	_exit(0);
}

/*
 * Answers of some program version: two fibers, unknown carriers, a policy, a pinned wait, a long
 * run.
 */
static void good_answers(void)
{
	const struct fib_wire_error unknown = {-ENOSYS, "no such request"};
	const struct fib_wire_policy_is policy = {2, 2, 0, 0};

	for (size_t i = 0; i < ANSWERS; i++)
		answers[i].size = 0;
	snapshot_preface(&answers[0]);
	snapshot_fiber(&answers[0], 7, 0);
	snapshot_fiber(&answers[0], 8, FIB_WIRE_STACK_MOVING);
	snapshot_end(&answers[0], 3, 2, 1);
	snapshot_frame(&answers[1], FIB_WIRE_ERROR, &unknown, sizeof unknown, "", 0);
	snapshot_frame(&answers[2], FIB_WIRE_ERROR, &unknown, sizeof unknown, "", 0);
	snapshot_frame(&answers[3], FIB_WIRE_POLICY_IS, &policy, sizeof policy, "", 0);
	snapshot_end(&answers[3], 0, 0, 0);
	snapshot_frame(&answers[4], FIB_WIRE_ERROR, &unknown, sizeof unknown, "", 0);
	snapshot_event(&answers[5], 0, FIB_WIRE_DOING_WAITS);
	snapshot_end(&answers[5], 9, 1, 0);
	snapshot_event(&answers[6], 3, FIB_WIRE_DOING_COMPUTES);
	snapshot_end(&answers[6], 4, 1, 0);
	snapshot_frame(&answers[7], FIB_WIRE_ERROR, &unknown, sizeof unknown, "", 0);
}

static struct ins_source *rows; /* of threads; NULL: none */

static int ask(bool replace)
{
	const pid_t child = fork();
	int rc;

	if (!child)
		serve();
	error.text[0] = 0;
	rc = ins_snapshot_write(socket_path, 0, TIMEOUT, rows, path, replace, &taken, &error);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_string_equal(ins_atomic_file_path, "");
	ins_problems_free(&taken.problems);
	return rc;
}

/* Return how many files have this name or start with it; 1 is expected. */
static unsigned files(void)
{
	DIR *dir = opendir(harness_folder());
	struct dirent *entry;
	unsigned n = 0;

	while ((entry = readdir(dir)))
		n += strncmp(entry->d_name, "a.snap", 6) == 0;
	closedir(dir);
	return n;
}

static void put_old(void)
{
	FILE *out = fopen(path, "w");

	fputs("what was there before", out);
	fclose(out);
}

static void old_is_there(void)
{
	char text[64] = "";
	FILE *in = fopen(path, "r");

	assert_non_null(in);
	assert_non_null(fgets(text, sizeof text, in));
	fclose(in);
	assert_string_equal(text, "what was there before");
	assert_int_equal(files(), 1);
}

static int nothing(void *context, const struct ins_fiber *fiber)
{
	(void)context;
	(void)fiber;
	return 0;
}

static int nothing_happened(void *context, const struct ins_event *event)
{
	*(uint64_t *)context += event->e.number;
	return 0;
}

/* Both rings are requested in the same way, but kept apart. */
static void test_each_ring_is_kept(void **state)
{
	static const struct fib_wire_events pinned = {.ring = FIB_WIRE_RING_PINNED},
					    slow = {.ring = FIB_WIRE_RING_SLOW};
	struct ins_snapshot_frames frames;
	struct ins_snapshot *snapshot;
	struct ins_summary summary;
	struct ins_source *source;
	uint64_t numbers = 0;

	(void)state;
	good_answers();
	assert_int_equal(ask(false), 0);
	assert_int_equal(ins_source_open_snapshot(path, &error, &source), 0);
	assert_int_equal(
		ins_events_read(source, &pinned, nothing_happened, &numbers, &summary, &error), 0);
	assert_int_equal(summary.total, 9);
	assert_int_equal(numbers, 0);
	assert_int_equal(
		ins_events_read(source, &slow, nothing_happened, &numbers, &summary, &error), 0);
	assert_int_equal(summary.total, 4);
	assert_int_equal(numbers, 3);
	ins_source_close(source);
	assert_int_equal(ins_snapshot_open(path, &error, &snapshot), 0);
	assert_true(ins_snapshot_answer(snapshot, FIB_WIRE_WATCHDOG, &frames));
	assert_true(ins_snapshot_answer(snapshot, FIB_WIRE_AUDIT, &frames));
	ins_snapshot_close(snapshot);
}

static void test_what_was_answered_can_be_read_again(void **state)
{
	const struct ins_request whole = {.stacks = true};
	struct ins_snapshot_frames frames;
	struct ins_snapshot *snapshot;
	struct fib_wire_header header;
	struct ins_summary summary;
	struct ins_source *source;
	const void *payload;
	struct stat st;

	(void)state;
	good_answers();
	assert_int_equal(ask(false), 0);
	assert_int_equal(taken.total, 3);
	assert_int_equal(taken.shown, 2);
	assert_string_equal(taken.head.name, "remote");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(taken.head.size, st.st_size);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(ins_source_open_snapshot(path, &error, &source), 0);
	assert_int_equal(source->pid, 42);
	assert_int_equal(ins_source_read(source, &whole, nothing, NULL, &summary, &error), 0);
	assert_int_equal(summary.shown, 2);
	assert_int_equal(summary.taken, taken.head.taken);
	ins_source_close(source);
	/* A refusal is kept as an answer too. */
	assert_int_equal(ins_snapshot_open(path, &error, &snapshot), 0);
	assert_true(ins_snapshot_answer(snapshot, FIB_WIRE_CARRIERS, &frames));
	assert_true(ins_snapshot_next(&frames, &header, &payload));
	assert_int_equal(header.type, FIB_WIRE_ERROR);
	assert_true(ins_snapshot_answer(snapshot, FIB_WIRE_POLICY, &frames));
	ins_snapshot_close(snapshot);
	assert_int_equal(files(), 1);
}

/* A program in which threads 50 and 51 hold what three fibers wait for. */
static void thread_answers(void)
{
	good_answers();
	answers[0].size = 0;
	snapshot_preface(&answers[0]);
	snapshot_waiter(&answers[0], 7, 0, FIB_HOLDER_THREAD | 50);
	snapshot_waiter(&answers[0], 8, 0, FIB_HOLDER_THREAD | 51);
	snapshot_waiter(&answers[0], 9, 0, FIB_HOLDER_THREAD | 50);
	snapshot_waiter(&answers[0], 10, 0, 7);
	snapshot_end(&answers[0], 4, 4, 0);
}

static void test_threads_that_hold_something_are_asked_for_once(void **state)
{
	struct ins_thread_stack stack;
	struct ins_source *source;

	(void)state;
	thread_answers();
	snapshot_thread(&answers[8], 50, true);
	snapshot_end(&answers[8], 1, 1, 0);
	snapshot_thread(&answers[8], 51, false);
	snapshot_end(&answers[8], 1, 1, 0);
	assert_int_equal(ask(false), 0);
	assert_int_equal(ins_source_open_snapshot(path, &error, &source), 0);
	assert_int_equal(ins_thread_stack_read(source, 50, &stack), 0);
	assert_int_equal(stack.state, FIB_WIRE_THREAD_SLEEPS);
	assert_int_equal(stack.fiber.stack_size, 16);
	ins_thread_stack_free(&stack);
	assert_int_equal(ins_thread_stack_read(source, 51, &stack), 0);
	assert_int_equal(stack.state, FIB_WIRE_THREAD_RUNS);
	ins_thread_stack_free(&stack);
	assert_int_equal(ins_thread_stack_read(source, 52, &stack), -EOPNOTSUPP);
	ins_source_close(source);
}

static void test_a_program_that_is_too_old_for_threads_is_kept_without(void **state)
{
	const struct fib_wire_error unknown = {-EOPNOTSUPP, "no such request"};
	struct ins_thread_stack stack;
	struct ins_source *source;

	(void)state;
	thread_answers();
	snapshot_frame(&answers[8], FIB_WIRE_ERROR, &unknown, sizeof unknown, "", 0);
	assert_int_equal(ask(false), 0);
	assert_int_equal(taken.shown, 4);
	assert_int_equal(ins_source_open_snapshot(path, &error, &source), 0);
	assert_int_equal(ins_thread_stack_read(source, 50, &stack), -EOPNOTSUPP);
	ins_source_close(source);
}

static int reads, bad_read; /* of the threads; the first is 1 */

static int give_rows(struct ins_source *from, const struct ins_request *request, ins_fiber_fn *fn,
		     void *context, struct ins_summary *ret, struct ins_error *why)
{
	struct ins_fiber row = {.row.id = FIB_HOLDER_THREAD | 12, .row.deadline = INT64_MAX};

	(void)from;
	(void)request;
	ret->total = ret->shown = 1;
	if (fn(context, &row) != 0)
		return -ENOSPC;
	return ++reads == bad_read ? ins_error_set(why, -EIO, "no") : 0;
}

static size_t kept_threads(void)
{
	const struct ins_request all = {0};
	struct ins_source *source;
	struct ins_summary summary = {0};
	size_t n;

	reads = 0;
	assert_int_equal(ask(true), 0);
	assert_int_equal(ins_source_open_snapshot(path, &error, &source), 0);
	assert_int_equal(ins_source_read(source, &all, nothing, NULL, &summary, &error), 0);
	assert_int_equal(source->problems.count, 0);
	summary = (struct ins_summary){0};
	n = source->ops->thread_rows(source, &all, nothing, NULL, &summary, &error) == 0
		    ? summary.shown
		    : 0;
	ins_source_close(source);
	return n;
}

static void test_threads_that_cannot_be_read_are_left_out(void **state)
{
	static const struct ins_source_ops ops = {.read = give_rows};
	struct ins_source threads = {.kind = "live", .ops = &ops};

	(void)state;
	good_answers();
	rows = &threads;
	bad_read = 0;
	assert_int_equal(kept_threads(), 1);
	for (bad_read = 1; bad_read <= 2; bad_read++)
		assert_int_equal(kept_threads(), 0);
	rows = NULL;
}

static void test_a_file_that_is_there_stays_unless_it_may_go(void **state)
{
	(void)state;
	good_answers();
	put_old();
	assert_int_equal(ask(false), -EEXIST);
	assert_non_null(strstr(error.text, path));
	assert_non_null(strstr(error.text, "--force"));
	old_is_there();
	assert_int_equal(ask(true), 0);
	assert_int_equal(files(), 1);
	unlink(path);
	/* A folder is never replaced. */
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(ask(true), -EEXIST);
	assert_non_null(strstr(error.text, "is no file"));
	assert_int_equal(rmdir(path), 0);
}

static void test_a_process_that_ends_leaves_what_was_there(void **state)
{
	(void)state;
	for (size_t cut = 0; cut < 40; cut++) {
		good_answers();
		put_old();
		answers[0].size = answers[0].size * cut / 40;
		assert_int_equal(ask(true), -ECONNRESET);
		assert_non_null(strstr(error.text, "before the answer was whole"));
		old_is_there();
	}
	good_answers();
	answers[3].size -= 1;
	assert_int_equal(ask(true), -ECONNRESET);
	old_is_there();
}

static void test_an_answer_that_cannot_be_read_is_not_kept(void **state)
{
	(void)state;
	good_answers();
	put_old();
	answers[0].size = 0;
	snapshot_preface(&answers[0]);
	snapshot_end(&answers[0], 1, 1, 0);
	assert_int_equal(ask(true), -EPROTO);
	assert_non_null(strstr(error.text, "counts other fibers"));
	old_is_there();
}

static void test_no_room_is_an_error_that_names_the_file(void **state)
{
	struct rlimit old, small;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	small = old;
	good_answers();
	assert_int_equal(ask(false), 0);
	for (rlim_t room = 0; room < taken.head.size; room += 100) {
		good_answers();
		put_old();
		small.rlim_cur = room;
		setrlimit(RLIMIT_FSIZE, &small);
		assert_int_equal(ask(true), -EFBIG);
		setrlimit(RLIMIT_FSIZE, &old);
		assert_non_null(strstr(error.text, path));
		assert_non_null(strstr(error.text, "File too large"));
		old_is_there();
	}
	snprintf(path, sizeof path, "%s/nowhere/a.snap", harness_folder());
	assert_int_equal(ask(true), -ENOENT);
	assert_non_null(strstr(error.text, path));
	harness_file(path, "a.snap");
}

static int clean(void **state)
{
	(void)state;
	unlink(path);
	return 0;
}

static int start(void **state)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};

	(void)state;
	harness_file(path, "a.snap");
	harness_file(socket_path, "w.sock");
	snprintf(at.sun_path, sizeof at.sun_path, "%.100s", socket_path);
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, clean)
		TEST(test_what_was_answered_can_be_read_again),
		TEST(test_each_ring_is_kept),
		TEST(test_threads_that_hold_something_are_asked_for_once),
		TEST(test_a_program_that_is_too_old_for_threads_is_kept_without),
		TEST(test_threads_that_cannot_be_read_are_left_out),
		TEST(test_a_file_that_is_there_stays_unless_it_may_go),
		TEST(test_a_process_that_ends_leaves_what_was_there),
		TEST(test_an_answer_that_cannot_be_read_is_not_kept),
		TEST(test_no_room_is_an_error_that_names_the_file),
	};

	return HEAD_RUN(tests, start, NULL);
}
