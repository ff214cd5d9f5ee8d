/* SPDX-License-Identifier: MIT */
/* test_stream.c - what is written arrives once and in order, and each end of a stream has a number */
#include "pair.h"

#define LARGE ((size_t)3 << 20)

static unsigned char byte_at(size_t i)
{
	return (unsigned char)(i * 2654435761u >> 13);
}

/* -- transfers -- */

struct flow {
	struct fiber_tls *tls;
	size_t size;
	size_t step; /* bytes of a call */
	size_t moved;
	bool wrong; /* a byte is not the expected one */
	ssize_t last;
};

static void *write_flow(void *arg)
{
	struct flow *const f = arg;
	unsigned char *const bytes = malloc(f->step);

	while (f->moved < f->size) {
		const size_t want = f->step < f->size - f->moved ? f->step : f->size - f->moved;

		for (size_t i = 0; i < want; i++)
			bytes[i] = byte_at(f->moved + i);
		f->last = fiber_tls_write(f->tls, bytes, want, fiber_after(60 * SECOND));
		if (f->last <= 0)
			break;
		f->moved += (size_t)f->last;
	}
	free(bytes);
	return NULL;
}

static void *read_flow(void *arg)
{
	struct flow *const f = arg;
	unsigned char *const bytes = malloc(f->step);

	while (f->moved < f->size) {
		f->last = fiber_tls_read(f->tls, bytes, f->step, fiber_after(60 * SECOND));
		if (f->last <= 0)
			break;
		for (ssize_t i = 0; i < f->last; i++)
			f->wrong |= bytes[i] != byte_at(f->moved + (size_t)i);
		f->moved += (size_t)f->last;
	}
	free(bytes);
	return NULL;
}

struct transfer {
	struct flow flow[4];
	unsigned count; /* even: written, odd: read */
};

static void *transfer_main(void *arg)
{
	struct transfer *const t = arg;
	struct fiber *fibers[4];

	for (unsigned i = 0; i < t->count; i++)
		if (fiber_spawn(i % 2 ? read_flow : write_flow, &t->flow[i], &fibers[i]))
			abort();
	for (unsigned i = 0; i < t->count; i++)
		fiber_join(fibers[i], NULL, FIBER_FOREVER);
	return NULL;
}

static void expect_moved(struct transfer *t)
{
	for (unsigned i = 0; i < t->count; i++) {
		assert_int_equal(t->flow[i].moved, t->flow[i].size);
		assert_false(t->flow[i].wrong);
	}
}

static void test_stream_of_any_size_of_calls_arrives_once_and_in_order(void **state)
{
	static const size_t steps[] = {1, 7, 2048, 16384, 16385, 100000};
	struct pair p;

	(void)state;
	pair_open(&p);
	pair_shake(&p);
	for (size_t w = 0; w < COUNT(steps); w++) {
		for (size_t r = 0; r < COUNT(steps); r++) {
			const size_t size = steps[w] < 100 || steps[r] < 100 ? 5000 : 300000;
			struct transfer t = {.count = 2};

			t.flow[0] = (struct flow){p.server, size, steps[w], 0, false, 0};
			t.flow[1] = (struct flow){p.client, size, steps[r], 0, false, 0};
			carriers_run(transfer_main, &t);
			expect_moved(&t);
		}
	}
	pair_close(&p);
}

static void test_stream_flows_both_ways_at_once(void **state)
{
	const size_t size = carriers_scale(LARGE);
	struct transfer t = {.count = 4};
	struct pair p;

	(void)state;
	pair_open(&p);
	pair_shake(&p);
	t.flow[0] = (struct flow){p.server, size, 50000, 0, false, 0};
	t.flow[1] = (struct flow){p.client, size, 30000, 0, false, 0};
	t.flow[2] = (struct flow){p.client, size, 10000, 0, false, 0};
	t.flow[3] = (struct flow){p.server, size, 70000, 0, false, 0};
	carriers_run(transfer_main, &t);
	expect_moved(&t);
	pair_close(&p);
}

static void test_stream_shakes_hands_by_itself(void **state)
{
	struct transfer t = {.count = 2};
	struct pair p;

	(void)state;
	pair_open(&p);
	t.flow[0] = (struct flow){p.client, 1000, 1000, 0, false, 0};
	t.flow[1] = (struct flow){p.server, 1000, 1000, 0, false, 0};
	carriers_run(transfer_main, &t);
	expect_moved(&t);
	pair_close(&p);
}

/* -- deadlines -- */

