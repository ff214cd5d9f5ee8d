/* SPDX-License-Identifier: MIT */
/* test_op.c - operations of the program: their results, and who owns their memory meanwhile */
#include "ops.h"

#include <fcntl.h>
#include <linux/stat.h>
#include <linux/time_types.h>
#include <pthread.h>
#include <sys/socket.h>

/* -- files -- */

struct file {
	int opened, written, synced, read, looked, closed;
	char bytes[6];
	struct statx status;
};

static void *goes_through_a_file(void *arg)
{
	struct file *f = arg;
	struct io_uring_sqe *sqe;
	struct fiber_op *op = make(IORING_OP_OPENAT, AT_FDCWD, "/tmp", 0600, &sqe);

	sqe->open_flags = O_TMPFILE | O_RDWR | O_CLOEXEC;
	f->opened = fiber_op_await(op, FIBER_FOREVER);
	f->written = perform(IORING_OP_WRITE, f->opened, "bytes", 6, FIBER_FOREVER);
	f->synced = perform(IORING_OP_FSYNC, f->opened, NULL, 0, FIBER_FOREVER);
	f->read = perform(IORING_OP_READ, f->opened, f->bytes, 6, FIBER_FOREVER);
	op = make(IORING_OP_STATX, f->opened, "", STATX_SIZE, &sqe);
	sqe->statx_flags = AT_EMPTY_PATH;
	sqe->off = (uint64_t)(uintptr_t)&f->status;
	f->looked = fiber_op_await(op, FIBER_FOREVER);
	f->closed = perform(IORING_OP_CLOSE, f->opened, NULL, 0, FIBER_FOREVER);
	return NULL;
}

static void test_op_opens_writes_syncs_reads_looks_at_and_closes_a_file(void **state)
{
	struct file f = {0};

	(void)state;
	assert_int_equal(carriers_run(goes_through_a_file, &f).error, 0);
	assert_true(f.opened >= 0);
	assert_int_equal(f.written, 6);
	assert_int_equal(f.synced, 0);
	assert_int_equal(f.read, 6);
	assert_string_equal(f.bytes, "bytes");
	assert_int_equal(f.looked, 0);
	assert_int_equal(f.status.stx_size, 6);
	assert_int_equal(f.closed, 0);
	assert_int_equal(fcntl(f.opened, F_GETFD), -1);
}

/* -- pipes -- */

static void *reads_while_another_writes(void *arg)
{
	struct reading *r = arg;
	struct fiber *reader;
	ssize_t n;

	fiber_spawn(reads, r, &reader);
	carriers_await_suspended(reader);
	n = write(r->fd[1], "through", 7);
	fiber_join(reader, NULL, FIBER_FOREVER);
	return n == 7 ? NULL : arg;
}

static void test_op_waits_until_a_pipe_has_bytes(void **state)
{
	struct reading r = {.deadline = FIBER_FOREVER};

	(void)state;
	assert_int_equal(pipe(r.fd), 0);
	assert_null(carriers_run(reads_while_another_writes, &r).value);
	assert_int_equal(r.rc, 7);
	assert_memory_equal(r.buf, "through", 7);
	close(r.fd[0]);
	close(r.fd[1]);
}

static void *cancels_a_reader(void *arg)
{
	struct fiber *reader;

	fiber_spawn(reads, arg, &reader);
	carriers_await_suspended(reader);
	fiber_cancel(reader);
	fiber_join(reader, NULL, FIBER_FOREVER);
	return NULL;
}

/* The operation takes no byte that arrives after its return: the next reader gets it. */
static void nothing_was_taken(struct reading *r)
{
	char byte = 0;
	size_t i;

	assert_int_equal(write(r->fd[1], "x", 1), 1);
	for (i = 0; i < sizeof r->buf; i++)
		assert_int_equal(r->buf[i], 0xaa);
	assert_int_equal(read(r->fd[0], &byte, 1), 1);
	assert_int_equal(byte, 'x');
	close(r->fd[0]);
	close(r->fd[1]);
}

