/* SPDX-License-Identifier: MIT */
/* test_peer.c - a connection may be slow, silent, broken or closed */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <sys/mman.h>

#include "records.h"
#include "talk.h"
#include "tests/harness/watchdog.h"

static struct talk *t;

static int set_up(void **state)
{
	const int rc = talk_set_up(state);

	t = *state;
	return rc;
}

/* Check that the answer is one ERROR frame, and that the connection is closed. */
static void assert_refused(int error, const char *text)
{
	struct fib_wire_error e;
	const void *payload = NULL;
	size_t length;

	assert_int_equal(talk_frame(t, &payload, &length), FIB_WIRE_ERROR);
	assert_int_equal(length, sizeof e);
	memcpy(&e, payload, sizeof e);
	assert_int_equal(e.error, error);
	assert_non_null(strstr(e.text, text));
	assert_int_equal(t->at, t->size);
	assert_int_equal(t->peer.fd, -1);
}

static void test_peer_answers_a_request(void **state)
{
	const struct fib_wire_process *p;
	const void *payload = NULL;
	size_t length;

	(void)state;
	talk_request(t, FIB_WIRE_HELLO, NULL, 0);
	talk_run(t);
	assert_int_equal(talk_frame(t, &payload, &length), FIB_WIRE_PROCESS);
	assert_int_equal(length, sizeof *p);
	assert_int_equal(talk_frame(t, &payload, &length), FIB_WIRE_END);
	assert_int_equal(talk_frame(t, &payload, &length), 0);
	assert_true(t->peer.fd >= 0);
}

static void test_peer_answers_a_request_that_comes_byte_by_byte(void **state)
{
	struct fib_wire_header h = {FIB_WIRE_MAGIC, FIB_WIRE_VERSION, FIB_WIRE_SHOW, 8};
	const void *payload = NULL;
	uint64_t id = 1u << 30;
	unsigned char all[sizeof h + sizeof id];
	size_t i, length;

	(void)state;
	memcpy(all, &h, sizeof h);
	memcpy(all + sizeof h, &id, sizeof id);
	for (i = 0; i < sizeof all; i++) {
		assert_int_equal(t->size, 0);
		talk_send(t, all + i, 1);
		talk_run(t);
	}
	payload = talk_find(t, FIB_WIRE_ERROR, &length);
	assert_non_null(payload);
	assert_int_equal(((const struct fib_wire_error *)payload)->error, -ESRCH);
}

static void test_peer_answers_requests_that_come_together_one_after_another(void **state)
{
	size_t length;

	(void)state;
	talk_request(t, FIB_WIRE_HELLO, NULL, 0);
	talk_request(t, FIB_WIRE_LIST, NULL, 0);
	talk_request(t, FIB_WIRE_HELLO, NULL, 0);
	talk_run(t);
	assert_non_null(talk_find(t, FIB_WIRE_END, &length));
	assert_non_null(talk_find(t, FIB_WIRE_LAYOUT, &length));
	assert_non_null(talk_find(t, FIB_WIRE_END, &length));
	assert_non_null(talk_find(t, FIB_WIRE_END, &length));
	assert_int_equal(t->at, t->size);
}

static void test_peer_skips_what_a_newer_tool_adds_to_a_request(void **state)
{
	size_t length;

	(void)state;
	talk_request(t, FIB_WIRE_HELLO, "more", 4);
	talk_request(t, FIB_WIRE_HELLO, NULL, 0);
	talk_run(t);
	assert_non_null(talk_find(t, FIB_WIRE_END, &length));
	assert_non_null(talk_find(t, FIB_WIRE_END, &length));
}

