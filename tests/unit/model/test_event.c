/* SPDX-License-Identifier: MIT */
/* test_event.c - parse an event's bytes, hostile ones too, and print it */
#include <string.h>
#include <sys/syscall.h>

#include "tests/harness/inspect/head.h"
#include "inspect/model/event.h"

static struct {
	struct fib_wire_event e;
	unsigned char stack[64];
} sent;
static struct ins_event event;

static int begin(void **state)
{
	(void)state;
	memset(&sent, 0, sizeof sent);
	sent.e.number = 3;
	sent.e.fiber = 41;
	sent.e.duration = 21000000;
	sent.e.sp = 0x7000;
	sent.e.pc = 0x400100;
	sent.e.stack_size = sizeof sent.stack;
	sent.e.stack_all = sizeof sent.stack;
	strcpy(sent.e.name, "it");
	return 0;
}

static const char *doing(void)
{
	static char text[512];

	assert_true(ins_event_take(&sent, sizeof sent, &event));
	return ins_event_doing(NULL, &event, text, sizeof text);
}

static void test_an_event_becomes_a_fiber_that_can_be_walked(void **state)
{
	(void)state;
	assert_true(ins_event_take(&sent, sizeof sent, &event));
	assert_int_equal(event.fiber.row.id, 41);
	assert_string_equal(event.fiber.row.name, "it");
	assert_int_equal(event.fiber.row.age, 21000000);
	assert_ptr_equal(event.fiber.stack, sent.stack);
	assert_true(fib_row_walkable(&event.fiber.row));
	assert_int_equal(event.fiber.flags, 0);
	sent.e.stack_all = 4096;
	sent.e.fp = 0x7010;
	assert_true(ins_event_take(&sent, sizeof sent, &event));
	assert_int_equal(event.fiber.flags, INS_FIBER_CUT);
	assert_int_equal(event.fiber.row.fp, 0x7010);
}

static void test_an_event_of_an_older_process_has_no_function(void **state)
{
	const size_t older = offsetof(struct fib_wire_event, entry);
	unsigned char bytes[sizeof sent];

	(void)state;
	sent.e.entry = 0x401000;
	assert_true(ins_event_take(&sent, sizeof sent, &event));
	assert_int_equal(event.fiber.row.entry, 0x401000);
	memset(sent.stack, 0x55, sizeof sent.stack);
	memcpy(bytes, &sent, older);
	memcpy(bytes + older, sent.stack, sizeof sent.stack);
	assert_true(ins_event_take(bytes, older + sizeof sent.stack, &event));
	assert_int_equal(event.fiber.row.entry, 0);
	assert_ptr_equal(event.fiber.stack, bytes + older);
	assert_false(ins_event_take(bytes, older + sizeof sent.stack - 1, &event));
}

static void test_an_event_that_lies_about_its_size_is_refused(void **state)
{
	(void)state;
	assert_false(ins_event_take(&sent, offsetof(struct fib_wire_event, entry) - 1, &event));
	assert_false(ins_event_take(&sent, sizeof sent - sizeof sent.e.entry - 1, &event));
	sent.e.stack_size = UINT32_MAX;
	assert_false(ins_event_take(&sent, sizeof sent, &event));
}

static void test_an_event_that_lies_about_all_else_is_harmless(void **state)
{
	(void)state;
	memset(sent.e.name, 'x', sizeof sent.e.name);
	sent.e.doing = FIB_WIRE_DOING_WAITS;
	sent.e.wait_kind = 4000;
	sent.e.duration = INT64_MIN;
	assert_true(ins_event_take(&sent, sizeof sent, &event));
	assert_int_equal(strlen(event.fiber.row.name), sizeof sent.e.name - 1);
	assert_int_equal(event.fiber.row.wait_kind, 0);
	assert_int_equal(event.fiber.row.age, 0);
	sent.e.doing = 77;
	assert_string_equal(doing(), "doing something of a later version");
	assert_string_equal(ins_event_kind(&event), "unknown");
}

static void test_words_say_what_it_did(void **state)
{
	(void)state;
	assert_string_equal(doing(), "computing");
	assert_string_equal(ins_event_kind(&event), "computing");
	sent.e.doing = FIB_WIRE_DOING_CALLS;
	sent.e.call = SYS_nanosleep;
	assert_string_equal(doing(), "in system call nanosleep");
	sent.e.call = 99999;
	assert_string_equal(doing(), "in system call 99999");
	assert_string_equal(ins_event_kind(&event), "system-call");
	sent.e.doing = FIB_WIRE_DOING_FAULTS;
	assert_string_equal(doing(), "waiting for memory");
	sent.e.doing = FIB_WIRE_DOING_WAITS;
	sent.e.wait_kind = FIB_WAIT_MUTEX;
	sent.e.object = 0x5000;
	sent.e.flags = FIB_WIRE_EVENT_REFUSED;
	assert_string_equal(doing(), "pinned in mutex@0x5000, refused");
	assert_string_equal(ins_event_kind(&event), "pinned");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_an_event_becomes_a_fiber_that_can_be_walked, begin),
		cmocka_unit_test_setup(test_an_event_of_an_older_process_has_no_function, begin),
		cmocka_unit_test_setup(test_an_event_that_lies_about_its_size_is_refused, begin),
		cmocka_unit_test_setup(test_an_event_that_lies_about_all_else_is_harmless, begin),
		cmocka_unit_test_setup(test_words_say_what_it_did, begin),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
