/* SPDX-License-Identifier: MIT */
/* test_render_json.c - every documented key is present, with its type, for any input */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/inspect/head.h"
#include "inspect/render/render.h"
#include "tests/harness/inspect/nowhere.h"
#include "tests/harness/inspect/rows.h"

static struct fib_layout layout;
static char *text;
static size_t size;

static bool is_address(const json_t *value)
{
	const char *s = json_string_value(value);

	return s && strncmp(s, "0x", 2) == 0 && s[2] &&
	       strspn(s + 2, "0123456789abcdef") == strlen(s + 2);
}

/* "key:type ...": i integer, s string, x address, b boolean, o object, a array, n null. */
static void promise(const json_t *object, const char *keys)
{
	char key[32], type;
	size_t count = 0;
	int n;

	assert_true(json_is_object(object));
	for (; sscanf(keys, " %31[A-Za-z]:%c%n", key, &type, &n) == 2; keys += n, count++) {
		const json_t *v = json_object_get(object, key);
		bool good = (type == 'i' && json_is_integer(v)) ||
			    (type == 's' && json_is_string(v)) || (type == 'x' && is_address(v)) ||
			    (type == 'b' && json_is_boolean(v)) ||
			    (type == 'o' && json_is_object(v)) ||
			    (type == 'a' && json_is_array(v)) || (type == 'n' && json_is_null(v));

		if (!good)
			print_error("%s is not of type %c\n", key, type);
		assert_true(good);
	}
	assert_int_equal(json_object_size(object), count);
}

static json_t *fiber_of(const struct ins_fiber *fiber, const struct ins_walk *walk)
{
	json_t *ret = ins_json_fiber(&layout, fiber, symbols, walk);

	assert_non_null(ret);
	return ret;
}

#define FIBER_KEYS                                                                           \
	"id:i parentId:i name:s state:s ageNs:i switches:i cpuNs:i runnableNs:i waitedNs:i " \
	"livedNs:i pins:i cancelled:b masked:b stack:o entry:n spawn:o "                     \
	"labels:o"

static void test_a_waiting_fiber_has_every_key(void **state)
{
	struct ins_fiber f = rows_fiber(7, "worker");
	json_t *row;

	(void)state;
	f.row.wait_kind = FIB_WAIT_MUTEX;
	f.row.wait_object = 0x5000;
	f.row.holder = 88;
	strcpy(f.row.object_name, "cfg");
	f.row.deadline = f.now + 7;
	row = fiber_of(&f, NULL);
	promise(row, FIBER_KEYS " carrier:n wait:o");
	promise(json_object_get(row, "wait"),
		"kind:s object:x objectName:s holderId:i holderThread:n fd:n events:n deadlineNs:i "
		"leftNs:i targetId:n");
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(row, "wait"), "leftNs")), 7);
	promise(json_object_get(row, "stack"), "address:x size:i used:i highWater:i");
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(row, "stack"), "address")),
		"0x10000");
	promise(json_object_get(row, "spawn"), "pc:x function:n file:n line:n");
	assert_int_equal(json_integer_value(json_object_get(row, "id")), 7);
	assert_int_equal(json_integer_value(json_object_get(row, "ageNs")), 1500000000);
	assert_string_equal(json_string_value(json_object_get(row, "state")), "suspended");
	json_decref(row);
}

static void test_what_does_not_apply_is_null(void **state)
{
	struct ins_fiber f = rows_fiber(7, "runner");
	json_t *row;

	(void)state;
	f.row.state = FIBER_RUNNING;
	f.row.seq = 5;
	f.row.carrier = 2;
	f.row.parent = 0;
	f.row.spawn_pc = 0;
	f.row.stack_used = f.row.stack_low = 0;
	f.row.stack_high_water = FIB_ROW_UNKNOWN;
	row = fiber_of(&f, NULL);
	promise(row, FIBER_KEYS " carrier:i wait:n");
	promise(json_object_get(row, "stack"), "address:n size:i used:n highWater:n");
	promise(json_object_get(row, "spawn"), "pc:n function:n file:n line:n");
	json_decref(row);
}

static void test_labels_are_an_object_and_clean(void **state)
{
	static const char packed[] = "user\0"
				     "7\0"
				     "bad\xff\0"
				     "\x80"
				     "\0"
				     "empty\0";
	struct ins_fiber f = rows_fiber(7, "worker");
	json_t *row, *labels;

	(void)state;
	row = fiber_of(&f, NULL);
	assert_int_equal(json_object_size(json_object_get(row, "labels")), 0);
	json_decref(row);
	memcpy(f.row.label, packed, sizeof packed);
	row = fiber_of(&f, NULL);
	labels = json_object_get(row, "labels");
	assert_int_equal(json_object_size(labels), 3);
	assert_string_equal(json_string_value(json_object_get(labels, "user")), "7");
	assert_string_equal(json_string_value(json_object_get(labels, "empty")), "");
	assert_string_equal(json_string_value(json_object_get(labels, "bad\xef\xbf\xbd")),
			    "\xef\xbf\xbd");
	json_decref(row);
}