static void test_peer_garbage_gets_one_error_and_the_end(void **state)
{
	(void)state;
	talk_send(t, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", 35);
	talk_run(t);
	assert_refused(-EPROTO, "no request of fiberctl");
}

static void test_peer_request_of_another_version_gets_one_error_and_the_end(void **state)
{
	struct fib_wire_header h = {FIB_WIRE_MAGIC, 99, FIB_WIRE_HELLO, 0};

	(void)state;
	talk_send(t, &h, sizeof h);
	talk_run(t);
	assert_refused(-EPROTO, "another version");
}

static void test_peer_oversized_length_gets_one_error_and_the_end(void **state)
{
	struct fib_wire_header h = {FIB_WIRE_MAGIC, FIB_WIRE_VERSION, FIB_WIRE_SHOW, 0xffffffff};

	(void)state;
	talk_send(t, &h, sizeof h);
	talk_run(t);
	assert_refused(-EMSGSIZE, "longer than any");
}

static void test_peer_unknown_request_gets_one_error_and_the_end(void **state)
{
	(void)state;
	talk_request(t, 0x7e, NULL, 0);
	talk_run(t);
	assert_refused(-EOPNOTSUPP, "does not know");
}

static void test_peer_short_payload_gets_one_error_and_the_end(void **state)
{
	(void)state;
	talk_request(t, FIB_WIRE_SHOW, "abc", 3);
	talk_run(t);
	assert_refused(-EINVAL, "too short");
}

static void assert_dropped_when_time_is_over(void)
{
	t->now += FIB_PEER_PATIENCE - 1;
	talk_turn(t);
	assert_true(t->peer.fd >= 0);
	t->now += 1;
	talk_turn(t);
	assert_int_equal(t->peer.fd, -1);
}

static void test_peer_that_is_silent_is_dropped_when_its_time_is_over(void **state)
{
	(void)state;
	assert_dropped_when_time_is_over();
}

static void test_peer_does_not_gain_time_by_bytes(void **state)
{
	struct fib_wire_header h = {FIB_WIRE_MAGIC, FIB_WIRE_VERSION, FIB_WIRE_HELLO, 0};
	int i;

	(void)state;
	for (i = 0; i < 11 && t->peer.fd >= 0; i++) {
		talk_send(t, (char *)&h + i, 1);
		t->now += FIB_PEER_PATIENCE / 10;
		talk_turn(t);
	}
	assert_int_equal(i, 10);
	assert_int_equal(t->peer.fd, -1);
}

static void test_peer_gains_time_by_each_request(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < 5; i++) {
		t->now += FIB_PEER_PATIENCE - 1;
		talk_request(t, FIB_WIRE_HELLO, NULL, 0);
		talk_run(t);
		assert_true(t->peer.fd >= 0);
	}
}

static void test_peer_that_stops_reading_is_dropped_when_its_time_is_over(void **state)
{
	struct fiber **all = record_crowd(20000);
	int i;

	(void)state;
	talk_request(t, FIB_WIRE_LIST, NULL, 0);
	for (i = 0; i < 1000; i++)
		talk_turn(t);
	assert_true(t->peer.fd >= 0);
	assert_int_equal(fib_peer_events(&t->peer), POLLOUT);
	assert_false(fib_peer_busy(&t->peer));
	assert_dropped_when_time_is_over();
	record_disperse(all, 20000);
}

static void test_peer_answers_in_pieces_and_takes_all_the_time_we_need(void **state)
{
	struct fiber **all = record_crowd(20000);
	struct fib_wire_end end;
	const void *payload = NULL;
	size_t length;

	(void)state;
	talk_request(t, FIB_WIRE_LIST, NULL, 0);
	do {
		t->now += FIB_PEER_PATIENCE / 2;
		talk_turn(t);
		while (talk_take(t))
			;
	} while (t->peer.command);
	assert_true(t->turns > 20);
	payload = talk_find(t, FIB_WIRE_END, &length);
	assert_non_null(payload);
	memcpy(&end, payload, sizeof end);
	assert_int_equal(end.shown, 20000);
	assert_int_equal(end.total, 20000);
	record_disperse(all, 20000);
}

static void test_peer_that_goes_away_is_closed(void **state)
{
	(void)state;
	talk_request(t, FIB_WIRE_LIST, NULL, 0);
	talk_turn(t);
	close(t->fd);
	t->fd = dup(STDERR_FILENO);
	talk_turn(t);
	assert_int_equal(t->peer.fd, -1);
}

