/* SPDX-License-Identifier: MIT */
/* test_serve.c - the work of a peer in one short turn, and what it leaves to the next */
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

#define US INT64_C(1000)

static void test_peer_in_a_brief_turn_reads_or_answers_a_piece_or_writes_some(void **state)
{
	struct talk *const t = *state;
	struct fiber **all = record_crowd(20000);
	const size_t least = 4u << 10,
		     most = 7u << 10; /* least worth a write; most that one turn may write */
	struct fib_wire_end end;
	const void *payload;
	size_t length, before, filled;
	unsigned writes = 0, pieces = 0;

	t->brief = true;
	talk_request(t, FIB_WIRE_LIST, NULL, 0);
	talk_turn(t);
	assert_non_null(t->peer.command);
	assert_false(talk_take(t));
	do {
		before = t->size;
		filled = fib_peer_filled(&t->peer);
		t->now += US;
		talk_turn(t);
		while (talk_take(t))
			;
		if (t->size > before) {
			writes++;
			assert_in_range(t->size - before, t->peer.command ? least : 1, most);
			assert_int_equal(fib_peer_filled(&t->peer), 0);
		} else {
			pieces++;
			assert_in_range(fib_peer_filled(&t->peer) - filled, 0, least);
		}
	} while (t->peer.command || fib_peer_filled(&t->peer));
	assert_in_range(writes, 100, pieces / 2);
	payload = talk_find(t, FIB_WIRE_END, &length);
	assert_non_null(payload);
	memcpy(&end, payload, sizeof end);
	assert_int_equal(end.shown, 20000);
	record_disperse(all, 20000);
}

/* Return how many bytes of a large frame are written in one brief turn. */
static size_t written_of(struct talk *t, size_t size, bool granted)
{
	static unsigned char large[1000 << 10];
	size_t before = t->size;

	t->brief = true;
	t->peer.granted = granted;
	fib_peer_frame(&t->peer, FIB_WIRE_RECORDED, large, size);
	t->peer.writing = true;
	talk_turn(t);
	while (talk_take(t))
		;
	return t->size - before;
}

static void test_peer_that_reads_a_recording_gets_more_in_a_brief_turn(void **state)
{
	struct talk *const t = *state;

	assert_int_equal(written_of(t, 100 << 10, false), 7 << 10);
	talk_run(t);
	assert_int_equal(written_of(t, 100 << 10, true), 21 << 10);
	talk_run(t);
	assert_int_equal(written_of(t, 10, true), 10 + sizeof(struct fib_wire_header));
}

static size_t resident(const void *from, size_t size)
{
	static unsigned char pages[1024];
	size_t i, n = 0;

	assert_int_equal(mincore((void *)(uintptr_t)from, size, pages), 0);
	for (i = 0; i < size / 4096; i++)
		n += pages[i] & 1;
	return n * 4096;
}

/* Mapping a buffer takes longer than most answers. */
static void test_peer_leaves_its_buffer_to_the_next_but_little_memory(void **state)
{
	struct talk *const t = *state;
	const unsigned char *out = t->peer.out;
	int fds[2];

	written_of(t, 1000 << 10, false);
	assert_true(resident(out, 1 << 20) >= 1000 << 10);
	talk_run(t);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	fib_peer_close(&t->peer);
	assert_in_range(resident(out, 1 << 20), 4096, 128 << 10);
	assert_int_equal(fib_peer_open(&t->peer, fds[0], t->now), 0);
	assert_ptr_equal(t->peer.out, out);
	close(t->fd);
	t->fd = fds[1];
	talk_request(t, FIB_WIRE_HELLO, NULL, 0);
	t->at = t->size;
	talk_run(t);
	assert_true(t->size > t->at);
	fib_peer_end(&t->peer);
	assert_null(t->peer.out);
	assert_int_equal(mincore((void *)(uintptr_t)out, 4096, &(unsigned char){0}), -1);
	assert_int_equal(errno, ENOMEM);
}

#define PEER_TEST(name) cmocka_unit_test_setup_teardown(name, talk_set_up, talk_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PEER_TEST(test_peer_in_a_brief_turn_reads_or_answers_a_piece_or_writes_some),
		PEER_TEST(test_peer_that_reads_a_recording_gets_more_in_a_brief_turn),
		PEER_TEST(test_peer_leaves_its_buffer_to_the_next_but_little_memory),
	};

	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
