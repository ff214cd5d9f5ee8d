/* SPDX-License-Identifier: MIT */
/*
 * test_ready.c - what arrives at an empty socket is received for its waiter only
 *
 * The receiving system call is replaced here: it records for which fiber it was made, and can be
 * delayed in the middle.
 */
#include "accepted.h"

#include "io/descriptor.h"
#include "os/calls.h"

#define PATIENCE (200 * MS)

static _Atomic unsigned for_others; /* calls that were not made by a fiber */
static _Atomic int holding;	    /* delay the next of these calls */
static _Atomic int held;	    /* a call is delayed */
static _Atomic int closed;	    /* the descriptor was closed, so the delay ends */

/*
 * Delay the carrier, as if it had lost its CPU. If the delay blocks the other fibers, it ends after
 * a while.
 */
static void hold_up(void)
{
	const int64_t until = fiber_after(PATIENCE);

	held = 1;
	while (fiber_now() < until && !closed)
		sched_yield();
}

ssize_t fib_os_recv_now(int fd, void *buf, size_t size, int flags)
{
	ssize_t n;

	if (!fiber_self()) {
		for_others++;
		if (holding) {
			holding = 0;
			hold_up();
		}
	}
	n = recv(fd, buf, size, flags);
	return n < 0 ? -errno : n;
}

ssize_t fib_os_send_now(int fd, const void *buf, size_t size, int flags)
{
	const ssize_t n = send(fd, buf, size, flags);

	return n < 0 ? -errno : n;
}

static struct fiber *spawn_reader(struct reading *r)
{
	struct fiber *fiber;

	*r = (struct reading){sizeof r->bytes, FIBER_FOREVER, ""};
	fiber = inside_spawn(do_read, r);
	until_it_waits(fiber);
	return fiber;
}

/* The first wait registers the socket, which may report earlier events: consume these. */
static void settle(void)
{
	struct reading r;
	struct fiber *fiber;

	drain();
	fiber = spawn_reader(&r);
	assert_int_equal(send(client, "settled", 7, 0), 7);
	assert_int_equal(inside_join(fiber), 7);
	for_others = 0;
}

static void test_ready_receives_for_who_waits(void **state)
{
	struct reading r;
	struct fiber *fiber;
	unsigned i;

	(void)state;
	settle();
	for (i = 0; i < 50; i++) {
		fiber = spawn_reader(&r);
		assert_int_equal(send(client, "more", 4, 0), 4);
		assert_int_equal(inside_join(fiber), 4);
		assert_memory_equal(r.bytes, "more", 4);
	}
	assert_true(for_others >= 50);
}

static void test_ready_gives_one_message_to_one_of_two(void **state)
{
	struct reading r[2];
	struct fiber *fiber[2];
	intptr_t n[2];

	(void)state;
	settle();
	fiber[0] = spawn_reader(&r[0]);
	fiber[1] = spawn_reader(&r[1]);
	assert_int_equal(send(client, "a", 1, 0), 1);
	while (fiber_state(fiber[0]) != FIBER_DEAD && fiber_state(fiber[1]) != FIBER_DEAD)
		sched_yield();
	assert_int_equal(send(client, "bc", 2, 0), 2);
	n[0] = inside_join(fiber[0]);
	n[1] = inside_join(fiber[1]);
	assert_int_equal(n[0] + n[1], 3);
	assert_int_equal(r[n[0] == 1 ? 0 : 1].bytes[0], 'a');
}

static void test_ready_receives_nothing_for_who_has_gone(void **state)
{
	struct reading r;
	struct fiber *fiber;

	(void)state;
	settle();
	fiber = spawn_reader(&r);
	fiber_cancel(fiber);
	assert_int_equal(inside_join_cancelled(fiber), -ECANCELED);
	assert_int_equal(send(client, "later", 5, 0), 5);
	r = (struct reading){sizeof r.bytes, FIBER_FOREVER, ""};
	assert_int_equal(inside(do_read, &r), 5);
	assert_memory_equal(r.bytes, "later", 5);
}

/* Two bytes of room: the rest is there at once, for the next reader. */
static void test_ready_leaves_what_does_not_fit(void **state)
{
	struct reading r = {2, FIBER_FOREVER, ""};
	struct fiber *fiber;

	(void)state;
	settle();
	fiber = inside_spawn(do_read, &r);
	until_it_waits(fiber);
	assert_int_equal(send(client, "abc", 3, 0), 3);
	assert_int_equal(inside_join(fiber), 2);
	assert_int_equal(inside(do_read, &r), 1);
	assert_int_equal(r.bytes[0], 'c');
}

static int stranger[2];

/* Close the number during the call and reuse it for another connection; on the other carrier. */
static void *reuse(void *arg)
{
	(void)arg;
	while (!held)
		sched_yield();
	if (fiber_close(server) < 0 || dup2(stranger[0], server) != server)
		abort();
	closed = 1;
	return NULL;
}

static void test_ready_receives_nothing_of_another_connection(void **state)
{
	struct reading r;
	struct fiber *reader, *closer;
	char c;

	(void)state;
	settle();
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, stranger), 0);
	assert_int_equal(send(stranger[1], "x", 1, 0), 1);
	reader = spawn_reader(&r);
	closer = inside_spawn(reuse, NULL);
	while (fiber_state(closer) != FIBER_RUNNING)
		sched_yield();
	holding = 1;
	assert_int_equal(send(client, "mine", 4, 0), 4);
	assert_int_equal(inside_join(reader), 4);
	assert_memory_equal(r.bytes, "mine", 4);
	inside_join(closer);
	assert_int_equal(recv(server, &c, 1, MSG_DONTWAIT), 1);
	assert_int_equal(c, 'x');
	close(stranger[0]);
	close(stranger[1]);
}

/* The number was closed without the library and reused, and its old waiters have not been woken
 * yet. */
static void test_ready_receives_nothing_for_who_waits_for_what_was_closed(void **state)
{
	struct fib_descriptor *d;
	struct fiber *reader;
	struct reading r;
	char c;

	(void)state;
	settle();
	reader = spawn_reader(&r);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, stranger), 0);
	assert_int_equal(send(stranger[1], "x", 1, 0), 1);
	/* First, because a poller without edges of its own reports the new file at once. */
	d = fib_descriptor_find(server);
	d->generation++;
	assert_int_equal(dup2(stranger[0], server), server);
	fib_descriptor_ready(fib_descriptor_token(server, d), POLLIN);
	assert_int_equal(inside_join(reader), -EBADF);
	assert_int_equal(recv(server, &c, 1, MSG_DONTWAIT), 1);
	assert_int_equal(c, 'x');
	close(stranger[0]);
	close(stranger[1]);
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, connect_both, disconnect_both)
	const struct CMUnitTest tests[] = {
		EACH(test_ready_receives_for_who_waits),
		EACH(test_ready_gives_one_message_to_one_of_two),
		EACH(test_ready_receives_nothing_for_who_has_gone),
		EACH(test_ready_leaves_what_does_not_fit),
		EACH(test_ready_receives_nothing_of_another_connection),
		EACH(test_ready_receives_nothing_for_who_waits_for_what_was_closed),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, inside_start, inside_stop);
}
