/* SPDX-License-Identifier: MIT */
/* test_words.c - print waits and states */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/harness/inspect/head.h"
#include "inspect/model/words.h"
#include "tests/harness/inspect/rows.h"

#define S INT64_C(1000000000)

static struct fib_layout layout;

static const char *wait_of(const struct ins_fiber *fiber, bool address)
{
	static char buf[256];

	return ins_words_wait(&layout, fiber, address, buf, sizeof buf);
}

static void test_waits_name_object_holder_and_descriptor(void **state)
{
	struct ins_fiber f = rows_fiber(1, "a");

	(void)state;
	assert_string_equal(wait_of(&f, true), "");
	f.row.wait_kind = FIB_WAIT_MUTEX;
	f.row.wait_object = 0x5f10;
	assert_string_equal(wait_of(&f, false), "mutex@0x5f10");
	f.row.holder = 88;
	strcpy(f.row.object_name, "cfg");
	assert_string_equal(wait_of(&f, false), "mutex \"cfg\" held by 88");
	assert_string_equal(wait_of(&f, true), "mutex \"cfg\"@0x5f10 held by 88");
	f.row.holder = FIB_HOLDER_THREAD | 12;
	assert_string_equal(wait_of(&f, false), "mutex \"cfg\" held by thread 12");
	f.row.wait_kind = FIB_WAIT_FD;
	f.row.wait_arg = (uint64_t)POLLIN << 32 | 17;
	assert_string_equal(wait_of(&f, false), "fd 17 read");
	f.row.wait_kind = FIB_WAIT_SELECT;
	f.row.wait_object = 0;
	f.row.object_name[0] = 0;
	f.row.holder = 0;
	f.row.wait_arg = UINT64_C(2) << 32 | 2;
	assert_string_equal(wait_of(&f, false), "select of 2 descriptors");
	strcpy(f.row.object_name, "25 read, 26 write");
	assert_string_equal(wait_of(&f, false), "select of 2 descriptors: 25 read, 26 write");
	f.row.object_name[0] = 0;
	f.row.wait_arg = UINT64_C(1) << 32 | 1;
	assert_string_equal(wait_of(&f, false), "select of 1 descriptor");
	f.row.wait_arg = UINT64_C(2) << 32 | 3; /* and a channel */
	assert_string_equal(wait_of(&f, false), "select");
	f.row.wait_arg = FIB_ROW_UNKNOWN; /* a group */
	assert_string_equal(wait_of(&f, false), "select");
	f.row.wait_kind = FIB_WAIT_JOIN;
	f.row.wait_arg = 41;
	assert_string_equal(wait_of(&f, false), "join 41");
	f.row.wait_arg = FIB_ROW_UNKNOWN;
	assert_string_equal(wait_of(&f, false), "join");
	f.row.wait_kind = FIB_WAIT_SLEEP;
	assert_string_equal(wait_of(&f, false), "sleep");
	f.row.deadline = f.now + 1200 * S / 1000;
	assert_string_equal(wait_of(&f, false), "sleep 1.2s left");
}

static void test_waits_of_threads_have_words_of_their_own(void **state)
{
	struct ins_fiber f = rows_fiber(1, "a");

	(void)state;
	f.row.wait_kind = FIB_WAIT_FUTEX;
	f.row.wait_object = 0x5f10;
	assert_string_equal(wait_of(&f, false), "futex@0x5f10");
	f.flags = INS_FIBER_THREAD;
	f.row.wait_kind = FIB_WAIT_FD;
	f.row.wait_arg = (uint64_t)POLLIN << 32 | 17;
	strcpy(f.row.object_name, "10.0.0.1:80");
	assert_string_equal(wait_of(&f, false), "fd 17 read \"10.0.0.1:80\"");
	f.row.wait_kind = INS_WAIT_CALL;
	f.row.wait_object = 0;
	strcpy(f.row.object_name, "wait4");
	assert_string_equal(wait_of(&f, true), "call wait4");
	f.row.deadline = f.now + S;
	assert_string_equal(wait_of(&f, true), "call wait4 1s left");
	assert_string_equal(ins_words_row(INS_FIBER_THREAD), "thread");
	assert_string_equal(ins_words_row(INS_FIBER_CUT), "fiber");
}

static void test_impossible_deadlines_do_not_overflow(void **state)
{
	struct ins_fiber f = rows_fiber(1, "a");

	(void)state;
	f.row.wait_kind = FIB_WAIT_SLEEP;
	f.row.deadline = INT64_MIN;
	assert_string_equal(wait_of(&f, false), "sleep 0s left");
	f.row.deadline = INT64_MAX - 1;
	f.now = -5;
	assert_string_equal(wait_of(&f, false), "sleep 106751d23h left");
}

