/* SPDX-License-Identifier: MIT */
/* test_fields.c - each field prints the row's value, escaped, or nothing */
#include <stdio.h>
#include <string.h>

#include "tests/harness/inspect/head.h"
#include "inspect/query/fields.h"
#include "inspect/text/escape.h"
#include "tests/harness/inspect/nowhere.h"
#include "tests/harness/inspect/rows.h"

static struct fib_layout layout;

static struct ins_field field_of(const char *name)
{
	struct ins_field f;

	assert_true(ins_field_find(name, strlen(name), &f));
	return f;
}

/* A field as it is printed. */
static const char *said(const struct ins_fiber *fiber, const char *name)
{
	static char buf[2048];
	struct ins_sight sight = {.layout = &layout, .symbols = symbols, .fiber = fiber};
	const struct ins_field f = field_of(name);
	struct ins_strbuf l = ins_strbuf(buf, sizeof buf);

	ins_field_say(&l, &f, ins_field_get(&sight, &f));
	return buf;
}

static void shows(const struct ins_fiber *fiber, const char *name, const char *wanted)
{
	if (strcmp(said(fiber, name), wanted))
		print_error("%s: ", name);
	assert_string_equal(said(fiber, name), wanted);
}

static void test_fields_are_found_by_their_whole_name(void **state)
{
	static const char *const bad[] = {"",	    "i",   "idx", "ID", "label",
					  "label.", " id", "fn ", "."};
	char key[FIB_LAYOUT_LABELS + 8] = "label.";
	struct ins_field f;
	size_t i;

	(void)state;
	for (i = 0; ins_field_infos[i].name; i++)
		if (ins_field_infos[i].title[0])
			assert_ptr_equal(field_of(ins_field_infos[i].name).info,
					 &ins_field_infos[i]);
	for (i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_false(ins_field_find(bad[i], strlen(bad[i]), &f));
	/* A name that ends inside a longer text. */
	assert_true(ins_field_find("id,age", 2, &f));
	assert_string_equal(f.info->name, "id");
	assert_true(ins_field_find("label.tenant=x", 12, &f));
	assert_string_equal(f.key, "tenant");
	assert_string_equal(ins_field_title(&f), "tenant");
	/* A key of the largest size, and a key that is one byte longer. */
	memset(key + 6, 'k', sizeof f.key - 1);
	assert_true(ins_field_find(key, 6 + sizeof f.key - 1, &f));
	assert_int_equal(strlen(f.key), sizeof f.key - 1);
	key[6 + sizeof f.key - 1] = 'k';
	assert_false(ins_field_find(key, 6 + sizeof f.key, &f));
}

static void test_fields_have_all_that_is_shown_of_them(void **state)
{
	const struct ins_field_info *info, *other;

	(void)state;
	for (info = ins_field_infos; info->name; info++) {
		assert_non_null(info->get);
		assert_true(strlen(info->help) > 5);
		for (other = ins_field_infos; other != info; other++)
			assert_string_not_equal(other->name, info->name);
	}
}

static void test_fields_of_a_waiting_fiber(void **state)
{
	struct ins_fiber f = rows_fiber(17, "worker");

	(void)state;
	f.row.wait_kind = FIB_WAIT_MUTEX;
	f.row.wait_object = 0x5f0a;
	f.row.holder = 88;
	f.row.cpu = 20000000;
	f.row.pins = 2;
	f.row.deadline = f.now + INT64_C(90000000000);
	strcpy(f.row.object_name, "cfg");
	shows(&f, "id", "17");
	shows(&f, "name", "worker");
	shows(&f, "state", "suspended");
	shows(&f, "age", "1.5s");
	shows(&f, "cpu", "20ms");
	shows(&f, "switches", "17");
	shows(&f, "stack", "256/16k");
	shows(&f, "size", "16k");
	shows(&f, "high-water", "512");
	shows(&f, "wait", "mutex");
	shows(&f, "waiting", "mutex \"cfg\"@0x5f0a held by 88");
	shows(&f, "object", "cfg");
	shows(&f, "address", "0x5f0a");
	shows(&f, "holder", "88");
	shows(&f, "left", "1m30s");
	shows(&f, "parent", "1");
	shows(&f, "cancelled", "-");
	f.row.cancelled = 1;
	shows(&f, "cancelled", "yes");
	shows(&f, "masked", "-");
	f.row.flags |= FIB_ROW_MASKED;
	shows(&f, "masked", "yes");
	shows(&f, "pins", "2");
	shows(&f, "spawn", "0x1234");
	f.row.holder = FIB_HOLDER_THREAD | 812;
	shows(&f, "holder", "thread:812");
	f.row.object_name[0] = 0;
	shows(&f, "object", "0x5f0a");
}

static void test_fields_of_what_is_not_there_are_nothing(void **state)
{
	static const char *const none[] = {"wait", "waiting", "object", "address", "holder",
					   "fd",   "target",  "left",	"carrier", "parent",
					   "fn",   "spawn",   "name",	"label.k", "high-water"};
	struct ins_fiber f = rows_fiber(17, "");
	size_t i;

	(void)state;
	f.row.parent = 0;
	f.row.spawn_pc = 0;
	f.row.stack_high_water = FIB_ROW_UNKNOWN;
	f.row.deadline = f.now + 5; /* not waiting */
	for (i = 0; i < sizeof none / sizeof none[0]; i++)
		shows(&f, none[i], "-");
	/* The stack use of a running fiber is unknown. */
	f.row.seq = 5;
	f.row.carrier = 3;
	f.row.state = FIBER_RUNNING;
	shows(&f, "stack", "-/16k");
	shows(&f, "carrier", "3");
	shows(&f, "waiting", "on carrier 3");
}

static void test_fields_of_each_wait(void **state)
{
	struct ins_fiber f = rows_fiber(17, "worker");

	(void)state;
	f.row.wait_kind = FIB_WAIT_FD;
	f.row.wait_arg = UINT64_C(1) << 32 | 9;
	shows(&f, "fd", "9");
	shows(&f, "target", "-");
	shows(&f, "waiting", "fd 9 read");
	f.row.wait_arg = UINT64_C(1) << 32 | UINT32_MAX;
	shows(&f, "fd", "-");
	f.row.wait_kind = FIB_WAIT_JOIN;
	f.row.wait_arg = 41;
	shows(&f, "fd", "-");
	shows(&f, "target", "41");
	f.row.wait_arg = FIB_ROW_UNKNOWN;
	shows(&f, "target", "-");
}

static void test_fields_of_times_that_cannot_be(void **state)
{
	struct ins_fiber f = rows_fiber(17, "worker");

	(void)state;
	f.row.wait_kind = FIB_WAIT_SLEEP;
	f.row.deadline = INT64_MIN;
	shows(&f, "left", "0s");
	f.row.deadline = f.now - 1;
	shows(&f, "left", "0s");
	f.row.deadline = INT64_MAX - 1;
	f.now = -2;
	shows(&f, "left", "106751d23h");
	f.row.age = -5;
	shows(&f, "age", "0s");
	f.row.cpu = UINT64_MAX - 1;
	shows(&f, "cpu", "106751d23h");
}

static void test_fields_of_labels(void **state)
{
	static const char packed[] = "tenant\0acme\0empty\0\0x\0a\"\033\0";
	struct ins_fiber f = rows_fiber(17, "worker");
	struct ins_sight sight = {.layout = &layout, .fiber = &f};
	const struct ins_field empty = field_of("label.empty");
	struct ins_value v;

	(void)state;
	memcpy(f.row.label, packed, sizeof packed);
	fib_row_end_labels(&f.row);
	shows(&f, "label.tenant", "acme");
	shows(&f, "label.x", "a\\\"\\x1b");
	shows(&f, "label.ten", "-");
	/* An empty label exists. */
	v = ins_field_get(&sight, &empty);
	assert_true(v.known);
	assert_string_equal(v.text, "");
}

static void test_fields_say_sizes_short(void **state)
{
	struct ins_fiber f = rows_fiber(17, "worker");

	(void)state;
	f.row.stack_size = 1023;
	shows(&f, "size", "1023");
	f.row.stack_size = 1024;
	shows(&f, "size", "1.0k");
	f.row.stack_size = 5400;
	shows(&f, "size", "5.2k");
	f.row.stack_size = 10240;
	shows(&f, "size", "10k");
	f.row.stack_size = 8u << 20;
	shows(&f, "size", "8192k");
	f.row.stack_size = 64u << 20;
	shows(&f, "size", "64m");
	f.row.stack_size = UINT64_MAX;
	shows(&f, "size", "17592186044415m");
}

static void test_fields_tell_values_apart_by_words(void **state)
{
	char buf[INS_FIELD_WORDS];
	struct ins_field f;

	(void)state;
	assert_true(ins_field_find("name", 4, &f));
	assert_string_equal(
		ins_field_words(&f, (struct ins_value){.known = true, .text = "\033 x"}, buf),
		"\033 x");
	assert_null(ins_field_words(&f, (struct ins_value){.known = false}, buf));
	assert_true(ins_field_find("stack", 5, &f));
	assert_string_equal(
		ins_field_words(
			&f,
			(struct ins_value){.known = true, .number = UINT64_MAX, .of = UINT64_MAX},
			buf),
		"17592186044415m/17592186044415m");
	assert_null(ins_field_words(&f, (struct ins_value){.known = false}, buf));
}

static void test_fields_compare_with_nothing_last(void **state)
{
	const struct ins_field id = field_of("id"), name = field_of("name");
	const struct ins_value none = {0}, one = {.known = true, .number = 1},
			       most = {.known = true, .number = UINT64_MAX},
			       a = {.known = true, .text = "a"},
			       b = {.known = true, .text = "b\xff"};

	(void)state;
	assert_true(ins_field_compare(&id, one, most) < 0);
	assert_true(ins_field_compare(&id, most, one) > 0);
	assert_int_equal(ins_field_compare(&id, one, one), 0);
	assert_true(ins_field_compare(&id, most, none) < 0);
	assert_true(ins_field_compare(&id, none, one) > 0);
	assert_int_equal(ins_field_compare(&id, none, none), 0);
	assert_true(ins_field_compare(&name, a, b) < 0);
	assert_true(ins_field_compare(&name, none, b) > 0);
	assert_int_equal(ins_field_compare(&name, b, b), 0);
}

static void test_fields_want_no_more_than_they_need(void **state)
{
	const struct ins_field_info *info;

	(void)state;
	for (info = ins_field_infos; info->name; info++) {
		const struct ins_field f = {.info = info};
		struct ins_request r = {0};

		ins_field_wants(&f, &r);
		assert_int_equal(r.labels, strcmp(info->name, "label.") == 0);
		assert_int_equal(r.high_water, strcmp(info->name, "high-water") == 0);
		assert_int_equal(r.modules, strcmp(info->name, "fn") == 0 ||
						    strcmp(info->name, "spawn") == 0 ||
						    strcmp(info->name, "place") == 0);
		assert_int_equal(r.places, strcmp(info->name, "place") == 0);
		assert_false(r.stacks);
	}
}

/* A program may write anything into its records and its table of names. */
static void test_fields_of_a_hostile_row_are_harmless(void **state)
{
	static const int bytes[] = {0x1b, 0x80, 0xff, '"', '\\', '\n', 0x7f};
	struct fib_layout bad = layout;
	struct ins_fiber f;
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof bytes / sizeof bytes[0]; i++) {
		struct ins_sight sight = {.layout = &bad, .symbols = symbols, .fiber = &f};

		memset(&f, bytes[i], sizeof f);
		f.row.name[sizeof f.row.name - 1] = 0;
		f.row.object_name[sizeof f.row.object_name - 1] = 0;
		fib_row_end_labels(&f.row);
		f.row.state = f.row.wait_kind = 1;
		bad.state_count = bad.wait_count = 2;
		memset(bad.state_names[1], bytes[i], sizeof bad.state_names[1] - 1);
		memset(bad.wait_names[1], bytes[i], sizeof bad.wait_names[1] - 1);
		for (k = 0; ins_field_infos[k].name; k++) {
			const struct ins_field field = {.info = &ins_field_infos[k], .key = "k"};
			char buf[2048];
			struct ins_strbuf l = ins_strbuf(buf, sizeof buf);

			ins_field_say(&l, &field, ins_field_get(&sight, &field));
			assert_true(buf[0]);
			for (const char *s = buf; *s; s++)
				assert_in_range(*s, ' ', '~');
		}
	}
}

static int start(void **state)
{
	(void)state;
	rows_layout(&layout);
	return nowhere_begin();
}

static int stop(void **state)
{
	(void)state;
	return nowhere_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields_are_found_by_their_whole_name),
		cmocka_unit_test(test_fields_have_all_that_is_shown_of_them),
		cmocka_unit_test(test_fields_of_a_waiting_fiber),
		cmocka_unit_test(test_fields_of_what_is_not_there_are_nothing),
		cmocka_unit_test(test_fields_of_each_wait),
		cmocka_unit_test(test_fields_of_times_that_cannot_be),
		cmocka_unit_test(test_fields_of_labels),
		cmocka_unit_test(test_fields_say_sizes_short),
		cmocka_unit_test(test_fields_tell_values_apart_by_words),
		cmocka_unit_test(test_fields_compare_with_nothing_last),
		cmocka_unit_test(test_fields_want_no_more_than_they_need),
		cmocka_unit_test(test_fields_of_a_hostile_row_are_harmless),
	};

	return HEAD_RUN(tests, start, stop);
}
