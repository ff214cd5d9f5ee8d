/* SPDX-License-Identifier: MIT */
/* test_net_op.c - operations of io_uring(7) in a schedule, also on internet sockets, which are in the process */
#include <fcntl.h>
#include <linux/io_uring.h>

#include <fiber/op.h>

#include "tests/explore/loopback.h"

#define SECOND INT64_C(1000000000) /* ns */

static struct fiber_test_result result;

static void run(fiber_test_fn *fn, const char *strategy, unsigned faults, uint64_t schedules)
{
	const struct fiber_test_options options = {.size = sizeof options,
						   .strategy = strategy,
						   .schedules = schedules,
						   .faults = faults,
						   .slack = -1};

	result = (struct fiber_test_result){.size = sizeof result};
	assert_true(fiber_test_explore(fn, NULL, &options, &result) >= 0);
}

static void expect_passed(fiber_test_fn *fn)
{
	run(fn, "portfolio", 0, 100);
	assert_string_equal(result.message, "");
	assert_int_equal(result.verdict, FIBER_TEST_PASSED);
}

/* -- operations by hand -- */

static struct io_uring_sqe *prepared(struct fiber_op **ret, unsigned opcode, int fd)
{
	struct io_uring_sqe *e;

	fiber_test_assert(fiber_op_prepare(ret, &e) == 0);
	e->opcode = (uint8_t)opcode;
	e->fd = fd;
	return e;
}

static int await_until(unsigned opcode, int fd, const void *at, size_t size, uint64_t off,
		       uint32_t flags, int64_t deadline)
{
	struct fiber_op *op;
	struct io_uring_sqe *e = prepared(&op, opcode, fd);

	e->addr = (uintptr_t)at;
	e->len = (uint32_t)size;
	e->off = off;
	e->msg_flags = flags;
	return fiber_op_await(op, deadline);
}

static int await_op(unsigned opcode, int fd, const void *at, size_t size, uint64_t off,
		    uint32_t flags)
{
	return await_until(opcode, fd, at, size, off, flags, FIBER_FOREVER);
}

/* -- the kernel's -- */

static void *write_later(void *arg)
{
	fiber_test_assert(fiber_write(*(int *)arg, "pipe", 4, FIBER_FOREVER) == 4);
	return NULL;
}

static void read_pipe(void *arg)
{
	struct fiber *fiber;
	char bytes[8] = "";
	int ends[2];

	(void)arg;
	fiber_test_assert(await_op(IORING_OP_NOP, -1, NULL, 0, 0, 0) == 0);
	fiber_test_assert(pipe(ends) == 0);
	fiber_spawn(write_later, &ends[1], &fiber);
	fiber_test_assert(await_op(IORING_OP_READ, ends[0], bytes, 8, (uint64_t)-1, 0) == 4);
	fiber_test_assert(strcmp(bytes, "pipe") == 0);
	fiber_join(fiber, NULL, FIBER_FOREVER);
	fiber_close(ends[0]);
	fiber_close(ends[1]);
}

static void test_operations_of_the_kernel_end_in_a_schedule(void **state)
{
	(void)state;
	expect_passed(read_pipe);
}

static struct fiber_event detached_ended;

static void note_end(void *arg, int rc)
{
	fiber_test_assert(fiber_self() == NULL && rc == 0 && arg == &detached_ended);
	fiber_event_set(&detached_ended);
}

static void detach_one(void *arg)
{
	struct fiber_op *op;

	(void)arg;
	detached_ended = (struct fiber_event){0};
	prepared(&op, IORING_OP_NOP, -1);
	fiber_test_assert(fiber_op_detach(op, note_end, &detached_ended) == 0);
	while (fiber_event_wait(&detached_ended, fiber_after(SECOND)) != 0)
		;
}

static void test_end_of_a_detached_operation_is_outside_a_fiber(void **state)
{
	(void)state;
	expect_passed(detach_one);
}

/* -- streams -- */

