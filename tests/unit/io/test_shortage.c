/* SPDX-License-Identifier: MIT */
/*
 * test_shortage.c - accepting without a free file, buffer or memory pauses and tries again
 *
 * The library's system calls are replaced here. A non-blocking listener is accepted from with
 * accept4(2), a blocking one with a ring of one entry, where there is io_uring. The test turns what
 * is submitted to that ring into a no-op and puts the error into the completion.
 */
#include "fault.h"
#include "inside.h"

#include <dlfcn.h>
#include <linux/io_uring.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "os/os.h"

static struct fault accepting, entering;

/* The library's ring, with the kernel's layout. */
static struct io_uring_params layout;
static char *ring;
static struct io_uring_sqe *requests;

static void meet_ring(int fd, const struct io_uring_params *p)
{
	const size_t size = p->cq_off.cqes + p->cq_entries * sizeof(struct io_uring_cqe);
	const size_t more = p->sq_off.array + p->sq_entries * sizeof(uint32_t);
	void *at = mmap(NULL, size > more ? size : more, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			IORING_OFF_SQ_RING);

	ring = at != MAP_FAILED ? at : NULL;
	at = mmap(NULL, p->sq_entries * sizeof *requests, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		  IORING_OFF_SQES);
	requests = at != MAP_FAILED ? at : NULL;
	layout = *p;
}

static uint32_t word(uint32_t offset)
{
	return *(volatile uint32_t *)(void *)(ring + offset);
}

static void ask_for_nothing(void)
{
	const uint32_t last = (word(layout.sq_off.tail) - 1) & (layout.sq_entries - 1);
	const uint32_t slot = word(layout.sq_off.array + last * (uint32_t)sizeof last);

	requests[slot] = (struct io_uring_sqe){.opcode = IORING_OP_NOP};
}

static void answer(int error)
{
	const uint32_t last = (word(layout.cq_off.tail) - 1) & (layout.cq_entries - 1);

	((struct io_uring_cqe *)(void *)(ring + layout.cq_off.cqes))[last].res = -error;
}

static long pass_on(long number, const long a[6])
{
	static long (*_Atomic real)(long, ...);

	if (!real)
		real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static long enter(long number, const long a[6])
{
	long n;

	if (fails(&entering)) {
		errno = entering.error;
		return -1;
	}
	if (!ring || !requests || !fails(&accepting))
		return pass_on(number, a);
	ask_for_nothing();
	n = pass_on(number, a);
	answer(accepting.error);
	return n;
}

/* Some of the six arguments are undefined values, as in the C library. */
__attribute__((no_sanitize_address)) long syscall(long number, ...)
{
	va_list list;
	long a[6], rc;
	int i;

	va_start(list, number);
	for (i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_io_uring_enter)
		return enter(number, a);
	rc = pass_on(number, a);
	if (number == SYS_io_uring_setup && rc >= 0)
		meet_ring((int)rc, (const struct io_uring_params *)a[1]);
	return rc;
}

int accept4(int fd, struct sockaddr *addr, socklen_t *addrlen, int flags)
{
	const long a[6] = {fd, (long)addr, (long)addrlen, flags};

	if (fails(&accepting)) {
		errno = accepting.error;
		return -1;
	}
	return (int)pass_on(SYS_accept4, a);
}

/* -- a listener of either kind, without a connection yet -- */

static int listener, client;
static struct sockaddr_in at;

static int start_listening(void **state)
{
	socklen_t size = sizeof at;

	arm(&accepting, 0, 0);
	arm(&entering, 0, 0);
	at = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	client = -1;
	listener = socket(AF_INET, SOCK_STREAM | *(int *)*state, 0);
	if (bind(listener, (struct sockaddr *)&at, size) < 0 || listen(listener, 8) < 0)
		return -1;
	return getsockname(listener, (struct sockaddr *)&at, &size);
}

static void *do_close(void *arg)
{
	return (void *)(intptr_t)fiber_close(*(int *)arg);
}

static int stop_listening(void **state)
{
	(void)state;
	if (client >= 0)
		close(client);
	return listener < 0 ? 0 : (int)inside(do_close, &listener);
}

static void come(void)
{
	client = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(client, (struct sockaddr *)&at, sizeof at), 0);
}