static void test_op_that_was_cancelled_writes_nothing_any_more(void **state)
{
	struct reading r = {.deadline = FIBER_FOREVER};

	(void)state;
	memset(r.buf, 0xaa, sizeof r.buf);
	assert_int_equal(pipe(r.fd), 0);
	assert_int_equal(carriers_run(cancels_a_reader, &r).error, 0);
	assert_int_equal(r.rc, -ECANCELED);
	nothing_was_taken(&r);
}

static void test_op_past_its_deadline_writes_nothing_any_more(void **state)
{
	static const int64_t waits[] = {-1, 0, 3 * MS};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(waits); i++) {
		struct reading r = {.deadline = fiber_after(waits[i])};

		memset(r.buf, 0xaa, sizeof r.buf);
		assert_int_equal(pipe(r.fd), 0);
		assert_int_equal(carriers_run(reads, &r).error, 0);
		assert_int_equal(r.rc, -ETIMEDOUT);
		assert_true(fiber_now() >= r.deadline);
		nothing_was_taken(&r);
	}
}

static void *begins_nothing(void *arg)
{
	struct reading *r = arg;

	fiber_cancel(fiber_self());
	reads(r);
	return NULL;
}

static void test_op_of_a_cancelled_fiber_does_not_begin(void **state)
{
	struct reading r = {.deadline = FIBER_FOREVER};

	(void)state;
	assert_int_equal(pipe(r.fd), 0);
	assert_int_equal(write(r.fd[1], "kept", 4), 4);
	carriers_run(begins_nothing, &r);
	assert_int_equal(r.rc, -ECANCELED);
	assert_int_equal(read(r.fd[0], r.buf, sizeof r.buf), 4);
	close(r.fd[0]);
	close(r.fd[1]);
}

/* -- splicing -- */

struct splices {
	int in[2], out[2], pair[2];
	int there, back, neither;
	char bytes[8];
};

/*
 * Splice without offsets. The source's offset is in the field that holds an address in other
 * operations.
 */
static int splice_to(int to, int from)
{
	struct io_uring_sqe *sqe;
	struct fiber_op *op = make(IORING_OP_SPLICE, to, (void *)-1, 64, &sqe);

	sqe->off = (uint64_t)-1;
	sqe->splice_fd_in = from;
	return fiber_op_await(op, FIBER_FOREVER);
}

static void *splices_to_a_socket(void *arg)
{
	struct splices *s = arg;

	s->there = splice_to(s->pair[0], s->in[0]);
	return NULL;
}

static void *splices_there_and_back(void *arg)
{
	struct splices *s = arg;
	struct fiber *first;
	ssize_t n;

	fiber_spawn(splices_to_a_socket, s, &first);
	carriers_await_suspended(first);
	n = write(s->in[1], "spliced", 8);
	s->back = splice_to(s->out[1], s->pair[1]);
	fiber_join(first, NULL, FIBER_FOREVER);
	s->neither = splice_to(s->pair[0], s->pair[1]);
	return n == 8 ? NULL : arg;
}

static void test_op_splices_a_pipe_into_a_socket_and_back(void **state)
{
	struct splices s = {.there = 0};

	(void)state;
	assert_int_equal(pipe(s.in), 0);
	assert_int_equal(pipe(s.out), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, s.pair), 0);
	assert_null(carriers_run(splices_there_and_back, &s).value);
	assert_int_equal(s.there, 8);
	assert_int_equal(s.back, 8);
	assert_int_equal(s.neither, -EINVAL);
	assert_int_equal(read(s.out[0], s.bytes, sizeof s.bytes), 8);
	assert_string_equal(s.bytes, "spliced");
	for (int i = 0; i < 2; i++) {
		close(s.in[i]);
		close(s.out[i]);
		close(s.pair[i]);
	}
}

/* -- results -- */

struct results {
	int past, timer, timer_late, linked, opcode, closed, untouched;
};