struct scene {
	struct pair p;
	ssize_t results[6];
	size_t counted;
	bool wrong;
};

static void scene_open(struct scene *s)
{
	memset(s, 0, sizeof(*s));
	pair_open(&s->p);
	pair_shake(&s->p);
}

/* Write until the deadline passes in a call that counts nothing. */
static void *fill(void *arg)
{
	struct scene *const s = arg;
	static unsigned char bytes[100000];

	for (;;) {
		ssize_t n;

		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = byte_at(s->counted + i);
		n = fiber_tls_write(s->p.client, bytes, sizeof(bytes), fiber_after(5 * MS));
		if (n < 0) {
			s->results[0] = n;
			return NULL;
		}
		s->counted += (size_t)n;
	}
}

static void *finish_writing(void *arg)
{
	struct scene *const s = arg;

	s->results[1] = fiber_tls_shutdown(s->p.client, fiber_after(60 * SECOND));
	return NULL;
}

static void *drain(void *arg)
{
	struct scene *const s = arg;
	unsigned char bytes[5000];
	size_t got = 0;
	ssize_t n;

	while ((n = fiber_tls_read(s->p.server, bytes, sizeof(bytes), fiber_after(60 * SECOND))) >
	       0)
		for (ssize_t i = 0; i < n; i++)
			s->wrong |= bytes[i] != byte_at(got++);
	s->results[2] = n;
	s->results[3] = (ssize_t)got;
	return NULL;
}

static void test_stream_counts_what_was_written_when_the_deadline_passes(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s);
	carriers_run(fill, &s);
	assert_int_equal(s.results[0], -ETIMEDOUT);
	assert_true(s.counted > 0);
	pair_run(drain, finish_writing, &s);
	assert_int_equal(s.results[1], 0);
	assert_int_equal(s.results[2], 0);
	assert_int_equal(s.results[3], s.counted);
	assert_false(s.wrong);
	pair_close(&s.p);
}

static void *read_in_vain_then_well(void *arg)
{
	struct scene *const s = arg;
	char bytes[8] = "";

	s->results[0] = fiber_tls_read(s->p.server, bytes, sizeof(bytes), fiber_after(5 * MS));
	s->results[1] = fiber_tls_read(s->p.server, bytes, sizeof(bytes), 0);
	s->results[2] = fiber_tls_write(s->p.client, "well", 4, 0);
	s->results[3] = fiber_tls_read(s->p.server, bytes, sizeof(bytes), 0);
	s->wrong = memcmp(bytes, "well", 4) != 0;
	return NULL;
}

static void test_stream_read_times_out_and_goes_on(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s);
	carriers_run(read_in_vain_then_well, &s);
	assert_int_equal(s.results[0], -ETIMEDOUT);
	assert_int_equal(s.results[1], -ETIMEDOUT);
	assert_int_equal(s.results[2], 4);
	assert_int_equal(s.results[3], 4);
	assert_false(s.wrong);
	pair_close(&s.p);
}

/* -- cancellation, and callers at the same time -- */

static void *read_for_ever(void *arg)
{
	struct scene *const s = arg;
	char byte;

	s->results[0] = fiber_tls_read(s->p.server, &byte, 1, FIBER_FOREVER);
	return NULL;
}

static void *write_for_ever(void *arg)
{
	struct scene *const s = arg;
	static const char bytes[1 << 20];

	s->results[0] = fiber_tls_write(s->p.server, bytes, sizeof(bytes), FIBER_FOREVER);
	s->results[1] = fiber_tls_write(s->p.server, bytes, sizeof(bytes), FIBER_FOREVER);
	s->results[2] = fiber_tls_shutdown(s->p.server, FIBER_FOREVER);
	return NULL;
}

/* Cancel a fiber that waits in fn; another one gets -EBUSY meanwhile. */
static void cancel(struct scene *s, fiber_fn *fn)
{
	struct fiber *fiber;
	char byte;

	if (fiber_spawn(fn, s, &fiber))
		abort();
	carriers_await_suspended(fiber);
	s->results[4] = fn == read_for_ever ? fiber_tls_read(s->p.server, &byte, 1, 0)
					    : fiber_tls_write(s->p.server, "x", 1, 0);
	fiber_cancel(fiber);
	fiber_join(fiber, NULL, FIBER_FOREVER);
}

static void *cancel_reader(void *arg)
{
	struct scene *const s = arg;

	cancel(s, read_for_ever);
	/* The connection goes on. */
	fiber_tls_write(s->p.client, "on", 2, FIBER_FOREVER);
	s->results[1] = fiber_tls_read(s->p.server, (char[2]){0}, 2, fiber_after(20 * SECOND));
	return NULL;
}

