/* SPDX-License-Identifier: MIT */
/* test_render_holders.c - all holders of what a fiber waits for, as text and as JSON */
#include <stdlib.h>
#include <string.h>

#include "inspect/render/render_holders.h"
#include "tests/harness/inspect/waiting.h"

static struct waiting w;
static char text[4096];

static int begin(void **state)
{
	(void)state;
	w = waiting_new();
	return 0;
}

static int end(void **state)
{
	(void)state;
	waiting_free(&w);
	return 0;
}

static void put_reader(uint64_t id)
{
	struct ins_fiber fiber = waiting_for(id, FIB_WAIT_SLEEP, 0, 0);

	waiting_read(&fiber, 1);
	waiting_put(&w, &fiber);
}

static void put_waiter(uint64_t id, bool writes, const uint64_t who[], size_t n)
{
	struct ins_fiber fiber = waiting_for_readers(id, writes, 1, waiting_readers(who, n));

	waiting_put(&w, &fiber);
}

static void expect(uint64_t id, const char *wanted)
{
	FILE *out = fmemopen(text, sizeof text, "w");

	text[0] = 0;
	ins_text_holders(out, "- ", w.graph, (size_t)ins_table_find(w.table, id), 0);
	fclose(out);
	assert_string_equal(text, wanted);
}

/* The numbers of the holders, ',' after each, then that of the unknown ones. */
static void expect_json(uint64_t id, const char *wanted)
{
	struct fib_layout layout;
	json_t *object = json_object(), *holder;
	size_t i, n = 0;

	rows_layout(&layout);
	assert_true(
		ins_json_holders(object, &layout, w.graph, (size_t)ins_table_find(w.table, id), 0));
	json_array_foreach (json_object_get(object, "holders"), i, holder) {
		const json_t *thread = json_object_get(holder, "holderThread");

		n += (size_t)snprintf(
			text + n, sizeof text - n, "%s%d,", json_is_null(thread) ? "" : "t",
			(int)json_integer_value(json_is_null(thread)
							? json_object_get(holder, "holderId")
							: thread));
	}
	snprintf(text + n, sizeof text - n, "%d",
		 (int)json_integer_value(json_object_get(object, "holdersUnknown")));
	json_decref(object);
	assert_string_equal(text, wanted);
}

static void test_readers_are_named_with_a_thread_and_one_that_has_ended(void **state)
{
	static const uint64_t who[] = {1, 2, FIB_HOLDER_THREAD | 77}, gone[] = {1, 2, 3};

	(void)state;
	put_reader(1);
	put_reader(2);
	put_waiter(4, true, who, 3);
	waiting_graph(&w);
	expect(4, "- held for reading by fiber 1 \"f1\", fiber 2 \"f2\" and thread 77\n");
	expect_json(4, "1,2,t77,0");
	expect(1, "");
	expect_json(1, "0");
	end(state);
	begin(state);
	put_reader(1);
	put_reader(2);
	put_waiter(4, true, gone, 3);
	waiting_graph(&w);
	expect(4, "- held for reading by fiber 1 \"f1\", fiber 2 \"f2\" and fiber 3, which has "
		  "ended\n");
	expect_json(4, "1,2,3,0");
}

static void test_unknown_readers_are_counted(void **state)
{
	static const uint64_t who[] = {1, FIB_HOLDER_THREAD | 77, FIB_HOLDER_THREAD | 78};

	(void)state;
	put_reader(1);
	put_waiter(4, true, who, 3);
	waiting_graph(&w);
	expect(4, "- held for reading by fiber 1 \"f1\" and 2 unknown\n");
	expect_json(4, "1,2");
	end(state);
	begin(state);
	put_waiter(4, true, who, 3);
	waiting_graph(&w);
	expect(4, "- held for reading by 3 unknown\n");
	expect_json(4, "3");
}

static void test_of_many_readers_the_text_names_the_first(void **state)
{
	uint64_t who[20];

	(void)state;
	for (uint64_t i = 0; i < 20; i++) {
		who[i] = i + 1;
		put_reader(i + 1);
	}
	put_waiter(40, true, who, 20);
	waiting_graph(&w);
	expect(40,
	       "- held for reading by fiber 1 \"f1\", fiber 2 \"f2\", fiber 3 \"f3\", fiber 4 "
	       "\"f4\", fiber 5 \"f5\", fiber 6 \"f6\", fiber 7 \"f7\", fiber 8 \"f8\", 12 more\n");
	expect_json(40, "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,0");
}

static void test_a_reader_is_behind_the_writer_and_a_mutex_has_one_holder(void **state)
{
	static const uint64_t who[] = {1};

	(void)state;
	put_reader(1);
	put_waiter(2, true, who, 1);
	put_waiter(3, false, who, 1);
	waiting_lock(&w, 4, 9, 3);
	waiting_graph(&w);
	expect(3, "- behind fiber 2 \"f2\", which waits to write\n");
	expect_json(3, "2,0");
	expect(4, "");
	expect_json(4, "3,0");
}

#define HOLDERS_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		HOLDERS_TEST(test_readers_are_named_with_a_thread_and_one_that_has_ended),
		HOLDERS_TEST(test_unknown_readers_are_counted),
		HOLDERS_TEST(test_of_many_readers_the_text_names_the_first),
		HOLDERS_TEST(test_a_reader_is_behind_the_writer_and_a_mutex_has_one_holder),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