static void *do_accept(void *arg)
{
	return (void *)(intptr_t)fiber_accept(listener, NULL, NULL, *(int64_t *)arg);
}

/* The connection is still there, and is the one that was accepted. */
static void serve(struct fiber *accepts)
{
	const int fd = (int)inside_join(accepts);
	char byte = 0;

	assert_true(fd >= 0);
	assert_int_equal(send(client, "!", 1, 0), 1);
	assert_int_equal(recv(fd, &byte, 1, 0), 1);
	assert_int_equal(byte, '!');
	assert_int_equal(inside(do_close, &(int){fd}), 0);
}

static const int errors[] = {EMFILE, ENFILE, ENOBUFS, ENOMEM};
#define ERRORS (sizeof errors / sizeof errors[0])

static void test_shortage_is_nothing_where_nobody_has_come(void **state)
{
	int64_t deadline;
	size_t i;

	(void)state;
	for (i = 0; i < ERRORS; i++) {
		arm(&accepting, errors[i], FOR_EVER);
		deadline = 0;
		assert_int_equal(inside(do_accept, &deadline), -ETIMEDOUT);
		deadline = fiber_after(MS);
		assert_int_equal(inside(do_accept, &deadline), -ETIMEDOUT);
		assert_int_equal(on_a_thread(do_accept, &(int64_t){0}), -ETIMEDOUT);
	}
}

static void test_shortage_is_told_after_the_deadline(void **state)
{
	int64_t deadline;
	size_t i;

	(void)state;
	come();
	for (i = 0; i < ERRORS; i++) {
		arm(&accepting, errors[i], FOR_EVER);
		deadline = 0;
		assert_int_equal(inside(do_accept, &deadline), -errors[i]);
		assert_int_equal(on_a_thread(do_accept, &deadline), -errors[i]);
		deadline = fiber_after(15 * MS);
		assert_int_equal(inside(do_accept, &deadline), -errors[i]);
		assert_true(fiber_now() >= deadline);
		deadline = fiber_after(15 * MS);
		assert_int_equal(on_a_thread(do_accept, &deadline), -errors[i]);
		assert_true(fiber_now() >= deadline);
	}
}

/* accept() fails four times, and pauses 10 ms after each. */
static void accept_after_pauses(intptr_t (*where)(fiber_fn *fn, void *arg), int error)
{
	int64_t forever = FIBER_FOREVER;
	const int64_t began = fiber_now();
	int fd;

	come();
	arm(&accepting, error, 4);
	fd = (int)where(do_accept, &forever);
	assert_true(fd >= 0);
	assert_int_equal(accepting.failed, 4);
	assert_true(fiber_now() - began >= 40 * MS);
	assert_int_equal(inside(do_close, &fd), 0);
	close(client);
	client = -1;
}

static void test_shortage_is_looked_at_now_and_then(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < ERRORS; i++) {
		accept_after_pauses(inside, errors[i]);
		accept_after_pauses(on_a_thread, errors[i]);
	}
}

static struct fiber *try_in_vain(int64_t *forever)
{
	struct fiber *fiber = inside_spawn(do_accept, forever);

	while (accepting.failed < 2 || fiber_state(fiber) != FIBER_SUSPENDED)
		sched_yield();
	return fiber;
}