static void *cancel_writer(void *arg)
{
	cancel(arg, write_for_ever);
	return NULL;
}

static void test_stream_read_is_cancelled_and_alone(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s);
	carriers_run(cancel_reader, &s);
	assert_int_equal(s.results[0], -ECANCELED);
	assert_int_equal(s.results[4], -EBUSY);
	assert_int_equal(s.results[1], 2);
	pair_close(&s.p);
}

static void test_stream_write_and_shutdown_are_cancelled_and_alone(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s);
	carriers_run(cancel_writer, &s);
	/* The first call has a count. */
	assert_in_range(s.results[0], 1, 1 << 20);
	assert_int_equal(s.results[1], -ECANCELED);
	assert_int_equal(s.results[2], -ECANCELED);
	assert_int_equal(s.results[4], -EBUSY);
	pair_close(&s.p);
}

static void *close_reader(void *arg)
{
	struct scene *const s = arg;
	struct fiber *fiber;

	if (fiber_spawn(read_for_ever, s, &fiber))
		abort();
	carriers_await_suspended(fiber);
	fiber_close(s->p.fds[0]);
	fiber_join(fiber, NULL, FIBER_FOREVER);
	s->p.fds[0] = -1;
	s->results[1] = fiber_tls_write(s->p.server, "x", 1, FIBER_FOREVER);
	return NULL;
}

static void test_stream_whose_socket_is_closed_has_ended(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s);
	carriers_run(close_reader, &s);
	assert_int_equal(s.results[0], -EBADF);
	assert_int_equal(s.results[1], -EBADF);
	pair_close(&s.p);
}

static void *close_writer(void *arg)
{
	struct scene *const s = arg;
	struct fiber *fiber;

	if (fiber_spawn(write_for_ever, s, &fiber))
		abort();
	carriers_await_suspended(fiber);
	fiber_close(s->p.fds[0]);
	fiber_join(fiber, NULL, FIBER_FOREVER);
	s->p.fds[0] = -1;
	return NULL;
}

static void test_stream_write_ends_when_its_socket_is_closed(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s);
	carriers_run(close_writer, &s);
	/* The first call has the count of the records that had left. */
	assert_in_range(s.results[0], 1, (1 << 20) - 1);
	assert_int_equal(s.results[1], -EBADF);
	assert_int_equal(s.results[2], -EBADF);
	pair_close(&s.p);
}

/* Nothing must be waited for: the socket has room, and the bytes are there. */
static void *move_when_cancelled(void *arg)
{
	struct scene *const s = arg;

	fiber_cancel(fiber_self());
	s->results[0] = fiber_tls_write(s->p.client, "x", 1, FIBER_FOREVER);
	s->results[1] = fiber_tls_shutdown(s->p.client, FIBER_FOREVER);
	s->results[2] = fiber_tls_write(s->p.server, "y", 1, FIBER_FOREVER);
	return NULL;
}

static void *read_both(void *arg)
{
	struct scene *const s = arg;
	char byte;

	s->results[3] = fiber_tls_read(s->p.server, &byte, 1, FIBER_FOREVER);
	s->results[4] = fiber_tls_read(s->p.server, &byte, 1, FIBER_FOREVER);
	s->results[5] = fiber_tls_read(s->p.client, &byte, 1, FIBER_FOREVER);
	return NULL;
}

static void test_stream_of_a_cancelled_fiber_moves_what_needs_no_wait(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s);
	carriers_run(move_when_cancelled, &s);
	carriers_run(read_both, &s);
	assert_int_equal(s.results[0], 1);
	assert_int_equal(s.results[1], 0);
	assert_int_equal(s.results[2], 1);
	assert_int_equal(s.results[3], 1);
	assert_int_equal(s.results[4], 0);
	assert_int_equal(s.results[5], 1);
	pair_close(&s.p);
}

/* -- how a stream ends -- */

static void *say_goodbye(void *arg)
{
	struct scene *const s = arg;
	char bytes[8] = "";

	s->results[0] = fiber_tls_shutdown(s->p.client, FIBER_FOREVER);
	s->results[1] = fiber_tls_write(s->p.client, "x", 1, FIBER_FOREVER);
	s->results[2] = fiber_tls_read(s->p.server, bytes, sizeof(bytes), FIBER_FOREVER);
	/* The other direction is open. */
	s->results[3] = fiber_tls_write(s->p.server, "late", 4, FIBER_FOREVER);
	s->results[4] = fiber_tls_read(s->p.client, bytes, sizeof(bytes), FIBER_FOREVER);
	s->results[5] = fiber_tls_shutdown(s->p.client, FIBER_FOREVER);
	return NULL;
}