/* Addresses in it would look like pointers of the program. */
static void test_peer_that_is_closed_leaves_nothing_of_its_answer(void **state)
{
	size_t length, i;

	(void)state;
	talk_request(t, FIB_WIRE_LIST, NULL, 0);
	shutdown(t->fd, SHUT_WR);
	talk_run(t);
	assert_non_null(talk_find(t, FIB_WIRE_END, &length));
	assert_int_equal(t->peer.fd, -1);
	assert_true(t->peer.touched > 0);
	for (i = 0; i < t->peer.touched; i++)
		assert_int_equal(t->peer.out[i], 0);
}

/* Write `length` bytes that no frame keeps; then nothing is left of them. */
static void expect_forgotten(size_t length)
{
	size_t room, i;
	unsigned char *at;

	fib_peer_frame_open(&t->peer, FIB_WIRE_STACKS);
	at = fib_peer_at(&t->peer, &room);
	assert_true(length <= room);
	fib_peer_touch(&t->peer, length);
	memset(at, 0x5a, length);
	fib_peer_frame_drop(&t->peer);
	fib_peer_close(&t->peer);
	for (i = 0; i < length; i++)
		assert_int_equal(at[i], 0);
}

static void test_peer_that_is_closed_leaves_nothing_of_what_was_dropped(void **state)
{
	(void)state;
	expect_forgotten(5000);
	talk_end(t);
	talk_begin(t);
	expect_forgotten(300000);
}

/* The pages of locked memory cannot be given back. */
static void test_peer_that_is_closed_clears_locked_memory(void **state)
{
	const size_t size = 1u << 20;

	(void)state;
	if (mlock(t->peer.out, size) < 0)
		skip();
	expect_forgotten(300000);
	munlock(t->peer.out, size);
}

static void test_peer_that_has_no_more_requests_still_gets_its_answer(void **state)
{
	size_t length;

	(void)state;
	talk_request(t, FIB_WIRE_LIST, NULL, 0);
	shutdown(t->fd, SHUT_WR);
	talk_run(t);
	assert_non_null(talk_find(t, FIB_WIRE_END, &length));
	assert_int_equal(t->peer.fd, -1);
}

static void test_peer_turned_away_hears_why(void **state)
{
	struct fib_wire_error e;
	const void *payload = NULL;
	size_t length;
	int fds[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	fib_peer_turn_away(fds[0], -EBUSY, "come back later");
	close(t->fd);
	t->fd = fds[1];
	while (talk_take(t))
		;
	assert_int_equal(talk_frame(t, &payload, &length), FIB_WIRE_ERROR);
	memcpy(&e, payload, sizeof e);
	assert_int_equal(e.error, -EBUSY);
	assert_string_equal(e.text, "come back later");
}

#define PEER_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, talk_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PEER_TEST(test_peer_answers_a_request),
		PEER_TEST(test_peer_answers_a_request_that_comes_byte_by_byte),
		PEER_TEST(test_peer_answers_requests_that_come_together_one_after_another),
		PEER_TEST(test_peer_skips_what_a_newer_tool_adds_to_a_request),
		PEER_TEST(test_peer_garbage_gets_one_error_and_the_end),
		PEER_TEST(test_peer_request_of_another_version_gets_one_error_and_the_end),
		PEER_TEST(test_peer_oversized_length_gets_one_error_and_the_end),
		PEER_TEST(test_peer_unknown_request_gets_one_error_and_the_end),
		PEER_TEST(test_peer_short_payload_gets_one_error_and_the_end),
		PEER_TEST(test_peer_that_is_silent_is_dropped_when_its_time_is_over),
		PEER_TEST(test_peer_does_not_gain_time_by_bytes),
		PEER_TEST(test_peer_gains_time_by_each_request),
		PEER_TEST(test_peer_that_stops_reading_is_dropped_when_its_time_is_over),
		PEER_TEST(test_peer_answers_in_pieces_and_takes_all_the_time_we_need),
		PEER_TEST(test_peer_that_goes_away_is_closed),
		PEER_TEST(test_peer_that_is_closed_leaves_nothing_of_its_answer),
		PEER_TEST(test_peer_that_is_closed_leaves_nothing_of_what_was_dropped),
		PEER_TEST(test_peer_that_is_closed_clears_locked_memory),
		PEER_TEST(test_peer_that_has_no_more_requests_still_gets_its_answer),
		PEER_TEST(test_peer_turned_away_hears_why),
	};

	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
