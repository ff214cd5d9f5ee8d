/* SPDX-License-Identifier: MIT */
/* test_chan.c - each element is received once, in sending order, by the longest-waiting receiver */
#include "waiting.h"

struct one {
	struct fiber_chan *chan;
	int value; /* sent, or received */
	int64_t deadline;
};

static void *send_one(void *arg)
{
	struct one *o = arg;

	return (void *)(intptr_t)fiber_chan_send(o->chan, &o->value, o->deadline);
}

static void *recv_one(void *arg)
{
	struct one *o = arg;

	return (void *)(intptr_t)fiber_chan_recv(o->chan, &o->value, o->deadline);
}

static void *send_one_pinned(void *arg)
{
	void *rc;

	fiber_pin();
	rc = send_one(arg);
	fiber_unpin();
	return rc;
}

static void test_chan_keeps_elements_in_order_around_its_ring(void **state)
{
	struct fiber_chan *c = waiting_chan(3);
	int i;

	(void)state;
	assert_int_equal(recv_now(c), -ETIMEDOUT);
	for (i = 0; i < 20; i += 2) {
		assert_int_equal(send_now(c, i), 0);
		assert_int_equal(send_now(c, i + 1), 0);
		assert_int_equal(recv_now(c), i);
		assert_int_equal(recv_now(c), i + 1);
	}
	for (i = 0; i < 3; i++)
		assert_int_equal(send_now(c, i), 0);
	assert_int_equal(send_now(c, 3), -ETIMEDOUT);
	for (i = 0; i < 3; i++)
		assert_int_equal(recv_now(c), i);
	assert_int_equal(recv_now(c), -ETIMEDOUT);
	fiber_chan_unref(c);
}

static void test_chan_too_big_to_be_is_refused(void **state)
{
	struct fiber_chan *c = (void *)1;

	(void)state;
	assert_int_equal(fiber_chan_new(SIZE_MAX / 2, 3, &c), -ENOMEM);
	assert_int_equal(fiber_chan_new(1, SIZE_MAX, &c), -ENOMEM);
	assert_ptr_equal(c, (void *)1);
}

static void test_chan_of_nothing_counts(void **state)
{
	struct fiber_chan *c;

	(void)state;
	assert_int_equal(fiber_chan_new(0, 2, &c), 0);
	assert_int_equal(fiber_chan_send(c, NULL, 0), 0);
	assert_int_equal(fiber_chan_send(c, NULL, 0), 0);
	assert_int_equal(fiber_chan_send(c, NULL, 0), -ETIMEDOUT);
	assert_int_equal(fiber_chan_recv(c, NULL, 0), 0);
	assert_int_equal(fiber_chan_recv(c, NULL, 0), 0);
	assert_int_equal(fiber_chan_recv(c, NULL, 0), -ETIMEDOUT);
	fiber_chan_unref(c);
}

static void test_chan_without_room_waits_for_the_other_side(void **state)
{
	struct fiber_chan *c = waiting_chan(0);
	struct one o = {c, 7, FIBER_FOREVER};
	struct fiber *f;

	(void)state;
	assert_int_equal(send_now(c, 1), -ETIMEDOUT);
	assert_int_equal(recv_now(c), -ETIMEDOUT);
	f = queue_spawn(send_one, &o);
	waiting_await(c, FIB_CHAN_SEND, 1);
	assert_int_equal(recv_now(c), 7);
	assert_int_equal(queue_join(f), 0);
	f = queue_spawn(recv_one, &o);
	waiting_await(c, FIB_CHAN_RECV, 1);
	assert_int_equal(send_now(c, 8), 0);
	/* The element belongs to the receiver: later receivers do not get it. */
	assert_int_equal(recv_now(c), -ETIMEDOUT);
	assert_int_equal(queue_join(f), 0);
	assert_int_equal(o.value, 8);
	fiber_chan_unref(c);
}

static void test_chan_sender_waits_behind_what_is_buffered(void **state)
{
	struct fiber_chan *c = waiting_chan(2);
	struct one o[2] = {{c, 2, FIBER_FOREVER}, {c, 3, FIBER_FOREVER}};
	struct fiber *f[2];
	int i;

	(void)state;
	send_now(c, 0);
	send_now(c, 1);
	for (i = 0; i < 2; i++) {
		f[i] = queue_spawn(send_one, &o[i]);
		waiting_await(c, FIB_CHAN_SEND, (uint32_t)i + 1);
	}
	for (i = 0; i < 4; i++)
		assert_int_equal(recv_now(c), i);
	for (i = 0; i < 2; i++)
		assert_int_equal(queue_join(f[i]), 0);
	fiber_chan_unref(c);
}

