/* SPDX-License-Identifier: MIT */
/* test_texts.c - store each text once, with its count */
#include <stdio.h>
#include <string.h>

#include "tests/harness/inspect/head.h"
#include "inspect/text/texts.h"

static struct ins_texts *texts;

static int begin(void **state)
{
	(void)state;
	return ins_texts_new(&texts);
}

static int end(void **state)
{
	(void)state;
	ins_texts_free(texts);
	return 0;
}

static void test_equal_texts_are_one_and_counted(void **state)
{
	char copy[] = "a;b";
	const struct ins_text_kept *first = ins_texts_add(texts, "a;b", 3);

	(void)state;
	assert_ptr_equal(ins_texts_add(texts, copy, 4), first);
	assert_int_equal(first->count, 7);
	assert_string_equal(first->text, "a;b");
	assert_ptr_not_equal(ins_texts_add(texts, "a;b ", 1), first);
	assert_ptr_not_equal(ins_texts_add(texts, "", 1), first);
	assert_int_equal(first->number, 0);
	assert_int_equal(ins_texts_add(texts, "", 1)->number, 2);
	assert_int_equal(ins_texts_count(texts), 3);
}

static void test_order_is_by_count_then_by_text(void **state)
{
	(void)state;
	ins_texts_add(texts, "b", 1);
	ins_texts_add(texts, "c", 5);
	ins_texts_add(texts, "a", 1);
	ins_texts_sort(texts);
	assert_string_equal(ins_texts_at(texts, 0)->text, "c");
	assert_string_equal(ins_texts_at(texts, 1)->text, "a");
	assert_string_equal(ins_texts_at(texts, 2)->text, "b");
}

static void test_a_hundred_thousand_texts_stay_where_they_are(void **state)
{
	const struct ins_text_kept *first = ins_texts_add(texts, "0", 1);
	char text[16];
	int i;

	(void)state;
	for (i = 0; i < 200000; i++) {
		snprintf(text, sizeof text, "%d", i % 100000);
		assert_non_null(ins_texts_add(texts, text, 1));
	}
	assert_int_equal(ins_texts_count(texts), 100000);
	assert_int_equal(first->count, 3);
	ins_texts_sort(texts);
	assert_ptr_equal(ins_texts_at(texts, 0), first);
	assert_int_equal(ins_texts_at(texts, 99999)->count, 2);
}

static void test_nothing_sorts_and_frees(void **state)
{
	(void)state;
	ins_texts_sort(texts);
	assert_int_equal(ins_texts_count(texts), 0);
	ins_texts_free(NULL);
}

#define TALLY_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TALLY_TEST(test_equal_texts_are_one_and_counted),
		TALLY_TEST(test_order_is_by_count_then_by_text),
		TALLY_TEST(test_a_hundred_thousand_texts_stay_where_they_are),
		TALLY_TEST(test_nothing_sorts_and_frees),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
