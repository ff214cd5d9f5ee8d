/* SPDX-License-Identifier: MIT */
/* test_columns.c - a table has the requested columns under their titles */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/harness/inspect/head.h"
#include "inspect/query/columns.h"
#include "inspect/text/escape.h"
#include "tests/harness/inspect/rows.h"

static struct fib_layout layout;
static char title[4096], row[4096];

static void lines(const char *names, const struct ins_fiber *fiber)
{
	struct ins_sight sight = {.layout = &layout, .fiber = fiber};
	struct ins_error error = {""};
	struct ins_columns columns;
	struct ins_strbuf t = ins_strbuf(title, sizeof title), r = ins_strbuf(row, sizeof row);

	assert_int_equal(ins_columns_parse(names, &columns, &error), 0);
	ins_columns_title(&columns, &t);
	ins_columns_row(&columns, &sight, &r);
}

static void test_columns_put_numbers_right_and_texts_left(void **state)
{
	struct ins_fiber f = rows_fiber(17, "worker");

	(void)state;
	f.row.holder = FIB_HOLDER_THREAD | 5;
	lines("id,state,pins,name", &f);
	assert_string_equal(title, "        ID STATE     PINS  NAME");
	assert_string_equal(row, "        17 suspended    0  worker");
	/* A name that is not the last column has a fixed width. */
	lines("name,holder,age", &f);
	assert_string_equal(title, "NAME                   HOLDER      AGE");
	assert_string_equal(row, "worker               thread:5     1.5s");
	lines("wait,fd", &f);
	assert_string_equal(row, "-                 -");
}

static void test_columns_of_a_plain_list(void **state)
{
	struct ins_fiber f = rows_fiber(17, "worker");

	(void)state;
	f.row.wait_kind = FIB_WAIT_JOIN;
	f.row.wait_arg = 41;
	lines(NULL, &f);
	assert_string_equal(title, "        ID STATE          AGE   SWITCHES      STACK  "
				   "WAIT                                         NAME");
	assert_string_equal(row, "        17 suspended     1.5s         17    256/16k  "
				 "join 41                                      worker");
}

static void test_columns_all_are_every_field_once_but_the_place(void **state)
{
	const struct ins_field_info *info;
	struct ins_error error = {""};
	struct ins_columns columns;
	unsigned i = 0;

	(void)state;
	assert_int_equal(ins_columns_parse("all", &columns, &error), 0);
	for (info = ins_field_infos; info->name; info++)
		if (info->name[strlen(info->name) - 1] != '.' && strcmp(info->name, "place") != 0)
			assert_ptr_equal(columns.column[i++].field.info, info);
	assert_int_equal(columns.count, i);
	assert_string_equal(columns.column[i - 1].field.info->name, "name");
}

static void test_columns_of_labels_have_their_keys_for_titles(void **state)
{
	static const char packed[] = "tenant\0acme\0\033[2J\0x\0";
	struct ins_fiber f = rows_fiber(17, "worker");

	(void)state;
	memcpy(f.row.label, packed, sizeof packed);
	fib_row_end_labels(&f.row);
	lines("label.tenant,label.\033[2J,label.none", &f);
	assert_string_equal(title, "tenant           \\x1b[2J          none");
	assert_string_equal(row, "acme             x                -");
}

static void test_columns_that_do_not_exist_are_refused(void **state)
{
	static const char *const bad[] = {"",	    ",",	 "id,",	   ",id",    "id,,age",
					  "nosuch", "id,nosuch", "label.", "id age", "ID",
					  "all,id", "\033[2J",	 "id\n"};
	struct ins_columns columns;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct ins_error error = {""};

		assert_int_equal(ins_columns_parse(bad[i], &columns, &error), -EINVAL);
		assert_int_equal(strncmp(error.text, "--columns: '", 12), 0);
		assert_non_null(strstr(error.text, "there are: id, "));
		assert_null(strchr(error.text, '\033'));
	}
}

static void test_columns_are_no_more_than_fit(void **state)
{
	struct ins_error error = {""};
	struct ins_columns columns;
	char names[4 * INS_COLUMNS + 8] = "";
	int i;

	(void)state;
	for (i = 0; i < INS_COLUMNS; i++)
		strcat(names, i ? ",id" : "id");
	assert_int_equal(ins_columns_parse(names, &columns, &error), 0);
	assert_int_equal(columns.count, INS_COLUMNS);
	strcat(names, ",id");
	assert_int_equal(ins_columns_parse(names, &columns, &error), -EINVAL);
	assert_non_null(strstr(error.text, "32"));
}

static void test_columns_say_what_they_need(void **state)
{
	struct ins_request request = {0};
	struct ins_error error = {""};
	struct ins_columns columns;

	(void)state;
	assert_int_equal(ins_columns_parse(NULL, &columns, &error), 0);
	ins_columns_want(&columns, &request);
	assert_false(request.labels || request.modules || request.high_water || request.stacks);
	assert_int_equal(ins_columns_parse("id,label.a", &columns, &error), 0);
	ins_columns_want(&columns, &request);
	assert_true(request.labels && !request.modules && !request.high_water);
	assert_int_equal(ins_columns_parse("fn,high-water", &columns, &error), 0);
	ins_columns_want(&columns, &request);
	assert_true(request.labels && request.modules && request.high_water && !request.stacks);
}

/* A row may have any bytes, and the line may be too short for it. */
static void test_columns_of_a_hostile_row_are_harmless(void **state)
{
	struct ins_error error = {""};
	struct ins_columns columns;
	struct ins_fiber f;

	(void)state;
	memset(&f, 0xff, sizeof f);
	memset(f.row.name, 0x1b, sizeof f.row.name);
	f.row.name[sizeof f.row.name - 1] = f.row.object_name[sizeof f.row.object_name - 1] = 0;
	fib_row_end_labels(&f.row);
	assert_int_equal(ins_columns_parse("all", &columns, &error), 0);
	for (size_t size = 1; size < 600; size += 7) {
		struct ins_sight sight = {.layout = &layout, .fiber = &f};
		char buf[1024];
		struct ins_strbuf l = ins_strbuf(buf, size);

		ins_columns_row(&columns, &sight, &l);
		assert_true(strlen(buf) < size);
		assert_ptr_equal(l.at, buf + strlen(buf));
		for (const char *s = buf; *s; s++)
			assert_in_range(*s, ' ', '~');
	}
}

static int start(void **state)
{
	(void)state;
	rows_layout(&layout);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns_put_numbers_right_and_texts_left),
		cmocka_unit_test(test_columns_of_a_plain_list),
		cmocka_unit_test(test_columns_all_are_every_field_once_but_the_place),
		cmocka_unit_test(test_columns_of_labels_have_their_keys_for_titles),
		cmocka_unit_test(test_columns_that_do_not_exist_are_refused),
		cmocka_unit_test(test_columns_are_no_more_than_fit),
		cmocka_unit_test(test_columns_say_what_they_need),
		cmocka_unit_test(test_columns_of_a_hostile_row_are_harmless),
	};

	return HEAD_RUN(tests, start, NULL);
}
