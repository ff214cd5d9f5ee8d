/* SPDX-License-Identifier: MIT */
/*
 * test_render_lines.c - JSON Lines of render_json.c: a head, a line per row, an end
 *
 * JSON Lines cannot be switched off in a process, so these tests are a program of their own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/inspect/head.h"
#include "inspect/render/render.h"
#include "tests/harness/inspect/rows.h"

#define MOST 16

/* The lines of an answer, each parsed as an object. */
struct lines {
	json_t *at[MOST];
	size_t count;
	int rc;
};

static void write_answer(struct ins_json *json, const char *rows, unsigned count, const char *name)
{
	struct fib_layout layout;

	rows_layout(&layout);
	ins_json_begin(json, json->out, 42, name, "live", rows);
	for (unsigned i = 0; i < count; i++) {
		const struct ins_fiber f = rows_fiber(i + 1, "two\nlines \xff\xe2\x80\xa8");

		ins_json_row(json, ins_json_fiber(&layout, &f, NULL, NULL));
	}
}

static struct lines answer(const char *rows, unsigned count, bool key)
{
	const struct ins_summary summary = {.total = 10, .shown = 8, .sampled_ns = 77};
	const struct ins_problems none = {0};
	struct lines ret = {.count = 0};
	char *text, *line, *next;
	struct ins_json json;
	size_t size;

	json.out = open_memstream(&text, &size);
	assert_non_null(json.out);
	write_answer(&json, rows, count, "na\"me\n");
	if (key)
		ins_json_key(&json, "matched", json_integer(3));
	ret.rc = ins_json_end(&json, &summary, &none);
	fclose(json.out);
	assert_int_equal(text[size - 1], '\n');
	for (line = text; *line; line = next) {
		next = strchr(line, '\n') + 1;
		next[-1] = 0;
		assert_true(ret.count < MOST);
		ret.at[ret.count] = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
		if (!json_is_object(ret.at[ret.count]))
			print_error("no object: %s\n", line);
		assert_true(json_is_object(ret.at[ret.count]));
		ret.count++;
	}
	free(text);
	return ret;
}

static void done(struct lines *l)
{
	while (l->count)
		json_decref(l->at[--l->count]);
}

static json_int_t number(const json_t *object, const char *key)
{
	const json_t *v = json_object_get(object, key);

	assert_true(json_is_integer(v));
	return json_integer_value(v);
}

static void head_is_whole(const json_t *head)
{
	assert_int_equal(number(head, "schemaVersion"), 1);
	assert_int_equal(number(head, "pid"), 42);
	assert_string_equal(json_string_value(json_object_get(head, "name")), "na\"me\n");
	assert_string_equal(json_string_value(json_object_get(head, "source")), "live");
}

static void end_is_whole(const json_t *end)
{
	assert_int_equal(number(end, "sampledNs"), 77);
	assert_int_equal(number(end, "total"), 10);
	assert_int_equal(number(end, "shown"), 8);
	assert_true(json_is_true(json_object_get(end, "complete")));
	assert_int_equal(json_array_size(json_object_get(end, "problems")), 0);
}

static void test_lines_are_a_head_the_rows_and_an_end(void **state)
{
	(void)state;
	for (unsigned n = 0; n < 5; n++) {
		struct lines l = answer("fibers", n, false);

		assert_int_equal(l.rc, 0);
		assert_int_equal(l.count, n + 2);
		head_is_whole(l.at[0]);
		assert_int_equal(json_object_size(l.at[0]), 5);
		assert_string_equal(json_string_value(json_object_get(l.at[0], "rows")), "fibers");
		for (unsigned i = 0; i < n; i++)
			assert_int_equal(number(l.at[i + 1], "id"), i + 1);
		assert_true(json_is_true(json_object_get(l.at[n + 1], "end")));
		end_is_whole(l.at[n + 1]);
		assert_int_equal(json_object_size(l.at[n + 1]), 8);
		done(&l);
	}
}

static void test_lines_have_other_keys_in_the_end(void **state)
{
	(void)state;
	for (unsigned n = 0; n < 2; n++) {
		struct lines l = answer("groups", n, true);

		assert_int_equal(l.count, n + 2);
		assert_null(json_object_get(l.at[0], "matched"));
		assert_int_equal(number(l.at[n + 1], "matched"), 3);
		assert_true(json_is_true(json_object_get(l.at[n + 1], "end")));
		end_is_whole(l.at[n + 1]);
		done(&l);
	}
}

static void test_lines_without_rows_are_one(void **state)
{
	struct lines l = answer(NULL, 0, true);

	(void)state;
	assert_int_equal(l.count, 1);
	head_is_whole(l.at[0]);
	end_is_whole(l.at[0]);
	assert_int_equal(number(l.at[0], "matched"), 3);
	assert_null(json_object_get(l.at[0], "end"));
	assert_null(json_object_get(l.at[0], "rows"));
	done(&l);
}

static void test_lines_that_could_not_be_written_are_an_error(void **state)
{
	const struct ins_summary summary = {0};
	const struct ins_problems none = {0};
	struct ins_json json;
	char *text;
	size_t size;

	(void)state;
	json.out = fopen("/dev/full", "w");
	assert_non_null(json.out);
	write_answer(&json, "fibers", 2, "x");
	assert_true(ins_json_end(&json, &summary, &none) < 0);
	fclose(json.out);
	json.out = open_memstream(&text, &size);
	write_answer(&json, "fibers", 1, "x");
	ins_json_row(&json, NULL);
	assert_true(ins_json_end(&json, &summary, &none) < 0);
	fclose(json.out);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_are_a_head_the_rows_and_an_end),
		cmocka_unit_test(test_lines_have_other_keys_in_the_end),
		cmocka_unit_test(test_lines_without_rows_are_one),
		cmocka_unit_test(test_lines_that_could_not_be_written_are_an_error),
	};

	ins_json_lines();
	return HEAD_RUN(tests, NULL, NULL);
}