static void stand_in_line(enum fib_chan_side side)
{
	fiber_fn *const fn = side == FIB_CHAN_SEND ? send_one : recv_one;
	struct fiber_chan *c = waiting_chan(0);
	struct fiber *fibers[8];
	pthread_t threads[8];
	struct one o[8];
	int i;

	for (i = 0; i < 8; i++) {
		o[i] = (struct one){c, i, FIBER_FOREVER};
		if (i % 2)
			assert_int_equal(pthread_create(&threads[i], NULL, fn, &o[i]), 0);
		else
			fibers[i] = queue_spawn(fn, &o[i]);
		waiting_await(c, side, (uint32_t)i + 1);
	}
	for (i = 0; i < 8; i++) {
		if (side == FIB_CHAN_SEND)
			assert_int_equal(recv_now(c), i);
		else
			assert_int_equal(send_now(c, 100 + i), 0);
	}
	for (i = 0; i < 8; i++) {
		if (i % 2)
			pthread_join(threads[i], NULL);
		else
			assert_int_equal(queue_join(fibers[i]), 0);
		if (side == FIB_CHAN_RECV)
			assert_int_equal(o[i].value, 100 + i);
	}
	fiber_chan_unref(c);
}

static void test_chan_serves_fibers_and_threads_in_the_order_they_came(void **state)
{
	(void)state;
	stand_in_line(FIB_CHAN_SEND);
	stand_in_line(FIB_CHAN_RECV);
}

static void test_chan_wait_that_timed_out_leaves_nothing(void **state)
{
	struct fiber_chan *c = waiting_chan(0);
	struct one o = {c, 5, 0};
	pthread_t thread;
	void *rc;

	(void)state;
	o.deadline = fiber_after(2 * MS);
	assert_int_equal(queue_join(queue_spawn(recv_one, &o)), -ETIMEDOUT);
	assert_true(fiber_now() >= o.deadline);
	o.deadline = fiber_after(2 * MS);
	assert_int_equal(queue_join(queue_spawn(send_one, &o)), -ETIMEDOUT);
	o.deadline = fiber_after(2 * MS);
	assert_int_equal(pthread_create(&thread, NULL, send_one, &o), 0);
	pthread_join(thread, &rc);
	assert_int_equal((intptr_t)rc, -ETIMEDOUT);
	assert_int_equal(o.value, 5);
	assert_int_equal(waiting(c, FIB_CHAN_SEND), 0);
	assert_int_equal(waiting(c, FIB_CHAN_RECV), 0);
	assert_int_equal(recv_now(c), -ETIMEDOUT);
	fiber_chan_unref(c);
}

static void test_chan_closed_is_drained_first(void **state)
{
	struct fiber_chan *c = waiting_chan(4);

	(void)state;
	send_now(c, 1);
	send_now(c, 2);
	assert_int_equal(fiber_chan_close(c), 0);
	assert_int_equal(fiber_chan_close(c), -EPIPE);
	assert_int_equal(send_now(c, 3), -EPIPE);
	assert_int_equal(recv_now(c), 1);
	assert_int_equal(recv_now(c), 2);
	assert_int_equal(recv_now(c), -EPIPE);
	assert_int_equal(recv_now(c), -EPIPE);
	fiber_chan_unref(c);
}

static void test_chan_close_wakes_all_who_wait(void **state)
{
	struct fiber_chan *full = waiting_chan(1), *empty = waiting_chan(1);
	struct one s = {full, 9, FIBER_FOREVER}, r = {empty, 9, FIBER_FOREVER};
	struct fiber *senders[3], *receivers[3];
	pthread_t thread;
	void *rc;
	int i;

	(void)state;
	send_now(full, 1);
	for (i = 0; i < 3; i++) {
		senders[i] = queue_spawn(send_one, &s);
		receivers[i] = queue_spawn(recv_one, &r);
	}
	assert_int_equal(pthread_create(&thread, NULL, recv_one, &r), 0);
	waiting_await(full, FIB_CHAN_SEND, 3);
	waiting_await(empty, FIB_CHAN_RECV, 4);
	fiber_chan_close(full);
	fiber_chan_close(empty);
	for (i = 0; i < 3; i++) {
		assert_int_equal(queue_join(senders[i]), -EPIPE);
		assert_int_equal(queue_join(receivers[i]), -EPIPE);
	}
	pthread_join(thread, &rc);
	assert_int_equal((intptr_t)rc, -EPIPE);
	/* The channel does not have the element that was not sent. */
	assert_int_equal(recv_now(full), 1);
	assert_int_equal(recv_now(full), -EPIPE);
	fiber_chan_unref(full);
	fiber_chan_unref(empty);
}

static void *free_after_use(void *arg)
{
	struct one *o = arg;
	int rc = fiber_chan_recv(o->chan, &o->value, FIBER_FOREVER);

	fiber_chan_unref(o->chan);
	return (void *)(intptr_t)rc;
}

static void test_chan_last_reference_may_go_at_once_after_a_hand_over(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < 200; i++) {
		struct one o = {waiting_chan(0), -1, FIBER_FOREVER};
		struct fiber *f;

		fiber_chan_ref(o.chan);
		f = queue_spawn(free_after_use, &o);
		assert_int_equal(fiber_chan_send(o.chan, &i, FIBER_FOREVER), 0);
		fiber_chan_unref(o.chan);
		assert_int_equal(queue_join(f), 0);
		assert_int_equal(o.value, i);
	}
	fiber_chan_unref(NULL);
}