static void test_a_wait_that_does_not_fit_is_cut(void **state)
{
	struct ins_fiber f = rows_fiber(1, "a");
	char buf[64];
	size_t size;

	(void)state;
	f.row.wait_kind = FIB_WAIT_MUTEX;
	f.row.holder = 88;
	strcpy(f.row.object_name, "\x01\x02\x03\x04\x05\x06\x07\x08");
	for (size = 1; size < sizeof buf; size++) {
		memset(buf, '#', sizeof buf);
		ins_words_wait(&layout, &f, true, buf, size);
		assert_true(strlen(buf) < size);
	}
}

static void test_words_come_from_the_program_and_are_bounded(void **state)
{
	unsigned i;

	(void)state;
	strcpy(layout.state_names[FIBER_SUSPENDED], "asleep");
	layout.state_count = 8;
	assert_string_equal(ins_words_state(&layout, FIBER_SUSPENDED), "asleep");
	assert_string_equal(ins_words_state(&layout, FIBER_RUNNING), "running");
	assert_string_equal(ins_words_state(NULL, FIBER_SUSPENDED), "suspended");
	strcpy(layout.wait_names[FIB_WAIT_COUNT], "lease");
	layout.wait_count = FIB_WAIT_COUNT + 1;
	assert_string_equal(ins_words_wait_kind(&layout, FIB_WAIT_COUNT), "lease");
	assert_string_equal(ins_words_wait_kind(NULL, FIB_LAYOUT_WAITS), "unknown");
	for (i = 0; i < 256; i++) {
		assert_non_null(ins_words_state(&layout, i));
		assert_non_null(ins_words_wait_kind(&layout, i));
	}
	memset(&layout, 0, sizeof layout);
}

static void test_every_wait_kind_has_the_promised_word(void **state)
{
	static const char *const promised[] = {
		"yield",	"sleep",
		"park",		"predicate",
		"join",		"mutex",
		"rwlock-read",	"rwlock-write",
		"cond",		"sem",
		"event",	"barrier",
		"once",		"waitgroup",
		"group",	"chan-send",
		"chan-recv",	"select",
		"fd",		"timer",
		"offload",	"op",
		"pinned",	"pthread-mutex",
		"pthread-cond", "pthread-rwlock",
		"pthread-sem",	"pthread-barrier",
		"pthread-once", "futex",
	};
	unsigned i;

	(void)state;
	assert_int_equal(sizeof promised / sizeof promised[0], FIB_WAIT_COUNT - 1);
	for (i = 1; i < FIB_WAIT_COUNT; i++)
		assert_string_equal(ins_words_wait_kind(NULL, i), promised[i - 1]);
}

static void test_events_are_those_of_poll(void **state)
{
	char buf[64];

	(void)state;
	assert_string_equal(ins_words_events(POLLIN, buf, sizeof buf), "read");
	assert_string_equal(ins_words_events(POLLOUT, buf, sizeof buf), "write");
	assert_string_equal(ins_words_events(POLLIN | POLLOUT, buf, sizeof buf), "read|write");
	assert_string_equal(ins_words_events(0, buf, sizeof buf), "events 0x0");
	assert_string_equal(ins_words_events(0x4000, buf, sizeof buf), "events 0x4000");
}

static void test_a_snapshot_says_where_and_when_it_was_taken(void **state)
{
	struct ins_summary summary = {.host = "vm\n1"};
	char buf[512];

	(void)state;
	setenv("TZ", "UTC", 1);
	tzset();
	assert_string_equal(ins_words_taken(&summary, buf, sizeof buf), "");
	summary.taken = INT64_C(1700000000999999999);
	assert_string_equal(ins_words_taken(&summary, buf, sizeof buf),
			    "snapshot of vm\\x0a1, taken 2023-11-14 22:13:20 +0000");
	summary.host = NULL;
	summary.taken = INT64_MIN;
	ins_words_taken(&summary, buf, sizeof buf);
	assert_memory_equal(buf, "snapshot of a machine without a name, taken ", 44);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waits_name_object_holder_and_descriptor),
		cmocka_unit_test(test_waits_of_threads_have_words_of_their_own),
		cmocka_unit_test(test_impossible_deadlines_do_not_overflow),
		cmocka_unit_test(test_a_wait_that_does_not_fit_is_cut),
		cmocka_unit_test(test_words_come_from_the_program_and_are_bounded),
		cmocka_unit_test(test_every_wait_kind_has_the_promised_word),
		cmocka_unit_test(test_events_are_those_of_poll),
		cmocka_unit_test(test_a_snapshot_says_where_and_when_it_was_taken),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
