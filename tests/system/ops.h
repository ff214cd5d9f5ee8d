/* SPDX-License-Identifier: MIT */
/* ops.h - make operations by hand and run them in the scheduler's own ring and in the poller's */
#ifndef SYSTEM_OPS_H
#define SYSTEM_OPS_H

#include "carriers.h"

#include <errno.h>
#include <linux/io_uring.h>
#include <unistd.h>

/* Make an operation on fd; the caller fills in the remaining fields through *ret_sqe. */
static struct fiber_op *make(unsigned opcode, int fd, const void *at, unsigned size,
			     struct io_uring_sqe **ret_sqe)
{
	struct io_uring_sqe *sqe;
	struct fiber_op *op;

	if (fiber_op_prepare(&op, &sqe) < 0)
		abort();
	sqe->opcode = (uint8_t)opcode;
	sqe->fd = fd;
	sqe->addr = (uint64_t)(uintptr_t)at;
	sqe->len = size;
	*ret_sqe = sqe;
	return op;
}

static int perform(unsigned opcode, int fd, const void *at, unsigned size, int64_t deadline)
{
	struct io_uring_sqe *sqe;

	return fiber_op_await(make(opcode, fd, at, size, &sqe), deadline);
}

struct reading {
	int fd[2];
	unsigned char buf[64];
	int64_t deadline;
	int rc;
};

static void *reads(void *arg)
{
	struct reading *r = arg;

	r->rc = perform(IORING_OP_READ, r->fd[0], r->buf, sizeof r->buf, r->deadline);
	return NULL;
}

static int in_a_ring_of_its_own(void **state)
{
	(void)state;
	return setenv("FIBER_POLLER", "epoll", 1);
}

static int in_one_the_poller_is_asked_about(void **state)
{
	(void)state;
	return setenv("FIBER_POLLER", "poll", 1);
}

static int in_the_pollers_ring(void **state)
{
	(void)state;
	return setenv("FIBER_POLLER", "uring", 1);
}

static void *tries(void *arg)
{
	struct fiber_op *op;
	struct io_uring_sqe *sqe;
	int rc = fiber_op_prepare(&op, &sqe);

	(void)arg;
	return (void *)(intptr_t)(rc < 0 ? rc : fiber_op_await(op, FIBER_FOREVER));
}

#define OP_MODE(name, mode, setup) ((struct CMUnitTest){#name mode, name, setup, NULL, NULL})
#define OP_TEST(name)                                                          \
	OP_MODE(name, "", in_a_ring_of_its_own),                               \
		OP_MODE(name, "_with_poll", in_one_the_poller_is_asked_about), \
		OP_MODE(name, "_in_the_pollers", in_the_pollers_ring)

/* Run the tests if there is an io_uring. */
#define OPS_RUN(tests)                                           \
	(ops_exist() ? cmocka_run_group_tests(tests, NULL, NULL) \
		     : (puts("1..0 # SKIP no io_uring here"), 0))

static bool ops_exist(void)
{
	harness_watchdog(100);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return !carriers_run(tries, NULL).value;
}

#endif