static void test_stream_is_closed_in_one_direction(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s);
	carriers_run(say_goodbye, &s);
	assert_int_equal(s.results[0], 0);
	assert_int_equal(s.results[1], -EPIPE);
	assert_int_equal(s.results[2], 0);
	assert_int_equal(s.results[3], 4);
	assert_int_equal(s.results[4], 4);
	assert_int_equal(s.results[5], 0);
	pair_close(&s.p);
}

static void *leave_without_goodbye(void *arg)
{
	struct scene *const s = arg;
	char bytes[8];

	fiber_tls_write(s->p.client, "cut", 3, FIBER_FOREVER);
	shutdown(s->p.fds[1], SHUT_WR);
	s->results[0] = fiber_tls_read(s->p.server, bytes, sizeof(bytes), FIBER_FOREVER);
	s->results[1] = fiber_tls_read(s->p.server, bytes, sizeof(bytes), FIBER_FOREVER);
	s->results[2] = fiber_tls_read(s->p.server, bytes, sizeof(bytes), FIBER_FOREVER);
	return NULL;
}

static void test_stream_that_is_cut_short_is_told_from_one_that_was_closed(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s);
	carriers_run(leave_without_goodbye, &s);
	assert_int_equal(s.results[0], 3);
	assert_int_equal(s.results[1], -ECONNABORTED);
	assert_int_equal(s.results[2], -ECONNABORTED);
	assert_string_equal(fiber_tls_error(s.p.server),
			    "the stream ended without the peer's closing message");
	pair_close(&s.p);
}

static void *reset(void *arg)
{
	const struct linger now = {.l_onoff = 1, .l_linger = 0};
	struct scene *const s = arg;
	struct fiber *fiber;

	if (fiber_spawn(read_for_ever, s, &fiber))
		abort();
	carriers_await_suspended(fiber);
	setsockopt(s->p.fds[1], SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	fiber_close(s->p.fds[1]);
	fiber_join(fiber, NULL, FIBER_FOREVER);
	s->p.fds[1] = -1;
	s->results[1] = fiber_tls_write(s->p.server, "x", 1, FIBER_FOREVER);
	return NULL;
}

static void test_stream_that_is_reset_has_that_number(void **state)
{
	struct scene s = {0};

	(void)state;
	pair_contexts(&s.p, NULL, NULL);
	pair_connect_tcp(&s.p, "localhost");
	pair_shake(&s.p);
	carriers_run(reset, &s);
	assert_int_equal(s.results[0], -ECONNRESET);
	assert_int_equal(s.results[1], -ECONNRESET);
	assert_string_equal(fiber_tls_error(s.p.server), strerror(ECONNRESET));
	pair_close(&s.p);
}

static void *write_to_nobody(void *arg)
{
	struct scene *const s = arg;

	/* Not a close: a poller may keep the socket open for a moment. */
	shutdown(s->p.fds[1], SHUT_RD);
	s->results[0] = fiber_tls_write(s->p.server, "x", 1, FIBER_FOREVER);
	s->results[1] = fiber_tls_shutdown(s->p.server, FIBER_FOREVER);
	return NULL;
}

static void test_stream_to_nobody_is_epipe_and_no_signal(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s);
	carriers_run(write_to_nobody, &s);
	assert_int_equal(s.results[0], -EPIPE);
	assert_int_equal(s.results[1], -EPIPE);
	pair_close(&s.p);
}

/* A record that is garbage, and one that was changed on its way. */
static void *send_garbage(void *arg)
{
	static const unsigned char record[] = {23,  3,	 3,   0, 20, 'g', 'a', 'r', 'b',
					       'a', 'g', 'e', 0, 1,  2,	  3,   4,   5,
					       6,   7,	 8,   9, 10, 11,  12};
	struct scene *const s = arg;
	char byte;

	fiber_write_full(s->p.fds[1], record, sizeof(record), FIBER_FOREVER);
	s->results[0] = fiber_tls_read(s->p.server, &byte, 1, FIBER_FOREVER);
	s->results[1] = fiber_tls_write(s->p.server, "x", 1, FIBER_FOREVER);
	/* The peer was sent an alert. */
	s->results[2] = fiber_tls_read(s->p.client, &byte, 1, fiber_after(20 * SECOND));
	return NULL;
}

