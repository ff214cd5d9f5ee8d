/* SPDX-License-Identifier: MIT */
/* test_op_many.c - many operations at once, some detached, some cancelled as they complete */
#include "ops.h"

/* -- many -- */

static void *does_nothing_often(void *arg)
{
	unsigned *wrong = arg;

	for (int i = 0; i < 100; i++)
		*wrong += perform(IORING_OP_NOP, -1, NULL, 0, FIBER_FOREVER) != 0;
	return NULL;
}

static void *storms(void *arg)
{
	unsigned wrong[100] = {0}, *sum = arg;
	struct fiber *f[100];

	for (size_t i = 0; i < COUNT(f); i++)
		fiber_spawn(does_nothing_often, &wrong[i], &f[i]);
	for (size_t i = 0; i < COUNT(f); i++) {
		fiber_join(f[i], NULL, FIBER_FOREVER);
		*sum += wrong[i];
	}
	return NULL;
}

static void test_op_storm_of_those_that_do_nothing(void **state)
{
	unsigned wrong = 0;

	(void)state;
	assert_int_equal(carriers_run(storms, &wrong).error, 0);
	assert_int_equal(wrong, 0);
}

static void *reads_in_great_number(void *arg)
{
	enum { READERS = 300 };
	struct reading *rs = calloc(READERS, sizeof *rs);
	struct fiber *f[READERS];
	int fd[2];
	uintptr_t wrong = 0;

	(void)arg;
	if (!rs || pipe(fd) < 0)
		return (void *)1;
	for (int i = 0; i < READERS; i++) {
		rs[i] = (struct reading){.fd = {fd[0], fd[1]}, .deadline = FIBER_FOREVER};
		fiber_spawn(reads, &rs[i], &f[i]);
	}
	for (int i = 0; i < READERS; i++)
		carriers_await_suspended(f[i]);
	close(fd[1]); /* end of file, for all of them */
	for (int i = 0; i < READERS; i++) {
		fiber_join(f[i], NULL, FIBER_FOREVER);
		wrong += rs[i].rc != 0;
	}
	close(fd[0]);
	free(rs);
	return (void *)wrong;
}

static void test_op_more_at_once_than_the_ring_has_entries(void **state)
{
	(void)state;
	assert_null(carriers_run(reads_in_great_number, NULL).value);
}

/* -- detached -- */

struct detached {
	int fd[2];
	char buf[8];
	_Atomic unsigned called;
	_Atomic int result;
	struct fiber_sem told;
};

static void note(void *arg, int result)
{
	struct detached *d = arg;

	d->result = result;
	d->called++;
	fiber_sem_post(&d->told);
}

static void *lets_go_and_ends(void *arg)
{
	struct detached *d = arg;
	struct io_uring_sqe *sqe;
	struct fiber_op *op = make(IORING_OP_READ, d->fd[0], d->buf, sizeof d->buf, &sqe);

	return (void *)(intptr_t)fiber_op_detach(op, note, d);
}

static void *outlives_one_that_let_go(void *arg)
{
	struct detached *d = arg;
	struct fiber_result r;
	struct fiber *f;

	fiber_spawn(lets_go_and_ends, d, &f);
	fiber_join(f, &r, FIBER_FOREVER);
	if (r.value || d->called || write(d->fd[1], "late", 5) != 5)
		return arg;
	return fiber_sem_wait(&d->told, FIBER_FOREVER) ? arg : NULL;
}

static void test_op_that_was_let_go_outlives_its_fiber(void **state)
{
	struct detached d = {.called = 0};

	(void)state;
	assert_int_equal(pipe(d.fd), 0);
	assert_null(carriers_run(outlives_one_that_let_go, &d).value);
	assert_int_equal(d.called, 1);
	assert_int_equal(d.result, 5);
	assert_string_equal(d.buf, "late");
	close(d.fd[0]);
	close(d.fd[1]);
}

static void test_op_under_way_is_cancelled_when_the_runtime_finishes(void **state)
{
	struct detached d = {.called = 0};

	(void)state;
	assert_int_equal(pipe(d.fd), 0);
	assert_null(carriers_run(lets_go_and_ends, &d).value);
	/* The runtime has finished, and the kernel reads no more. */
	assert_int_equal(d.called, 1);
	assert_int_equal(d.result, -ECANCELED);
	assert_int_equal(write(d.fd[1], "nobody", 7), 7);
	assert_int_equal(d.buf[0], 0);
	close(d.fd[0]);
	close(d.fd[1]);
}

static void count(void *arg, int result)
{
	struct detached *d = arg;

	d->called += result == 0;
}

enum { FLOOD = 6000 };

/* Start more operations than fit; with one carrier no completion is taken out meanwhile. */
static void *floods(void *arg)
{
	for (int i = 0; i < FLOOD; i++) {
		struct io_uring_sqe *sqe;
		struct fiber_op *op = make(IORING_OP_NOP, -1, NULL, 0, &sqe);

		if (fiber_op_detach(op, i % 2 ? count : NULL, arg) < 0)
			return arg;
	}
	return NULL;
}

static void test_op_flood_loses_none(void **state)
{
	struct detached d = {.called = 0};

	(void)state;
	assert_null(carriers_run(floods, &d).value);
	assert_int_equal(d.called, FLOOD / 2);
}

/* -- a cancellation and the bytes at the same time -- */

struct race {
	int fd[2];
	unsigned got, kept, wrong;
};

static void *reads_one(void *arg)
{
	struct race *r = arg;
	char byte = 0;
	int rc = perform(IORING_OP_READ, r->fd[0], &byte, 1, FIBER_FOREVER);

	if (rc == 1 && byte == 'x')
		r->got++;
	else if (rc != -ECANCELED || byte)
		r->wrong++;
	return NULL;
}

static void *writes_one(void *arg)
{
	return write(((struct race *)arg)->fd[1], "x", 1) == 1 ? NULL : arg;
}

static void *races(void *arg)
{
	struct race *r = arg;
	struct fiber *reader, *writer;
	char byte;

	for (int i = 0; i < 300; i++) {
		unsigned before = r->got;

		fiber_spawn(reads_one, r, &reader);
		if (i % 2)
			carriers_await_suspended(reader);
		fiber_spawn(writes_one, r, &writer);
		if (i % 3)
			fiber_yield();
		fiber_cancel(reader);
		fiber_join(reader, NULL, FIBER_FOREVER);
		fiber_join(writer, NULL, FIBER_FOREVER);
		if (r->got == before)
			r->kept += read(r->fd[0], &byte, 1) == 1;
	}
	return NULL;
}

static void test_op_cancelled_as_bytes_come_loses_none(void **state)
{
	struct race r = {.got = 0};

	(void)state;
	assert_int_equal(pipe(r.fd), 0);
	assert_int_equal(carriers_run(races, &r).error, 0);
	assert_int_equal(r.wrong, 0);
	assert_int_equal(r.got + r.kept, 300);
	close(r.fd[0]);
	close(r.fd[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		OP_TEST(test_op_storm_of_those_that_do_nothing),
		OP_TEST(test_op_more_at_once_than_the_ring_has_entries),
		OP_TEST(test_op_that_was_let_go_outlives_its_fiber),
		OP_TEST(test_op_under_way_is_cancelled_when_the_runtime_finishes),
		OP_TEST(test_op_flood_loses_none),
		OP_TEST(test_op_cancelled_as_bytes_come_loses_none),
	};

	return OPS_RUN(tests);
}