struct race {
	struct fiber_chan *chan;
	_Atomic unsigned sent, got;
	_Atomic uint64_t sum_sent, sum_got;
};

static void *recv_briefly(void *arg)
{
	struct race *r = arg;
	int i, value;

	for (i = 0; i < 1000; i++) {
		if (fiber_chan_recv(r->chan, &value, fiber_after(i % 4 * 10000)) == 0) {
			fib_add(&r->got, 1);
			fib_add(&r->sum_got, (uint64_t)value);
		}
	}
	return NULL;
}

static void *send_briefly(void *arg)
{
	struct race *r = arg;
	int i;

	for (i = 0; i < 1000; i++) {
		if (fiber_chan_send(r->chan, &i, fiber_after(i % 3 * 10000)) == 0) {
			fib_add(&r->sent, 1);
			fib_add(&r->sum_sent, (uint64_t)i);
		}
	}
	return NULL;
}

/* A partner and a deadline at the same time: an element reported as sent is received. */
static void test_chan_deadline_against_partner_loses_and_doubles_nothing(void **state)
{
	unsigned moved = 0;
	size_t capacity;

	(void)state;
	for (capacity = 0; capacity < 3; capacity++) {
		struct race r = {.chan = waiting_chan(capacity)};
		struct fiber *f[6];
		pthread_t threads[2];
		int i, value;

		for (i = 0; i < 6; i++)
			f[i] = queue_spawn(i % 2 ? send_briefly : recv_briefly, &r);
		assert_int_equal(pthread_create(&threads[0], NULL, send_briefly, &r), 0);
		assert_int_equal(pthread_create(&threads[1], NULL, recv_briefly, &r), 0);
		for (i = 0; i < 6; i++)
			queue_join(f[i]);
		for (i = 0; i < 2; i++)
			pthread_join(threads[i], NULL);
		while ((value = recv_now(r.chan)) >= 0) {
			r.got++;
			r.sum_got += (uint64_t)value;
		}
		moved += r.got;
		assert_int_equal(r.sent, r.got);
		assert_int_equal(r.sum_sent, r.sum_got);
		assert_int_equal(waiting(r.chan, FIB_CHAN_SEND), 0);
		assert_int_equal(waiting(r.chan, FIB_CHAN_RECV), 0);
		fiber_chan_unref(r.chan);
	}
	assert_true(moved > 0);
}

static void test_chan_wait_of_a_pinned_fiber_follows_the_policy(void **state)
{
	struct fiber_chan *c = waiting_chan(0);
	struct one o = {c, 3, FIBER_FOREVER};
	struct fiber *f;

	(void)state;
	fiber_set_pinned_policy(rt, FIBER_PINNED_ERROR);
	assert_int_equal(queue_join(queue_spawn(send_one_pinned, &o)), -EDEADLK);
	assert_int_equal(waiting(c, FIB_CHAN_SEND), 0);
	fiber_set_pinned_policy(rt, FIBER_PINNED_SILENT);
	f = queue_spawn(send_one_pinned, &o);
	waiting_await(c, FIB_CHAN_SEND, 1);
	assert_int_equal(recv_now(c), 3);
	assert_int_equal(queue_join(f), 0);
	fiber_chan_unref(c);
}

static void test_chan_waiter_is_recorded_with_the_channel_and_its_name(void **state)
{
	struct fiber_chan *c = waiting_chan(0);
	struct one o = {c, 1, FIBER_FOREVER};
	struct fiber *f;

	(void)state;
	assert_int_equal(fiber_object_name(c, "orders"), 0);
	assert_string_equal(c->name, "orders");
	f = queue_spawn(recv_one, &o);
	waiting_await(c, FIB_CHAN_RECV, 1);
	assert_int_equal(f->wait_kind, FIB_WAIT_CHAN_RECV);
	assert_int_equal(f->wait_object, (uintptr_t)c);
	fiber_chan_close(c);
	assert_int_equal(queue_join(f), -EPIPE);
	fiber_chan_unref(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chan_keeps_elements_in_order_around_its_ring),
		cmocka_unit_test(test_chan_too_big_to_be_is_refused),
		cmocka_unit_test(test_chan_of_nothing_counts),
		cmocka_unit_test(test_chan_without_room_waits_for_the_other_side),
		cmocka_unit_test(test_chan_sender_waits_behind_what_is_buffered),
		cmocka_unit_test(test_chan_serves_fibers_and_threads_in_the_order_they_came),
		cmocka_unit_test(test_chan_wait_that_timed_out_leaves_nothing),
		cmocka_unit_test(test_chan_closed_is_drained_first),
		cmocka_unit_test(test_chan_close_wakes_all_who_wait),
		cmocka_unit_test(test_chan_last_reference_may_go_at_once_after_a_hand_over),
		cmocka_unit_test(test_chan_deadline_against_partner_loses_and_doubles_nothing),
		cmocka_unit_test(test_chan_wait_of_a_pinned_fiber_follows_the_policy),
		cmocka_unit_test(test_chan_waiter_is_recorded_with_the_channel_and_its_name),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, queue_start, queue_stop);
}