static void *collects_results(void *arg)
{
	struct __kernel_timespec soon = {.tv_nsec = MS}, late = {.tv_sec = 1000};
	struct results *r = arg;
	struct io_uring_sqe *sqe;
	struct fiber_op *op;

	r->past = perform(IORING_OP_NOP, -1, NULL, 0, -1);
	r->timer = perform(IORING_OP_TIMEOUT, -1, &soon, 1, FIBER_FOREVER);
	r->timer_late = perform(IORING_OP_TIMEOUT, -1, &late, 1, fiber_after(MS));
	op = make(IORING_OP_NOP, -1, NULL, 0, &sqe);
	sqe->flags = IOSQE_IO_LINK;
	r->linked = fiber_op_await(op, FIBER_FOREVER);
	r->opcode = perform(255, -1, NULL, 0, FIBER_FOREVER);
	r->closed = perform(IORING_OP_READ, -1, r, 1, FIBER_FOREVER);
	if (fiber_op_prepare(&op, &sqe) == 0)
		r->untouched = fiber_op_await(op, FIBER_FOREVER);
	return NULL;
}

static void test_op_gives_what_the_kernel_gave(void **state)
{
	struct results r = {.untouched = 1};

	(void)state;
	assert_int_equal(carriers_run(collects_results, &r).error, 0);
	assert_int_equal(r.past, 0); /* a past deadline allows one try */
	assert_int_equal(r.timer, -ETIME);
	assert_int_equal(r.timer_late, -ETIMEDOUT);
	assert_int_equal(r.linked, -EINVAL);
	assert_int_equal(r.opcode, -EINVAL);
	assert_int_equal(r.closed, -EBADF);
	assert_int_equal(r.untouched, 0);
}

/* -- who may call -- */

static void *reads_pinned(void *arg)
{
	fiber_pin();
	reads(arg);
	fiber_unpin();
	return NULL;
}

static int read_pinned(enum fiber_pinned_policy policy, struct reading *r)
{
	struct fiber_runtime_options options = carriers_options();

	options.pinned_policy = policy;
	assert_int_equal(fiber_run(reads_pinned, r, &options, NULL), 0);
	return r->rc;
}

static void *writes_soon(void *arg)
{
	usleep(1000);
	return write(*(int *)arg, "pinned", 6) == 6 ? NULL : arg;
}

static void test_op_of_a_pinned_fiber_follows_the_policy(void **state)
{
	struct reading r = {.deadline = FIBER_FOREVER};
	pthread_t thread;

	(void)state;
	assert_int_equal(pipe(r.fd), 0);
	assert_int_equal(read_pinned(FIBER_PINNED_ERROR, &r), -EDEADLK);
	pthread_create(&thread, NULL, writes_soon, &r.fd[1]);
	assert_int_equal(read_pinned(FIBER_PINNED_SILENT, &r), 6);
	pthread_join(thread, NULL);
	memset(r.buf, 0xaa, sizeof r.buf);
	r.deadline = fiber_after(MS);
	assert_int_equal(read_pinned(FIBER_PINNED_SILENT, &r), -ETIMEDOUT);
	nothing_was_taken(&r);
}

static void test_op_is_for_fibers_only(void **state)
{
	struct fiber_op *op = NULL;
	struct io_uring_sqe *sqe = NULL;

	(void)state;
	assert_int_equal(fiber_op_prepare(&op, &sqe), -EPERM);
	assert_null(op);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		OP_TEST(test_op_opens_writes_syncs_reads_looks_at_and_closes_a_file),
		OP_TEST(test_op_waits_until_a_pipe_has_bytes),
		OP_TEST(test_op_that_was_cancelled_writes_nothing_any_more),
		OP_TEST(test_op_past_its_deadline_writes_nothing_any_more),
		OP_TEST(test_op_of_a_cancelled_fiber_does_not_begin),
		OP_TEST(test_op_splices_a_pipe_into_a_socket_and_back),
		OP_TEST(test_op_gives_what_the_kernel_gave),
		OP_TEST(test_op_of_a_pinned_fiber_follows_the_policy),
		OP_TEST(test_op_is_for_fibers_only),
	};

	return OPS_RUN(tests);
}