static void wait_promise(struct ins_fiber *f, const char *keys)
{
	json_t *row = fiber_of(f, NULL);

	promise(json_object_get(row, "wait"), keys);
	json_decref(row);
}

static void test_each_kind_of_wait_fills_its_own_keys(void **state)
{
	struct ins_fiber f = rows_fiber(7, "worker");

	(void)state;
	f.row.wait_kind = FIB_WAIT_FD;
	f.row.wait_arg = (uint64_t)POLLIN << 32 | 17;
	wait_promise(&f, "kind:s object:n objectName:n holderId:n holderThread:n fd:i events:s "
			 "deadlineNs:n leftNs:n targetId:n");
	f.row.wait_kind = FIB_WAIT_JOIN;
	f.row.wait_arg = 41;
	wait_promise(&f, "kind:s object:n objectName:n holderId:n holderThread:n fd:n events:n "
			 "deadlineNs:n leftNs:n targetId:i");
	f.row.wait_kind = FIB_WAIT_MUTEX;
	f.row.holder = FIB_HOLDER_THREAD | 5;
	wait_promise(&f, "kind:s object:n objectName:n holderId:n holderThread:i fd:n events:n "
			 "deadlineNs:n leftNs:n targetId:n");
}

static void test_frames_are_there_only_where_asked_for(void **state)
{
	static struct ins_walk walk;
	struct ins_fiber f = rows_fiber(7, "worker");
	json_t *row;

	(void)state;
	walk.count = 2;
	walk.pc[0] = 0x1000;
	walk.pc[1] = 0x2000;
	walk.truncated = true;
	row = fiber_of(&f, &walk);
	promise(row, FIBER_KEYS " carrier:n wait:n frames:a framesLeftOut:i paused:b switching:b "
				"truncated:b");
	assert_true(json_is_true(json_object_get(row, "truncated")));
	assert_int_equal(json_array_size(json_object_get(row, "frames")), 2);
	promise(json_array_get(json_object_get(row, "frames"), 0),
		"pc:x function:n offset:n module:n file:n line:n inlined:b internal:b");
	json_decref(row);
}

static void test_a_group_has_every_key(void **state)
{
	struct ins_fiber f = rows_fiber(7, "worker");
	static struct ins_walk walk;
	struct ins_groups *groups;
	json_t *row;

	(void)state;
	f.row.wait_kind = FIB_WAIT_SEM;
	assert_int_equal(ins_groups_new(&groups), 0);
	ins_groups_add(groups, NULL, &f, &walk);
	f.row.id = 5;
	ins_groups_add(groups, NULL, &f, &walk);
	ins_groups_sort(groups);
	row = ins_json_group(&layout, ins_groups_at(groups, 0), symbols);
	promise(row, "key:n count:i fiberIds:a ageNs:o state:s wait:o frames:a framesLeftOut:i "
		     "truncated:b");
	promise(json_object_get(row, "ageNs"), "min:i median:i max:i");
	assert_int_equal(json_integer_value(json_array_get(json_object_get(row, "fiberIds"), 0)),
			 5);
	json_decref(row);
	ins_groups_free(groups);
}

static void test_a_count_has_the_text_itself_or_null(void **state)
{
	struct ins_count c = {.known = true, .value = "a\\x1b", .text = "a\033", .count = 2};
	json_t *row;

	(void)state;
	ins_sample_lowest(&c.ids, 7);
	for (int i = 0; i < 3; i++) {
		row = ins_json_count("name", &c);
		promise(row, i < 2 ? "field:s value:s count:i fiberIds:a ageNs:o cpuNs:i"
				   : "field:s value:n count:i fiberIds:a ageNs:o cpuNs:i");
		promise(json_object_get(row, "ageNs"), "min:i median:i max:i");
		if (i < 2)
			assert_string_equal(json_string_value(json_object_get(row, "value")),
					    i ? "2m14s" : "a\033");
		json_decref(row);
		c.text = NULL;
		c.value = i ? "-" : "2m14s";
		c.known = !i;
	}
}

static void test_any_byte_in_a_name_gives_valid_json(void **state)
{
	struct ins_fiber f = rows_fiber(7, "");
	unsigned c;

	(void)state;
	for (c = 1; c < 256; c++) {
		char *dump;
		json_t *row, *again;

		memset(f.row.name, (int)c, sizeof f.row.name - 1);
		row = fiber_of(&f, NULL);
		dump = json_dumps(row, 0);
		again = json_loads(dump, JSON_REJECT_DUPLICATES, NULL);
		assert_true(json_equal(row, again));
		json_decref(row);
		json_decref(again);
		free(dump);
	}
}

