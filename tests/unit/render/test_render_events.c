/* SPDX-License-Identifier: MIT */
/* test_render_events.c - events as lines and objects, with any fiber names */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/inspect/head.h"
#include "inspect/render/render_events.h"
#include "tests/harness/inspect/nowhere.h"

static struct ins_event event;
static struct ins_walk walk;

static int begin(void **state)
{
	struct fib_wire_event e = {.number = 7,
				   .fiber = 41,
				   .began = 5,
				   .duration = 21000000,
				   .doing = FIB_WIRE_DOING_CALLS,
				   .call = 99999,
				   .carrier = 1};

	(void)state;
	strcpy(e.name, "bad\033[2J");
	memset(&walk, 0, sizeof walk);
	walk.count = 1;
	walk.pc[0] = 0x100;
	setenv("TZ", "UTC", 1);
	if (!ins_event_take(&e, sizeof e, &event))
		return -1;
	event.wall = INT64_C(54345078999999);
	event.ago = INT64_C(90000000000);
	return nowhere_begin();
}

static const char *line(void)
{
	static char text[4096];
	FILE *out = fmemopen(text, sizeof text, "w");

	assert_non_null(out);
	ins_text_event(out, NULL, symbols, &event, &walk);
	fclose(out);
	return text;
}

static void test_a_line_has_everything_and_nothing_harmful(void **state)
{
	(void)state;
	assert_string_equal(
		line(),
		"15:05:45.078     21ms fiber 41 \"bad\\x1b[2J\" in system call 99999: 0x100\n");
	event.e.flags = FIB_WIRE_EVENT_LASTS;
	assert_non_null(strstr(line(), "21ms and on fiber 41"));
	walk.count = 0;
	strcpy(walk.reason, "because");
	assert_non_null(strstr(line(), ": no frames: because\n"));
}

static void test_an_object_has_the_promised_keys(void **state)
{
	json_t *object = ins_json_event(NULL, symbols, &event, &walk);

	(void)state;
	assert_non_null(object);
	assert_int_equal(json_integer_value(json_object_get(object, "fiberId")), 41);
	assert_int_equal(json_integer_value(json_object_get(object, "durationNs")), 21000000);
	assert_int_equal(json_integer_value(json_object_get(object, "carrier")), 1);
	/* A system call without a known name is printed as text too. */
	assert_string_equal(json_string_value(json_object_get(object, "systemCall")), "99999");
	assert_string_equal(json_string_value(json_object_get(object, "kind")), "system-call");
	assert_true(json_is_false(json_object_get(object, "lasts")));
	assert_int_equal(json_integer_value(json_object_get(object, "beganNs")), 5);
	assert_int_equal(json_integer_value(json_object_get(object, "wallNs")), 54345078999999);
	assert_int_equal(json_integer_value(json_object_get(object, "agoNs")), 90000000000);
	assert_true(json_is_null(json_object_get(object, "wait")));
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(object, "site"), "pc")), "0x100");
	json_decref(object);
	event.e.carrier = FIB_WIRE_EVENT_NO_CARRIER;
	walk.count = 0;
	object = ins_json_event(NULL, symbols, &event, &walk);
	assert_true(json_is_null(json_object_get(object, "carrier")));
	assert_true(json_is_null(json_object_get(object, "site")));
	json_decref(object);
}

static void test_a_place_has_its_numbers_and_frames(void **state)
{
	struct ins_site site = {
		.count = 2,
		.ids = {.count = 2, .id = {41, 40}},
		.total = 60000000,
		.first = {.wall = 50000000000, .ago = INT64_C(134000000000)},
		.last = {.wall = 172000000000, .ago = INT64_C(12000000000)},
		.durations = {.min = 20000000, .median = 20000000, .max = 40000000}};
	char text[4096];
	FILE *out = fmemopen(text, sizeof text, "w");
	json_t *object;

	(void)state;
	site.event = event;
	site.walk = walk;
	ins_text_site_events(out, NULL, symbols, &site);
	fclose(out);
	assert_non_null(strstr(
		text,
		"2 times in system call 99999: 0x100 [60ms in all, 20ms to "
		"40ms, median 20ms, first 2m14s ago, last 12s ago] fibers 41, 40\n  #0  0x100\n"));
	object = ins_json_site(NULL, symbols, &site);
	assert_int_equal(json_integer_value(json_object_get(object, "count")), 2);
	assert_int_equal(json_array_size(json_object_get(object, "fiberIds")), 2);
	assert_int_equal(json_array_size(json_object_get(object, "frames")), 1);
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(object, "durationNs"), "total")),
		60000000);
	assert_int_equal(json_integer_value(json_object_get(object, "firstWallNs")), 50000000000);
	assert_int_equal(json_integer_value(json_object_get(object, "firstAgoNs")), 134000000000);
	assert_int_equal(json_integer_value(json_object_get(object, "lastWallNs")), 172000000000);
	assert_int_equal(json_integer_value(json_object_get(object, "lastAgoNs")), 12000000000);
	json_decref(object);
	site.count = 1;
	out = fmemopen(text, sizeof text, "w");
	ins_text_site_events(out, NULL, symbols, &site);
	fclose(out);
	assert_non_null(strstr(text, "0x100 [40ms, 12s ago] fibers"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_line_has_everything_and_nothing_harmful,
						begin, nowhere_stop),
		cmocka_unit_test_setup_teardown(test_an_object_has_the_promised_keys, begin,
						nowhere_stop),
		cmocka_unit_test_setup_teardown(test_a_place_has_its_numbers_and_frames, begin,
						nowhere_stop),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
