/* SPDX-License-Identifier: MIT */
/*
 * test_disk.c - the poller's ring does for files what threads do elsewhere, with the same results
 *
 * Every test holds for each poller, except those that look at the ring itself. The tests mark the
 * file as slow, because whether it really is slow depends on the machine.
 */
#include "inside.h"

#include <stdio.h>
#include <sys/stat.h>

#include "base/atomic.h"
#include "core/record.h"
#include "io/file.h"
#include "io/op.h"
#include "life/offload.h"
#include "os/os.h"
#include "tests/harness/entries.h"
#include "tests/harness/paths.h"

static bool in_the_ring;

static struct {
	char path[HARNESS_PATH];
	int fd;
} file;

static void create(const char *name, int flags)
{
	harness_file(file.path, name);
	unlink(file.path);
	file.fd = open(file.path, O_RDWR | O_CREAT | O_CLOEXEC | flags, 0600);
	assert_true(file.fd >= 0);
}

struct move {
	int fd;
	struct iovec v[3];
	int count;
	bool writing;
	int64_t deadline;
};

static ssize_t do_slowly(struct move *m)
{
	struct fib_look look;

	fib_descriptor_look(m->fd, &look);
	if (m->writing)
		return fib_file_write(m->fd, m->v, m->count, FIB_OS_SLOW, &look, m->deadline);
	return fib_file_read(m->fd, m->v, m->count, FIB_OS_SLOW, &look, m->deadline);
}

static void *moves(void *arg)
{
	return (void *)(intptr_t)do_slowly(arg);
}

static void *moves_pinned(void *arg)
{
	return as_pinned(moves, arg);
}

static void *moves_cancelled(void *arg)
{
	return as_cancelled(moves, arg);
}

static void *writes_plainly(void *arg)
{
	struct move *m = arg;

	return (void *)(intptr_t)fiber_writev(m->fd, m->v, m->count, m->deadline);
}

static intptr_t write_at_once(const char *text)
{
	struct move m = {
		file.fd, {{(void *)(uintptr_t)text, strlen(text)}}, 1, true, FIBER_FOREVER};

	return inside(moves, &m);
}

static off_t offset(void)
{
	return lseek(file.fd, 0, SEEK_CUR);
}

static void test_disk_gives_the_bytes_and_needs_no_thread(void **state)
{
	char a[4] = "", b[8] = "", c[64] = "";
	struct move out = {0, {{"one ", 4}, {"", 0}, {"two", 3}}, 3, true, FIBER_FOREVER};
	struct move in = {0, {{a, 3}, {b, 5}, {c, sizeof c}}, 2, false, FIBER_FOREVER};

	(void)state;
	create("bytes", 0);
	in.fd = out.fd = file.fd;
	assert_int_equal(inside(moves, &out), 7);
	assert_int_equal(write_at_once(" three"), 6);
	assert_int_equal(inside(writes_plainly, &out), 7);
	assert_int_equal(offset(), 20);
	lseek(file.fd, 0, SEEK_SET);
	assert_int_equal(inside(moves, &in), 8);
	assert_string_equal(a, "one");
	assert_string_equal(b, " two ");
	assert_int_equal(offset(), 8);
	/* There are fewer bytes than room. */
	in.count = 3;
	assert_int_equal(inside(moves, &in), 12);
	assert_memory_equal(a, "thr", 3);
	assert_memory_equal(b, "eeone", 5);
	assert_string_equal(c, " two");
	assert_int_equal(offset(), 20);
	assert_int_equal(fib_offload_threads() == 0, in_the_ring);
	assert_int_equal(inside(moves, &in), 0);
	assert_int_equal(offset(), 20);
	close(file.fd);
}

static void test_disk_appends(void **state)
{
	(void)state;
	create("append", O_APPEND);
	assert_int_equal(write_at_once("first "), 6);
	lseek(file.fd, 0, SEEK_SET);
	assert_int_equal(write_at_once("second"), 6);
	assert_int_equal(offset(), 12);
	close(file.fd);
}

