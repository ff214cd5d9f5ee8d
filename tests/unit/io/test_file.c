/* SPDX-License-Identifier: MIT */
/*
 * test_file.c - a slow file blocks no carrier, and an open that was given up leaves nothing
 *
 * A file in /proc cannot be read without blocking, and stat(2) shows it as a file on a disk. The
 * test keeps all threads that could read busy until it releases them: so a read lasts as long as
 * the test wants.
 */
#include "inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/atomic.h"
#include "core/record.h"
#include "life/offload.h"
#include "os/os.h"
#include "tests/harness/entries.h"
#include "tests/harness/paths.h"

#define BUSY FIB_OFFLOAD_THREADS_MAX

static struct {
	_Atomic uint32_t open;
	_Atomic unsigned inside;
	struct fiber *fibers[BUSY];
} gate;

static void *go_through(void *arg)
{
	fib_add(&gate.inside, 1);
	while (!fib_load_acquire(&gate.open))
		fib_os_futex_wait(&gate.open, 0, INT64_MAX);
	return arg;
}

static void *keep_one_busy(void *arg)
{
	return (void *)(intptr_t)fiber_block(go_through, arg, NULL, FIBER_FOREVER);
}

static void keep_threads_busy(void)
{
	fib_store(&gate.open, 0);
	fib_store(&gate.inside, 0);
	for (unsigned i = 0; i < BUSY; i++)
		gate.fibers[i] = inside_spawn(keep_one_busy, NULL);
	while (fib_load(&gate.inside) < BUSY)
		sched_yield();
}

static void let_threads_go(void)
{
	fib_store_release(&gate.open, 1);
	fib_os_futex_wake(&gate.open, INT32_MAX);
	for (unsigned i = 0; i < BUSY; i++)
		assert_int_equal(inside_join(gate.fibers[i]), 0);
}

struct move {
	int fd;
	char bytes[64];
	int64_t deadline;
};

static void *do_read(void *arg)
{
	struct move *m = arg;

	return (void *)(intptr_t)fiber_read(m->fd, m->bytes, sizeof m->bytes, m->deadline);
}

static void *do_read_pinned(void *arg)
{
	return as_pinned(do_read, arg);
}

static void *do_read_cancelled(void *arg)
{
	return as_cancelled(do_read, arg);
}

static void *do_write(void *arg)
{
	struct move *m = arg;

	return (void *)(intptr_t)fiber_write(m->fd, m->bytes, sizeof m->bytes, m->deadline);
}

static void *do_close(void *arg)
{
	return (void *)(intptr_t)fiber_close(*(int *)arg);
}

static struct move slow_file(int64_t deadline)
{
	struct move m = {open("/proc/self/status", O_RDONLY | O_CLOEXEC), "", deadline};

	assert_true(m.fd >= 0);
	return m;
}

/* Start a read: it lasts until the threads are released. */
static struct fiber *begin(struct move *m)
{
	struct fiber *f = inside_spawn(do_read, m);

	while (fiber_state(f) != FIBER_SUSPENDED)
		sched_yield();
	assert_int_equal(fib_load(&f->wait_kind), FIB_WAIT_OFFLOAD);
	return f;
}

static void test_file_that_is_slow_is_read_by_a_thread_and_the_fiber_parks(void **state)
{
	struct move m = slow_file(FIBER_FOREVER);
	struct fiber *f;

	(void)state;
	keep_threads_busy();
	f = begin(&m);
	/* Both carriers are free. */
	assert_int_equal(inside(do_close, &(int){-1}), -EBADF);
	let_threads_go();
	assert_int_equal(inside_join(f), sizeof m.bytes);
	assert_memory_equal(m.bytes, "Name:", 5);
	assert_int_equal(lseek(m.fd, 0, SEEK_CUR), sizeof m.bytes);
	fiber_close(m.fd);
}

static void test_file_read_that_has_begun_is_not_given_up(void **state)
{
	struct move late = slow_file(fiber_after(5 * MS)), m = slow_file(FIBER_FOREVER);
	struct fiber *timed, *cancelled;

	(void)state;
	keep_threads_busy();
	late.deadline = fiber_after(20 * MS);
	timed = inside_spawn(do_read, &late);
	cancelled = begin(&m);
	assert_int_equal(fiber_cancel(cancelled), 0);
	while (fiber_now() < late.deadline)
		sched_yield();
	let_threads_go();
	assert_int_equal(inside_join_cancelled(cancelled), sizeof m.bytes);
	/* The deadline may have expired before the read started. */
	if (inside_join(timed) == -ETIMEDOUT)
		assert_int_equal(lseek(late.fd, 0, SEEK_CUR), 0);
	else
		assert_memory_equal(late.bytes, "Name:", 5);
	fiber_close(m.fd);
	fiber_close(late.fd);
}

