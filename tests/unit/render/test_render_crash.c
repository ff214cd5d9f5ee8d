/* SPDX-License-Identifier: MIT */
/* test_render_crash.c - what ended a program, as text and as JSON */
#include "inspect/render/render_crash.h"

#include <signal.h>
#include <string.h>

#include "tests/harness/inspect/head.h"

static void test_words_say_who_ran_and_where(void **state)
{
	struct ins_crash crash = {.signal = SIGSEGV,
				  .thread = 77,
				  .pc = 0x1234,
				  .address = 0,
				  .has_address = true,
				  .fiber = 12,
				  .name = "worker"};
	char text[320];

	(void)state;
	assert_string_equal(ins_crash_text(&crash, text, sizeof text),
			    "fiber 12 \"worker\" was running when signal 11 (SIGSEGV) came at "
			    "0x1234, for address 0x0");
	crash.fiber = 0;
	crash.name[0] = 0;
	crash.sender = 5;
	crash.signal = 64;
	assert_string_equal(ins_crash_text(&crash, text, sizeof text),
			    "thread 77 ran no fiber when signal 64 came at 0x1234, sent by "
			    "process 5");
}

static void test_a_hostile_name_is_harmless(void **state)
{
	struct ins_crash crash = {.signal = 6, .fiber = 1, .name = "\033[31mred\n"};
	char text[320];

	(void)state;
	ins_crash_text(&crash, text, sizeof text);
	assert_null(strchr(text, '\033'));
	assert_null(strchr(text, '\n'));
}

static void test_the_longest_name_cuts_nothing(void **state)
{
	struct ins_crash crash = {.signal = 6, .fiber = UINT64_MAX};
	char text[320];

	(void)state;
	memset(crash.name, 1, sizeof crash.name - 1);
	assert_non_null(
		strstr(ins_crash_text(&crash, text, sizeof text), "\" was running when signal 6 "));
}

static void test_json_has_every_key(void **state)
{
	const struct ins_crash crash = {.signal = SIGABRT, .pc = 0x10, .sender = 9};
	json_t *value = ins_crash_json(&crash);

	(void)state;
	assert_non_null(value);
	assert_int_equal(json_integer_value(json_object_get(value, "signal")), SIGABRT);
	assert_string_equal(json_string_value(json_object_get(value, "signalName")), "SIGABRT");
	assert_string_equal(json_string_value(json_object_get(value, "pc")), "0x10");
	assert_int_equal(json_integer_value(json_object_get(value, "sender")), 9);
	assert_true(json_is_null(json_object_get(value, "address")));
	assert_true(json_is_null(json_object_get(value, "fiberId")));
	json_decref(value);
	value = ins_crash_json(NULL);
	assert_true(json_is_null(value));
	json_decref(value);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words_say_who_ran_and_where),
		cmocka_unit_test(test_a_hostile_name_is_harmless),
		cmocka_unit_test(test_the_longest_name_cuts_nothing),
		cmocka_unit_test(test_json_has_every_key),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