static void test_shortage_that_ends_costs_nobody_his_connection(void **state)
{
	int64_t forever = FIBER_FOREVER;
	struct fiber *fiber;
	size_t i;

	(void)state;
	for (i = 0; i < ERRORS; i++) {
		arm(&accepting, errors[i], FOR_EVER);
		come();
		fiber = try_in_vain(&forever);
		accepting.calls = 0;
		serve(fiber);
		close(client);
	}
	/* Different errors, one after the other. */
	come();
	arm(&accepting, ENFILE, FOR_EVER);
	fiber = try_in_vain(&forever);
	arm(&accepting, ENOMEM, 2);
	serve(fiber);
	assert_int_equal(accepting.failed, 2);
}

static void test_shortage_is_rested_through_until_cancelled(void **state)
{
	int64_t forever = FIBER_FOREVER;
	struct fiber *fiber;
	size_t i;

	(void)state;
	come();
	for (i = 0; i < ERRORS; i++) {
		arm(&accepting, errors[i], FOR_EVER);
		fiber = try_in_vain(&forever);
		assert_int_equal(fiber_cancel(fiber), 0);
		assert_int_equal(inside_join_cancelled(fiber), -ECANCELED);
	}
	arm(&accepting, 0, 0);
	serve(inside_spawn(do_accept, &forever));
}

static void test_shortage_is_rested_through_until_closed(void **state)
{
	int64_t forever = FIBER_FOREVER;
	struct fiber *fiber;

	(void)state;
	come();
	arm(&accepting, ENFILE, FOR_EVER);
	fiber = try_in_vain(&forever);
	assert_int_equal(inside(do_close, &listener), 0);
	assert_int_equal(inside_join(fiber), -EBADF);
	listener = -1;
}

/* These errors are no shortage: the connection died in the queue, or a signal came. */
static void test_shortage_is_not_what_is_tried_again_at_once(void **state)
{
	static const int others[] = {ECONNABORTED, EINTR,  EHOSTDOWN,	EHOSTUNREACH, ENETDOWN,
				     ENETUNREACH,  ENONET, ENOPROTOOPT, EPROTO};
	int64_t deadline = 0;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof others / sizeof others[0]; i++) {
		come();
		arm(&accepting, others[i], 3);
		serve(inside_spawn(do_accept, &deadline));
		assert_int_equal(accepting.failed, 3);
		close(client);
	}
	client = -1;
}

/* The connection is known before the ring is used, and can be accepted without the ring. */
static void test_shortage_of_the_ring_itself_stops_nobody(void **state)
{
	static const int others[] = {ENOMEM, EAGAIN, EBUSY};
	int64_t deadline = 0;
	size_t i;

	(void)state;
	if (!fib_os_accept_is_sure())
		skip();
	for (i = 0; i < 3; i++) {
		come();
		arm(&entering, others[i], 1);
		serve(inside_spawn(do_accept, &deadline));
		assert_int_equal(entering.failed, 1);
		close(client);
		assert_true(fib_os_accept_is_sure());
	}
	client = -1;
}

static int start(void **state)
{
	/* The ring is made before anything fails. */
	fib_os_accept_is_sure();
	return inside_start(state);
}

int main(void)
{
	static int waits = 0, does_not = SOCK_NONBLOCK;
#define EACH(test)                                                                     \
	{#test, test, start_listening, stop_listening, &waits},                        \
	{                                                                              \
#test "_nonblocking", test, start_listening, stop_listening, &does_not \
	}
	const struct CMUnitTest tests[] = {
		EACH(test_shortage_is_nothing_where_nobody_has_come),
		EACH(test_shortage_is_told_after_the_deadline),
		EACH(test_shortage_is_looked_at_now_and_then),
		EACH(test_shortage_that_ends_costs_nobody_his_connection),
		EACH(test_shortage_is_rested_through_until_cancelled),
		EACH(test_shortage_is_rested_through_until_closed),
		EACH(test_shortage_is_not_what_is_tried_again_at_once),
		cmocka_unit_test_prestate_setup_teardown(
			test_shortage_of_the_ring_itself_stops_nobody, start_listening,
			stop_listening, &waits),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, start, inside_stop);
}