static void test_file_that_is_closed_before_its_read_begins_is_ebadf(void **state)
{
	struct move m = slow_file(FIBER_FOREVER);
	int pair[2], other[2];
	struct fiber *f;

	(void)state;
	keep_threads_busy();
	f = begin(&m);
	assert_int_equal(fiber_close(m.fd), 0);
	/* The number now refers to another file, which has bytes to read. */
	assert_int_equal(pipe(pair), 0);
	/* Neither end may be that number by itself: the library opens and closes files meanwhile. */
	for (int i = 0; i < 2; i++) {
		other[i] = fcntl(pair[i], F_DUPFD, 100);
		close(pair[i]);
	}
	assert_int_equal(dup2(other[0], m.fd), m.fd);
	assert_int_equal(write(other[1], "x", 1), 1);
	let_threads_go();
	assert_int_equal(inside_join(f), -EBADF);
	assert_int_equal(read(other[0], m.bytes, 2), 1);
	close(m.fd);
	close(other[0]);
	close(other[1]);
}

static void test_file_gives_a_deadline_and_a_cancellation_their_due_before(void **state)
{
	struct move m = slow_file(0);

	(void)state;
	assert_int_equal(inside(do_read, &m), -ETIMEDOUT);
	assert_int_equal(on_a_thread(do_read, &m), -ETIMEDOUT);
	m.deadline = FIBER_FOREVER;
	assert_int_equal(inside_join_cancelled(inside_spawn(do_read_cancelled, &m)), -ECANCELED);
	assert_int_equal(fiber_set_pinned_policy(rt, FIBER_PINNED_ERROR), 0);
	assert_int_equal(inside(do_read_pinned, &m), -EDEADLK);
	assert_int_equal(fiber_set_pinned_policy(rt, FIBER_PINNED_SILENT), 0);
	assert_int_equal(lseek(m.fd, 0, SEEK_CUR), 0);
	assert_int_equal(inside(do_read_pinned, &m), sizeof m.bytes);
	assert_int_equal(on_a_thread(do_read, &m), sizeof m.bytes);
	assert_int_equal(fiber_set_pinned_policy(rt, FIBER_PINNED_WARN), 0);
	fiber_close(m.fd);
}

static void test_file_on_disk_is_written_and_read_whatever_its_flags(void **state)
{
	static const int flags[] = {0, O_NONBLOCK, O_APPEND};
	char path[HARNESS_PATH];

	(void)state;
	harness_file(path, "data");
	for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
		struct move m = {-1, "", FIBER_FOREVER};

		memset(m.bytes, 'a' + (int)i, sizeof m.bytes);
		m.fd = open(path, O_RDWR | O_CREAT | O_TRUNC | flags[i], 0600);
		assert_true(m.fd >= 0);
		assert_int_equal(inside(do_write, &m), sizeof m.bytes);
		assert_int_equal(inside(do_write, &m), sizeof m.bytes);
		assert_int_equal(lseek(m.fd, (off_t)sizeof m.bytes, SEEK_SET), sizeof m.bytes);
		memset(m.bytes, 0, sizeof m.bytes);
		assert_int_equal(inside(do_read, &m), sizeof m.bytes);
		assert_int_equal(m.bytes[sizeof m.bytes - 1], 'a' + (int)i);
		assert_int_equal(inside(do_read, &m), 0);
		assert_int_equal(fcntl(m.fd, F_GETFL) & (O_NONBLOCK | O_APPEND), flags[i]);
		fiber_close(m.fd);
	}
}

/* -- opening -- */

struct opening {
	const char *path;
	int flags;
	int64_t deadline;
};

static void *do_open(void *arg)
{
	struct opening *o = arg;

	return (void *)(intptr_t)fiber_open(o->path, o->flags, 0640, o->deadline);
}

static void *do_open_cancelled(void *arg)
{
	return as_cancelled(do_open, arg);
}