static void test_disk_that_refuses_leaves_the_offset(void **state)
{
	char byte;
	struct move out = {0, {{"out", 3}}, 1, true, FIBER_FOREVER};
	struct move in = {0, {{&byte, 1}}, 1, false, FIBER_FOREVER};

	(void)state;
	create("refuses", 0);
	assert_int_equal(write_at_once("bytes"), 5);
	out.fd = open(file.path, O_RDONLY | O_CLOEXEC);
	in.fd = open(file.path, O_WRONLY | O_CLOEXEC);
	assert_int_equal(inside(moves, &out), -EBADF);
	assert_int_equal(inside(moves, &in), -EBADF);
	assert_int_equal(lseek(out.fd, 0, SEEK_CUR), 0);
	assert_int_equal(lseek(in.fd, 0, SEEK_CUR), 0);
	in.v[0].iov_base = NULL;
	lseek(file.fd, 0, SEEK_SET);
	close(in.fd);
	in.fd = file.fd;
	assert_int_equal(inside(moves, &in), -EFAULT);
	assert_int_equal(offset(), 0);
	close(out.fd);
	close(file.fd);
}

/* -- sharing an offset -- */

enum { MOVERS = 40, THREADS = 2, RECORDS = 50, SIZE = 2000 };

static struct {
	int fd[2]; /* both refer to one file */
	_Atomic unsigned seen[MOVERS * RECORDS];
	_Atomic unsigned wrong;
} shared;

static void *writes_records(void *arg)
{
	const unsigned first = (unsigned)(uintptr_t)arg * RECORDS;
	char text[SIZE + 1];

	for (unsigned i = first; i < first + RECORDS; i++) {
		struct move m = {shared.fd[i % 2], {{text, SIZE}}, 1, true, FIBER_FOREVER};

		snprintf(text, sizeof text, "%*u\n", SIZE - 1, i);
		shared.wrong += do_slowly(&m) != SIZE;
	}
	return NULL;
}

static void *reads_records(void *arg)
{
	char text[SIZE] = "";
	ssize_t n;

	do {
		const int fd = shared.fd[(uintptr_t)arg % 2];
		struct move m = {fd, {{text, SIZE}}, 1, false, FIBER_FOREVER};

		n = do_slowly(&m);
		if (n == SIZE && atoi(text) < MOVERS * RECORDS)
			shared.seen[atoi(text)]++;
		else
			shared.wrong += n != 0;
	} while (n > 0);
	return NULL;
}

/* Run fn in all movers; some of them are plain threads. */
static void all(fiber_fn *fn)
{
	struct fiber *f[MOVERS];
	pthread_t thread[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, fn, (void *)i), 0);
	for (uintptr_t i = THREADS; i < MOVERS; i++)
		f[i] = inside_spawn(fn, (void *)i);
	for (unsigned i = THREADS; i < MOVERS; i++)
		inside_join(f[i]);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

static void test_disk_moves_no_bytes_twice_for_those_who_share_an_offset(void **state)
{
	(void)state;
	create("shared", 0);
	shared.fd[0] = file.fd;
	shared.fd[1] = dup(file.fd);
	all(writes_records);
	assert_int_equal(offset(), MOVERS * RECORDS * SIZE);
	lseek(file.fd, 0, SEEK_SET);
	all(reads_records);
	assert_int_equal(shared.wrong, 0);
	for (unsigned i = 0; i < MOVERS * RECORDS; i++)
		assert_int_equal(shared.seen[i], 1);
	close(shared.fd[1]);
	close(file.fd);
}

static void test_disk_gives_a_deadline_and_a_cancellation_their_due_before(void **state)
{
	struct move m = {0, {{"never", 5}}, 1, true, 0};

	(void)state;
	create("late", 0);
	m.fd = file.fd;
	assert_int_equal(inside(moves, &m), -ETIMEDOUT);
	m.deadline = FIBER_FOREVER;
	assert_int_equal(inside_join_cancelled(inside_spawn(moves_cancelled, &m)), -ECANCELED);
	assert_int_equal(offset(), 0);
	assert_int_equal(inside(moves_pinned, &m), 5);
	assert_int_equal(offset(), 5);
	close(file.fd);
}

enum { BUSY = 64 };

struct opening {
	char path[HARNESS_PATH];
	int64_t deadline;
};

static void *opens(void *arg)
{
	struct opening *o = arg;
	int fd = fiber_open(o->path, O_RDONLY | O_CLOEXEC, 0, o->deadline);

	return (void *)(intptr_t)(fd < 0 ? fd : fiber_close(fd));
}

static struct fiber *spawn_in(struct fiber_runtime *one, fiber_fn *fn, void *arg)
{
	struct fiber *f = NULL;