/* The peer answers in the middle of an upload and reads no more of it. */
static void *upload_to_one_that_answers(void *arg)
{
	static const char bytes[100000];
	struct scene *const s = arg;
	char answer[8];

	fiber_tls_write(s->p.server, "denied", 6, FIBER_FOREVER);
	fiber_tls_shutdown(s->p.server, FIBER_FOREVER);
	shutdown(s->p.fds[0], SHUT_RD);
	s->results[0] = fiber_tls_write(s->p.client, bytes, sizeof(bytes), FIBER_FOREVER);
	s->results[1] = fiber_tls_read(s->p.client, answer, sizeof(answer), FIBER_FOREVER);
	s->results[2] = fiber_tls_read(s->p.client, answer, sizeof(answer), FIBER_FOREVER);
	s->results[3] = fiber_tls_write(s->p.client, bytes, 1, FIBER_FOREVER);
	return NULL;
}

static void test_stream_is_read_to_its_end_after_a_failed_write(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s);
	carriers_run(upload_to_one_that_answers, &s);
	assert_int_equal(s.results[0], -EPIPE);
	assert_int_equal(s.results[1], 6);
	assert_int_equal(s.results[2], 0);
	assert_int_equal(s.results[3], -EPIPE);
	pair_close(&s.p);
}

static void test_stream_with_a_record_of_garbage_is_a_protocol_error(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s);
	carriers_run(send_garbage, &s);
	assert_int_equal(s.results[0], -EPROTO);
	assert_int_equal(s.results[1], -EPROTO);
	assert_string_equal(fiber_tls_error(s.p.server), "decryption failed or bad record mac");
	assert_int_equal(s.results[2], -EPROTO);
	assert_non_null(strstr(fiber_tls_error(s.p.client), "alert bad record mac"));
	pair_close(&s.p);
}

static void *move_nothing(void *arg)
{
	struct scene *const s = arg;

	s->results[0] = fiber_tls_read(s->p.server, NULL, 0, FIBER_FOREVER);
	s->results[1] = fiber_tls_write(s->p.server, NULL, 0, FIBER_FOREVER);
	return NULL;
}

static void test_stream_moves_nothing_without_waiting(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s);
	s.results[0] = s.results[1] = -1;
	carriers_run(move_nothing, &s);
	assert_int_equal(s.results[0], 0);
	assert_int_equal(s.results[1], 0);
	pair_close(&s.p);
}

static void test_stream_is_not_closed_before_the_handshake(void **state)
{
	struct pair p;
	char byte;

	(void)state;
	pair_open(&p);
	assert_int_equal(fiber_tls_shutdown(p.client, 0), 0);
	assert_int_equal(recv(p.fds[0], &byte, 1, MSG_DONTWAIT), -1);
	pair_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stream_of_any_size_of_calls_arrives_once_and_in_order),
		cmocka_unit_test(test_stream_flows_both_ways_at_once),
		cmocka_unit_test(test_stream_shakes_hands_by_itself),
		cmocka_unit_test(test_stream_counts_what_was_written_when_the_deadline_passes),
		cmocka_unit_test(test_stream_read_times_out_and_goes_on),
		cmocka_unit_test(test_stream_read_is_cancelled_and_alone),
		cmocka_unit_test(test_stream_write_and_shutdown_are_cancelled_and_alone),
		cmocka_unit_test(test_stream_whose_socket_is_closed_has_ended),
		cmocka_unit_test(test_stream_write_ends_when_its_socket_is_closed),
		cmocka_unit_test(test_stream_of_a_cancelled_fiber_moves_what_needs_no_wait),
		cmocka_unit_test(test_stream_is_closed_in_one_direction),
		cmocka_unit_test(test_stream_that_is_cut_short_is_told_from_one_that_was_closed),
		cmocka_unit_test(test_stream_that_is_reset_has_that_number),
		cmocka_unit_test(test_stream_to_nobody_is_epipe_and_no_signal),
		cmocka_unit_test(test_stream_is_read_to_its_end_after_a_failed_write),
		cmocka_unit_test(test_stream_with_a_record_of_garbage_is_a_protocol_error),
		cmocka_unit_test(test_stream_moves_nothing_without_waiting),
		cmocka_unit_test(test_stream_is_not_closed_before_the_handshake),
	};

	harness_watchdog(100);
	return cmocka_run_group_tests(tests, pair_certificates, NULL);
}