static void *serve(void *arg)
{
	const int listener = *(int *)arg;
	struct sockaddr_in from = {0};
	socklen_t size = sizeof from;
	const int fd = await_op(IORING_OP_ACCEPT, listener, &from, 0, (uintptr_t)&size,
				SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct iovec v[2];
	char bytes[8] = "";

	fiber_test_assert(fd >= 0 && from.sin_family == AF_INET && size == sizeof from);
	fiber_test_assert(fcntl(fd, F_GETFD) == FD_CLOEXEC);
	fiber_test_assert(fcntl(fd, F_GETFL) & O_NONBLOCK);
	fiber_test_assert(await_op(IORING_OP_RECV, fd, bytes, 5, 0, MSG_WAITALL) == 5);
	fiber_test_assert(strcmp(bytes, "hello") == 0);
	v[0] = (struct iovec){"wo", 2};
	v[1] = (struct iovec){"rld", 3};
	fiber_test_assert(await_op(IORING_OP_WRITEV, fd, v, 2, 0, 0) == 5);
	fiber_test_assert(await_op(IORING_OP_SHUTDOWN, fd, NULL, SHUT_WR, 0, 0) == 0);
	fiber_test_assert(await_op(IORING_OP_RECV, fd, bytes, 5, 0, 0) == 0);
	fiber_test_assert(await_op(IORING_OP_CLOSE, fd, NULL, 0, 0, 0) == 0);
	fiber_test_assert(fcntl(fd, F_GETFD) == -1);
	return NULL;
}

static void talk(void *arg)
{
	const struct sockaddr_storage at = address("127.0.0.1", 8080);
	int listener = listen_at("127.0.0.1", 8080, 5);
	const int fd = await_op(IORING_OP_SOCKET, AF_INET, NULL, 0, SOCK_STREAM, 0);
	struct fiber *server;
	char bytes[8] = "";
	int n = 0;

	(void)arg;
	fiber_spawn(serve, &listener, &server);
	fiber_test_assert(await_op(IORING_OP_CONNECT, fd, &at, 0, sizeof(struct sockaddr_in), 0) ==
			  0);
	fiber_test_assert(await_op(IORING_OP_SEND, fd, "hel", 3, 0, 0) == 3);
	fiber_test_assert(await_op(IORING_OP_WRITE, fd, "lo", 2, (uint64_t)-1, 0) == 2);
	fiber_test_assert(await_op(IORING_OP_POLL_ADD, fd, NULL, 0, 0, POLLIN) & POLLIN);
	while (n < 5)
		n += await_op(IORING_OP_READ, fd, bytes + n, (size_t)(5 - n), (uint64_t)-1, 0);
	fiber_test_assert(strcmp(bytes, "world") == 0);
	fiber_test_assert(await_op(IORING_OP_CLOSE, fd, NULL, 0, 0, 0) == 0);
	fiber_join(server, NULL, FIBER_FOREVER);
	fiber_close(listener);
}

static void test_operations_on_streams_work_in_the_process(void **state)
{
	(void)state;
	expect_passed(talk);
}

static void time_out(void *arg)
{
	const struct pair p = connect_pair();
	const int64_t before = fiber_now();
	char byte;

	(void)arg;
	fiber_test_assert(await_until(IORING_OP_RECV, p.client, &byte, 1, 0, 0,
				      fiber_after(3600 * SECOND)) == -ETIMEDOUT);
	fiber_test_assert(fiber_now() == before + 3600 * SECOND);
	fiber_test_assert(fiber_write(p.server, "x", 1, FIBER_FOREVER) == 1);
	/* After the deadline it is still tried once. */
	fiber_test_assert(await_until(IORING_OP_RECV, p.client, &byte, 1, 0, 0, 0) == 1);
	close_pair(p);
}

static void test_deadlines_of_operations_are_virtual(void **state)
{
	(void)state;
	expect_passed(time_out);
}

/* -- datagrams -- */

static void exchange(void *arg)
{
	const struct sockaddr_storage at = address("127.0.0.1", 7000);
	const int a = open_socket(AF_INET, SOCK_DGRAM), b = open_socket(AF_INET, SOCK_DGRAM);
	char bytes[8] = "";
	struct iovec v = {bytes, 8};
	struct sockaddr_in from = {0};
	struct msghdr m = {
		.msg_name = &from, .msg_namelen = sizeof from, .msg_iov = &v, .msg_iovlen = 1};
	struct fiber_op *op;
	struct io_uring_sqe *e;

	(void)arg;
	fiber_test_assert(bind_to(a, "127.0.0.1", 7000) == 0);
	e = prepared(&op, IORING_OP_SEND, b);
	e->addr = (uintptr_t) "datagram";
	e->len = 8;
	e->addr2 = (uintptr_t)&at;
	e->addr_len = sizeof(struct sockaddr_in);
	fiber_test_assert(fiber_op_await(op, FIBER_FOREVER) == 8);
	fiber_test_assert(await_op(IORING_OP_RECVMSG, a, &m, 1, 0, 0) == 8);
	fiber_test_assert(memcmp(bytes, "datagram", 8) == 0 && ntohs(from.sin_port) == 40000);
	v.iov_len = 4;
	fiber_test_assert(await_op(IORING_OP_SENDMSG, a, &m, 1, 0, 0) == 4);
	fiber_test_assert(await_op(IORING_OP_RECV, b, bytes, 8, 0, 0) == 4);
	fiber_close(a);
	fiber_close(b);
}

static void test_operations_on_datagrams_have_addresses(void **state)
{
	(void)state;
	expect_passed(exchange);
}

/* -- refused -- */

static void splice_from(void *arg)
{
	const struct pair p = connect_pair();
	struct fiber_op *op;
	struct io_uring_sqe *e;
	int ends[2];

	(void)arg;
	fiber_test_assert(pipe(ends) == 0);
	e = prepared(&op, IORING_OP_SPLICE, ends[1]);
	e->splice_fd_in = p.server;
	fiber_op_await(op, FIBER_FOREVER);
}

static void receive_many(void *arg)
{
	const struct pair p = connect_pair();
	struct fiber_op *op;

	(void)arg;
	prepared(&op, IORING_OP_RECV, p.server)->ioprio = IORING_RECV_MULTISHOT;
	fiber_op_await(op, FIBER_FOREVER);
}

static void detach_inside(void *arg)
{
	const struct pair p = connect_pair();
	struct fiber_op *op;

	(void)arg;
	prepared(&op, IORING_OP_RECV, p.server);
	fiber_op_detach(op, NULL, NULL);
}

static void expect_refused(fiber_test_fn *fn, const char *operation, const char *remedy)
{
	run(fn, "random", 0, 1);
	assert_int_equal(result.verdict, FIBER_TEST_FAILED);
	if (!strstr(result.message, operation) || !strstr(result.message, remedy))
		fail_msg("%s", result.message);
}

static void test_what_the_library_cannot_do_is_refused_with_a_remedy(void **state)
{
	(void)state;
	expect_refused(splice_from, "fiber_op_await: operation 30 (splice) names descriptor ",
		       "call a function of <fiber/io.h>");
	expect_refused(receive_many, "fiber_op_await: operation 27 (recv) names descriptor ",
		       "call a function of <fiber/io.h>");
	expect_refused(detach_inside, "fiber_op_detach: operation 27 (recv) names descriptor ",
		       "await it, by fiber_op_await() in a fiber of its own");
}

/* -- the flags that the kernel refuses -- */

static void link_one(void *arg)
{
	const struct pair p = connect_pair();
	struct fiber_op *op;

	(void)arg;
	prepared(&op, IORING_OP_RECV, p.server)->flags = IOSQE_IO_LINK;
	fiber_test_assert(fiber_op_await(op, FIBER_FOREVER) == -EINVAL);
	close_pair(p);
}

static void test_linked_operations_are_refused_as_ever(void **state)
{
	(void)state;
	expect_passed(link_one);
}

static void *probe_main(void *arg)
{
	struct io_uring_sqe *e;
	struct fiber_op *op;
	int *rc = arg;

	*rc = fiber_op_prepare(&op, &e);
	if (*rc == 0)
		*rc = fiber_op_await(op, FIBER_FOREVER);
	return NULL;
}

/* Where io_uring is forbidden no operation can be made. */
static bool has_operations(void)
{
	int rc = -1;

	assert_int_equal(fiber_run(probe_main, &rc, NULL, NULL), 0);
	return rc == 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_operations_of_the_kernel_end_in_a_schedule),
		cmocka_unit_test(test_end_of_a_detached_operation_is_outside_a_fiber),
		cmocka_unit_test(test_operations_on_streams_work_in_the_process),
		cmocka_unit_test(test_deadlines_of_operations_are_virtual),
		cmocka_unit_test(test_operations_on_datagrams_have_addresses),
		cmocka_unit_test(test_what_the_library_cannot_do_is_refused_with_a_remedy),
		cmocka_unit_test(test_linked_operations_are_refused_as_ever),
	};

	if (!has_operations()) {
		puts("1..0 # SKIP no io_uring");
		return 0;
	}
	return cmocka_run_group_tests(tests, find_port, NULL);
}