static void test_long_texts_and_none_are_json(void **state)
{
	char *lengthy = malloc(100001);
	json_t *value;

	(void)state;
	assert_non_null(lengthy);
	memset(lengthy, 0xff, 100000);
	lengthy[100000] = 0;
	value = ins_json_text(lengthy);
	assert_int_equal(json_string_length(value), 300000);
	json_decref(value);
	value = ins_json_text(NULL);
	assert_true(json_is_null(value));
	json_decref(value);
	value = ins_json_address(UINT64_MAX);
	assert_string_equal(json_string_value(value), "0xffffffffffffffff");
	json_decref(value);
	free(lengthy);
}

static json_t *answer(const char *rows, int count, struct ins_problems *problems, int *ret_rc)
{
	const struct ins_summary summary = {.total = 10, .shown = 8, .sampled_ns = 77};
	struct ins_json json;
	FILE *out = open_memstream(&text, &size);
	json_t *ret;

	assert_non_null(out);
	ins_json_begin(&json, out, 42, "na\"me", "live", rows);
	while (count-- > 0)
		ins_json_row(&json, json_pack("{s:i}", "n", count));
	*ret_rc = ins_json_end(&json, &summary, problems);
	fclose(out);
	ret = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	free(text);
	return ret;
}

#define ANSWER_KEYS                                                                                \
	"schemaVersion:i pid:i name:s source:s sampledNs:i total:i shown:i complete:b problems:a " \
	"takenNs:i host:s"

static void test_an_answer_is_one_object_with_every_key(void **state)
{
	struct ins_problems problems = {0};
	json_t *a;
	int rc, n;

	(void)state;
	for (n = 0; n < 3; n++) {
		a = answer("fibers", n, &problems, &rc);
		assert_int_equal(rc, 0);
		promise(a, ANSWER_KEYS " fibers:a");
		assert_int_equal(json_array_size(json_object_get(a, "fibers")), n);
		assert_true(json_is_true(json_object_get(a, "complete")));
		json_decref(a);
	}
	a = answer(NULL, 0, &problems, &rc);
	promise(a, ANSWER_KEYS);
	assert_int_equal(json_integer_value(json_object_get(a, "schemaVersion")), 1);
	assert_int_equal(json_integer_value(json_object_get(a, "sampledNs")), 77);
	json_decref(a);
}

static void test_a_problem_makes_it_incomplete_and_is_told(void **state)
{
	struct ins_problems problems = {0};
	const char *told;
	json_t *a;
	int rc;

	(void)state;
	ins_problems_add(&problems, "a module is missing");
	a = answer("groups", 1, &problems, &rc);
	assert_true(json_is_false(json_object_get(a, "complete")));
	told = json_string_value(json_array_get(json_object_get(a, "problems"), 0));
	assert_string_equal(told, "a module is missing");
	json_decref(a);
	ins_problems_free(&problems);
}

static void test_an_answer_that_could_not_be_written_whole_is_an_error(void **state)
{
	const struct ins_summary summary = {0};
	struct ins_problems problems = {0};
	struct ins_json json;
	FILE *out = fopen("/dev/full", "w");

	(void)state;
	assert_non_null(out);
	ins_json_begin(&json, out, 1, "x", "live", "fibers");
	assert_true(ins_json_end(&json, &summary, &problems) < 0);
	fclose(out);
	/* No memory for a row. */
	out = open_memstream(&text, &size);
	ins_json_begin(&json, out, 1, "x", "live", "fibers");
	ins_json_row(&json, NULL);
	assert_true(ins_json_end(&json, &summary, &problems) < 0);
	fclose(out);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_waiting_fiber_has_every_key),
		cmocka_unit_test(test_what_does_not_apply_is_null),
		cmocka_unit_test(test_labels_are_an_object_and_clean),
		cmocka_unit_test(test_each_kind_of_wait_fills_its_own_keys),
		cmocka_unit_test(test_frames_are_there_only_where_asked_for),
		cmocka_unit_test(test_a_group_has_every_key),
		cmocka_unit_test(test_a_count_has_the_text_itself_or_null),
		cmocka_unit_test(test_any_byte_in_a_name_gives_valid_json),
		cmocka_unit_test(test_long_texts_and_none_are_json),
		cmocka_unit_test(test_an_answer_is_one_object_with_every_key),
		cmocka_unit_test(test_a_problem_makes_it_incomplete_and_is_told),
		cmocka_unit_test(test_an_answer_that_could_not_be_written_whole_is_an_error),
	};

	return HEAD_RUN(tests, nowhere_start, nowhere_stop);
}
