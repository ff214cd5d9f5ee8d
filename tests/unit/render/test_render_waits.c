/* SPDX-License-Identifier: MIT */
/* test_render_waits.c - which fiber waits for which, as text and as JSON */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "inspect/render/render_waits.h"
#include "tests/harness/inspect/waiting.h"

static struct waiting w;
static struct ins_queues *queues;
static struct fib_layout layout;

static int begin(void **state)
{
	(void)state;
	w = waiting_new();
	queues = NULL;
	rows_layout(&layout);
	return 0;
}

static int end(void **state)
{
	(void)state;
	ins_queues_free(queues);
	waiting_free(&w);
	return 0;
}

static struct ins_waits waits(size_t limit, pid_t pid)
{
	if (!queues) {
		waiting_graph(&w);
		assert_int_equal(ins_queues_new(w.graph, NULL, &queues), 0);
	}
	return (struct ins_waits){.layout = &layout, .queues = queues, .pid = pid, .limit = limit};
}

static void expect(size_t limit, const char *wanted)
{
	const struct ins_waits say = waits(limit, 0);
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	ins_text_waits(out, &say);
	fclose(out);
	assert_string_equal(text, wanted);
	free(text);
}

static void test_text_has_holder_object_count_and_ages(void **state)
{
	struct ins_fiber fiber;
	uint64_t id;

	(void)state;
	waiting_free_one(&w, 1, 0);
	for (id = 2; id < 13; id++) {
		fiber = waiting_for(id, FIB_WAIT_MUTEX, 1, 1);
		fiber.row.age = (int64_t)id * 1000000000;
		waiting_put(&w, &fiber);
	}
	waiting_join(&w, 20, 0, 2);
	waiting_lock(&w, 30, 2, FIB_HOLDER_THREAD | 41);
	expect(SIZE_MAX,
	       "11 fibers wait, and 1 behind them, for fiber 1 \"f1\" [suspended: sleep, 1.5s]\n"
	       "      11 for mutex \"o1\"@0x1000, 2s to 12s: 2, 3, 4, 5, 6, 7, 8, 9 and 3 more\n"
	       "1 fiber waits for fiber 2 \"f2\" [suspended: mutex \"o1\" held by 1, 2s]\n"
	       "       1 to join it, 1.5s: 20\n"
	       "1 fiber waits for thread 41\n"
	       "       1 for mutex \"o2\"@0x2000, 1.5s: 30\n"
	       "shown 3 of 3 holders; 13 of 14 fibers wait for others\n");
}

static void place_of(void *context, const struct ins_fiber *fiber, char *buf, size_t size)
{
	if (fiber->row.id == 1)
		snprintf(buf, size, "%s", (const char *)context);
}

static void test_a_holder_with_a_place_has_it_below_its_line(void **state)
{
	struct ins_waits say;
	char *text;
	size_t size;
	FILE *out;

	(void)state;
	waiting_free_one(&w, 1, 0);
	waiting_lock(&w, 2, 1, 1);
	say = waits(50, 0);
	say.place = place_of;
	say.context = (void *)"store.c:12 in compact";
	out = open_memstream(&text, &size);
	ins_text_waits(out, &say);
	fclose(out);
	assert_non_null(strstr(text, "]\n         at store.c:12 in compact\n       1 for mutex"));
	free(text);
	say.context = (void *)"";
	out = open_memstream(&text, &size);
	ins_text_waits(out, &say);
	fclose(out);
	assert_null(strstr(text, " at "));
	free(text);
}

static void test_what_is_left_out_is_said(void **state)
{
	(void)state;
	waiting_lock(&w, 1, 1, 70);
	waiting_lock(&w, 2, 2, 80);
	waiting_lock(&w, 3, 3, 70);
	expect(1, "2 fibers wait for fiber 70, which has ended\n"
		  "       1 for mutex \"o1\"@0x1000, 1.5s: 1\n"
		  "         and for 1 more things (--limit shows more)\n"
		  "shown 1 of 2 holders (--limit shows more); 3 of 3 fibers wait for others\n");
}

static void test_a_cycle_and_what_nobody_holds_are_said(void **state)
{
	struct ins_fiber fiber = waiting_for(3, FIB_WAIT_SEM, 9, 0);

	(void)state;
	waiting_lock(&w, 1, 1, 1);
	waiting_put(&w, &fiber);
	expect(SIZE_MAX,
	       "1 fiber waits for objects with no known holder\n"
	       "       1 for sem \"o9\"@0x9000, 1.5s: 3\n"
	       "1 fiber waits for fiber 1 \"f1\" [suspended: mutex \"o1\" held by 1, 1.5s]\n"
	       "         which is in a cycle\n"
	       "       1 for mutex \"o1\"@0x1000, 1.5s: 1\n"
	       "shown 2 of 2 holders; 2 of 2 fibers wait for others\n");
}

