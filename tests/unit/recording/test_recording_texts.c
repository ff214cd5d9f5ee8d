/* SPDX-License-Identifier: MIT */
/* test_recording_texts.c - names of fibers, functions and objects in a recording */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/harness/inspect/recordings.h"
#include "tests/harness/watchdog.h"

static void test_texts_are_found_by_their_key(void **state)
{
	struct ins_recording *r = made_three();

	(void)state;
	assert_string_equal(ins_recording_place(r, 0x10), "serve</script>");
	assert_null(ins_recording_place(r, 0x20));
	assert_string_equal(ins_recording_shape(r, 1), "run;nap;fiber_park");
	assert_null(ins_recording_shape(r, 3));
	assert_string_equal(ins_recording_name(r, 1), "one");
	assert_string_equal(ins_recording_name(r, 2), "two");
	assert_null(ins_recording_name(r, 3));
	assert_string_equal(ins_recording_object(r, 0xabc), "lock");
	assert_null(ins_recording_object(r, 0));
	assert_string_equal(ins_recording_kind(r, FIB_WAIT_MUTEX), "mutex");
	assert_string_equal(ins_recording_kind(r, 99), "unknown");
	ins_recording_close(r);
}

static void test_name_of_an_event_has_two_halves(void **state)
{
	struct made m = made_begin("names.rec", 10);
	struct fib_event e[4] = {
		{.type = FIB_EVENT_NAME, .fiber = 7},
		{.type = FIB_EVENT_NAME, .fiber = 7, .arg = 16},
		{.type = FIB_EVENT_NAME, .fiber = 8},
		{.type = FIB_EVENT_NAME, .fiber = 9, .arg = 16}, /* its first half is lost */
	};
	struct ins_recording *r;

	(void)state;
	memcpy(&e[0].time, "01234567", 8);
	memcpy(&e[0].object, "89abcdef", 8);
	memcpy(&e[1].time, "the\nrest", 8);
	memcpy(&e[2].time, "short\0\0", 8);
	made_ring(&m, 0, 0, e, 4);
	r = made_end(&m);
	assert_string_equal(ins_recording_name(r, 7), "0123456789abcdefthe\nrest");
	assert_string_equal(ins_recording_name(r, 8), "short");
	assert_null(ins_recording_name(r, 9));
	ins_recording_close(r);
}

static void test_words_are_plain_and_say_what_is_waited_for(void **state)
{
	struct made m = made_begin("words.rec", 10);
	struct fib_event e[1] = {{.type = FIB_EVENT_NAME, .fiber = 7}};
	struct fib_recording_fiber f = {.id = 8, .wait_object = 0x50, .object_name = "a\"b\033"};
	struct ins_recording *r;
	char buf[256];

	(void)state;
	memcpy(&e[0].time, "a\"\033[2J\n", 7);
	made_ring(&m, 0, 0, e, 1);
	ins_recording_put(m.w, FIB_RECORDING_FIBERS, &f, sizeof f);
	ins_recording_put_text(m.w, FIB_RECORDING_OBJECTS, 0x60, "cfg");
	r = made_end(&m);
	assert_string_equal(ins_recording_call(r, 7, buf, sizeof buf), "7 \"a\\\"\\x1b[2J\\x0a\"");
	assert_string_equal(ins_recording_call(r, 8, buf, sizeof buf), "8");
	assert_string_equal(ins_recording_wait(r, FIB_WAIT_MUTEX, 0x50, 0, buf, sizeof buf),
			    "mutex \"a\\\"b\\x1b\"@0x50");
	assert_string_equal(ins_recording_wait(r, FIB_WAIT_MUTEX, 0x51, 0, buf, sizeof buf),
			    "mutex@0x51");
	assert_string_equal(ins_recording_wait(r, FIB_WAIT_MUTEX, 0x60, 0, buf, sizeof buf),
			    "mutex \"cfg\"@0x60");
	assert_string_equal(ins_recording_wait(r, FIB_WAIT_FD, 0x51, 17, buf, sizeof buf), "fd 17");
	assert_string_equal(ins_recording_wait(r, FIB_WAIT_JOIN, 8, 8, buf, sizeof buf), "join 8");
	assert_string_equal(ins_recording_wait(r, FIB_WAIT_SLEEP, 0x51, 0, buf, sizeof buf),
			    "sleep");
	ins_recording_close(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts_are_found_by_their_key),
		cmocka_unit_test(test_name_of_an_event_has_two_halves),
		cmocka_unit_test(test_words_are_plain_and_say_what_is_waited_for),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