static void test_file_opens_with_the_flags_and_the_mode_that_were_asked_for(void **state)
{
	static const int flags[] = {0, O_CLOEXEC};
	char path[HARNESS_PATH];
	struct opening o = {path, O_RDWR | O_CREAT | O_EXCL, FIBER_FOREVER};
	const mode_t before = umask(0);
	struct stat st;
	intptr_t fd;

	(void)state;
	harness_file(path, "new");
	for (int i = 0; i < 2; i++) {
		o.flags = O_RDWR | O_CREAT | O_EXCL | flags[i];
		fd = i ? on_a_thread(do_open, &o) : inside(do_open, &o);
		assert_true(fd >= 0);
		assert_int_equal(fstat((int)fd, &st), 0);
		assert_int_equal(st.st_mode & 07777, 0640);
		assert_int_equal(fcntl((int)fd, F_GETFD) & FD_CLOEXEC, flags[i] ? FD_CLOEXEC : 0);
		assert_int_equal(inside(do_open, &o), -EEXIST);
		close((int)fd);
		assert_int_equal(unlink(path), 0);
	}
	umask(before);
	o.flags = O_RDONLY;
	assert_int_equal(inside(do_open, &o), -ENOENT);
}

static void test_file_open_without_time_attempts_nothing(void **state)
{
	char path[HARNESS_PATH];
	struct opening o = {path, O_RDWR | O_CREAT, 0};

	(void)state;
	harness_file(path, "never");
	assert_int_equal(inside(do_open, &o), -ETIMEDOUT);
	assert_int_equal(on_a_thread(do_open, &o), -ETIMEDOUT);
	o.deadline = FIBER_FOREVER;
	assert_int_equal(inside_join_cancelled(inside_spawn(do_open_cancelled, &o)), -ECANCELED);
	assert_int_equal(access(path, F_OK), -1);
}

static void test_file_opened_after_its_caller_has_gone_is_closed(void **state)
{
	char path[HARNESS_PATH];
	struct opening o = {path, O_WRONLY, 0};
	const int64_t until = fiber_after(20000 * MS);
	struct fiber *f;
	unsigned before;
	int reader;

	(void)state;
	harness_file(path, "fifo");
	assert_int_equal(mkfifo(path, 0600), 0);
	before = harness_descriptors();
	o.deadline = fiber_after(2 * MS);
	assert_int_equal(inside(do_open, &o), -ETIMEDOUT);
	assert_true(fiber_now() >= o.deadline);
	o.deadline = fiber_after(2 * MS);
	assert_int_equal(on_a_thread(do_open, &o), -ETIMEDOUT);
	o.deadline = FIBER_FOREVER;
	f = inside_spawn(do_open, &o);
	while (fiber_state(f) != FIBER_SUSPENDED)
		sched_yield();
	assert_int_equal(fiber_cancel(f), 0);
	assert_int_equal(inside_join_cancelled(f), -ECANCELED);
	/*
	 * Opening the reading end lets the started opens return. The opens have ended when every
	 * thread does other work.
	 */
	reader = open(path, O_RDONLY | O_NONBLOCK);
	assert_true(reader >= 0);
	assert_int_equal(fcntl(reader, F_SETFL, 0), 0);
	keep_threads_busy();
	let_threads_go();
	assert_int_equal(read(reader, &(char){0}, 1), 0);
	close(reader);
	/* A ring's open may still be under way in the kernel. */
	while (harness_descriptors() != before && fiber_now() < until)
		sched_yield();
	assert_int_equal(harness_descriptors(), before);
}

static void test_file_open_waits_for_the_other_end_of_a_fifo(void **state)
{
	char path[HARNESS_PATH];
	struct opening in = {path, O_RDONLY, FIBER_FOREVER}, out = {path, O_WRONLY, FIBER_FOREVER};
	struct fiber *f;
	intptr_t fd;

	(void)state;
	harness_file(path, "both");
	assert_int_equal(mkfifo(path, 0600), 0);
	f = inside_spawn(do_open, &in);
	fd = inside(do_open, &out);
	assert_true(fd >= 0);
	close((int)fd);
	fd = inside_join(f);
	assert_true(fd >= 0);
	close((int)fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file_that_is_slow_is_read_by_a_thread_and_the_fiber_parks),
		cmocka_unit_test(test_file_read_that_has_begun_is_not_given_up),
		cmocka_unit_test(test_file_that_is_closed_before_its_read_begins_is_ebadf),
		cmocka_unit_test(test_file_gives_a_deadline_and_a_cancellation_their_due_before),
		cmocka_unit_test(test_file_on_disk_is_written_and_read_whatever_its_flags),
		cmocka_unit_test(test_file_opens_with_the_flags_and_the_mode_that_were_asked_for),
		cmocka_unit_test(test_file_open_without_time_attempts_nothing),
		cmocka_unit_test(test_file_opened_after_its_caller_has_gone_is_closed),
		cmocka_unit_test(test_file_open_waits_for_the_other_end_of_a_fifo),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, inside_start, inside_stop);
}