	assert_int_equal(fiber_runtime_spawn(one, NULL, fn, arg, &f), 0);
	while (fiber_state(f) != FIBER_SUSPENDED)
		sched_yield();
	assert_int_equal(fib_load(&f->wait_kind), FIB_WAIT_OP);
	return f;
}

/* Opens of FIFOs without a writer occupy all threads that the kernel has for a carrier's files. */
static void test_disk_move_that_has_begun_is_not_given_up(void **state)
{
	const struct fiber_runtime_options options = {
		.size = sizeof options, .carriers = 1, .control_path = ""};
	struct opening o = {"", FIBER_FOREVER};
	struct move m = {0, {{"all of it", 9}}, 1, true, 0};
	struct fiber *f[BUSY], *cancelled, *timed;
	struct fiber_runtime *one = NULL;
	int writer;

	(void)state;
	if (!in_the_ring)
		skip();
	create("begun", 0);
	m.fd = file.fd;
	harness_file(o.path, "busy");
	assert_int_equal(mkfifo(o.path, 0600), 0);
	assert_int_equal(fiber_runtime_start(&options, &one), 0);
	for (unsigned i = 0; i < BUSY; i++)
		f[i] = spawn_in(one, opens, &o);
	m.deadline = fiber_after(1000 * MS);
	timed = spawn_in(one, moves, &m);
	cancelled = spawn_in(one, moves, &m);
	assert_int_equal(fiber_cancel(cancelled), 0);
	while (fiber_now() < m.deadline + 10 * MS)
		usleep(1000);
	assert_int_equal(fiber_state(timed), FIBER_SUSPENDED);
	assert_int_equal(fiber_state(cancelled), FIBER_SUSPENDED);
	writer = open(o.path, O_WRONLY | O_CLOEXEC);
	assert_true(writer >= 0);
	assert_int_equal(inside_join(timed), 9);
	assert_int_equal(inside_join_cancelled(cancelled), 9);
	for (unsigned i = 0; i < BUSY; i++)
		assert_int_equal(inside_join(f[i]), 0);
	assert_int_equal(offset(), 18);
	assert_int_equal(fiber_runtime_finish(one, FIBER_FOREVER), 0);
	close(writer);
	close(file.fd);
}

/* The other end is opened while the open is given up. */
static void test_disk_open_that_was_left_leaves_no_descriptor(void **state)
{
	const unsigned before = harness_descriptors();
	struct opening o = {"", FIBER_FOREVER};

	(void)state;
	harness_file(o.path, "left");
	assert_int_equal(mkfifo(o.path, 0600), 0);
	for (int i = 0; i < 100; i++) {
		struct fiber *f = inside_spawn(opens, &o);
		struct fiber_result r = {NULL, 1};
		int writer;

		if (i % 2)
			while (fiber_state(f) != FIBER_SUSPENDED)
				sched_yield();
		if (i % 3)
			assert_int_equal(fiber_cancel(f), 0);
		writer = open(o.path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
		if (writer < 0)
			assert_int_equal(fiber_cancel(f), 0);
		assert_int_equal(fiber_join(f, &r, FIBER_FOREVER), 0);
		assert_true(!r.value || (intptr_t)r.value == -ECANCELED);
		if (writer >= 0)
			close(writer);
	}
	/* Opens that threads still execute wait for a writer. */
	while (harness_descriptors() != before) {
		int writer = open(o.path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);

		if (writer >= 0)
			close(writer);
		usleep(1000);
	}
}

static void *looks(void *arg)
{
	return (void *)(intptr_t)(fib_op_is_at_hand() ? 1 : arg != NULL);
}

static int start(void **state)
{
	int rc = inside_start(state);

	in_the_ring = rc == 0 && inside(looks, NULL);
	return rc;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_disk_gives_the_bytes_and_needs_no_thread),
		cmocka_unit_test(test_disk_appends),
		cmocka_unit_test(test_disk_that_refuses_leaves_the_offset),
		cmocka_unit_test(test_disk_moves_no_bytes_twice_for_those_who_share_an_offset),
		cmocka_unit_test(test_disk_gives_a_deadline_and_a_cancellation_their_due_before),
		cmocka_unit_test(test_disk_move_that_has_begun_is_not_given_up),
		cmocka_unit_test(test_disk_open_that_was_left_leaves_no_descriptor),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, start, inside_stop);
}