static void test_nobody_waits(void **state)
{
	(void)state;
	waiting_free_one(&w, 1, 0);
	expect(SIZE_MAX, "shown 0 of 0 holders; 0 of 1 fiber wait for others\n");
}

static json_t *answer(size_t limit, pid_t pid)
{
	static const struct ins_problems none;
	const struct ins_summary summary = {.total = 2, .shown = 2, .sampled_ns = 100};
	const struct ins_waits say = waits(limit, pid);
	struct ins_json json;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	json_t *ret;

	ins_json_begin(&json, out, 7, "name", "control", "holders");
	ins_json_waits(&json, &say);
	assert_int_equal(ins_json_end(&json, &summary, &none), 0);
	fclose(out);
	ret = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(ret);
	free(text);
	return ret;
}

static json_int_t number_of(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static const char *text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static void test_json_has_every_waiter_of_every_object(void **state)
{
	struct ins_fiber fiber = waiting_for(1, FIB_WAIT_SLEEP, 0, 0);
	json_t *root, *row, *object;
	uint64_t id;

	(void)state;
	strcpy(fiber.row.name, "\xff\"");
	waiting_put(&w, &fiber);
	for (id = 2; id < 22; id++)
		waiting_lock(&w, id, 1, 1);
	waiting_lock(&w, 30, 2, FIB_HOLDER_THREAD | (uint64_t)gettid());
	waiting_lock(&w, 31, 3, 31);
	root = answer(SIZE_MAX, getpid());
	assert_int_equal(number_of(root, "waiting"), 22);
	assert_int_equal(number_of(root, "holdersTotal"), 3);
	assert_int_equal(number_of(root, "holdersShown"), 3);
	row = json_array_get(json_object_get(root, "holders"), 0);
	assert_int_equal(number_of(row, "holderId"), 1);
	assert_string_equal(text_of(row, "holderName"), "\xef\xbf\xbd\"");
	assert_string_equal(text_of(row, "holderState"), "suspended");
	assert_true(json_is_null(json_object_get(row, "holderThread")));
	assert_true(json_is_false(json_object_get(row, "cycle")));
	assert_int_equal(number_of(row, "waiting"), 20);
	assert_int_equal(number_of(row, "behind"), 0);
	object = json_array_get(json_object_get(row, "objects"), 0);
	assert_string_equal(text_of(object, "kind"), "mutex");
	assert_string_equal(text_of(object, "object"), "0x1000");
	assert_string_equal(text_of(object, "objectName"), "o1");
	assert_int_equal(number_of(object, "count"), 20);
	assert_int_equal(json_array_size(json_object_get(object, "fiberIds")), 20);
	assert_true(number_of(json_object_get(object, "ageNs"), "max") == INT64_C(1500000000));
	row = json_array_get(json_object_get(root, "holders"), 1);
	assert_true(json_is_true(json_object_get(row, "cycle")));
	row = json_array_get(json_object_get(root, "holders"), 2);
	assert_int_equal(number_of(row, "holderThread"), gettid());
	assert_string_equal(text_of(row, "holderState"), "alive");
	json_decref(root);
}

static void test_json_of_few_says_of_how_many(void **state)
{
	json_t *root;

	(void)state;
	waiting_lock(&w, 1, 1, 70);
	waiting_lock(&w, 2, 2, 0);
	root = answer(1, 0);
	assert_int_equal(number_of(root, "holdersTotal"), 2);
	assert_int_equal(number_of(root, "holdersShown"), 1);
	assert_int_equal(json_array_size(json_object_get(root, "holders")), 1);
	/* The holder is unknown: all four keys are null. */
	assert_true(json_is_null(json_object_get(
		json_array_get(json_object_get(root, "holders"), 0), "holderState")));
	json_decref(root);
}

#define WAITS_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WAITS_TEST(test_text_has_holder_object_count_and_ages),
		WAITS_TEST(test_a_holder_with_a_place_has_it_below_its_line),
		WAITS_TEST(test_what_is_left_out_is_said),
		WAITS_TEST(test_a_cycle_and_what_nobody_holds_are_said),
		WAITS_TEST(test_nobody_waits),
		WAITS_TEST(test_json_has_every_waiter_of_every_object),
		WAITS_TEST(test_json_of_few_says_of_how_many),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
