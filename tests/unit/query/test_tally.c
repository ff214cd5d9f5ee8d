/* SPDX-License-Identifier: MIT */
/* test_tally.c - counts of fibers by value equal counts by hand */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/inspect/dice.h"
#include "tests/harness/inspect/head.h"
#include "inspect/query/tally.h"
#include "tests/harness/inspect/rows.h"

static struct fib_layout layout;

static struct ins_tally *tally_of(const char *name)
{
	struct ins_tally *t;
	struct ins_field f;

	assert_true(ins_field_find(name, strlen(name), &f));
	assert_int_equal(ins_tally_new(&f, &t), 0);
	return t;
}

static void add(struct ins_tally *t, const struct ins_fiber *fiber)
{
	struct ins_sight sight = {.layout = &layout, .fiber = fiber};

	assert_int_equal(ins_tally_add(t, &sight), 0);
}

static void test_tally_of_nothing_is_empty(void **state)
{
	struct ins_tally *t = tally_of("name");

	(void)state;
	ins_tally_sort(t);
	assert_int_equal(ins_tally_count(t), 0);
	ins_tally_free(t);
	ins_tally_free(NULL);
}

#define FIBERS 3000
#define VALUES 37

static int by_age(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* Compare with a count of value k made by hand. */
static void agree(const struct ins_count *c, unsigned k, const unsigned *value, const int64_t *age)
{
	static int64_t ages[FIBERS];
	uint64_t count = 0, cpu = 0;
	char said[16];

	for (unsigned i = 0; i < FIBERS; i++) {
		if (value[i] != k)
			continue;
		if (count < INS_SAMPLE)
			assert_int_equal(c->ids.id[count], i + 1);
		ages[count++] = age[i];
		cpu += i;
	}
	qsort(ages, count, sizeof ages[0], by_age);
	snprintf(said, sizeof said, k ? "v%u" : "-", k);
	assert_string_equal(c->value, said);
	assert_int_equal(c->known, k != 0);
	assert_int_equal(c->count, count);
	assert_int_equal(c->cpu, cpu);
	assert_int_equal(c->ids.count, count < INS_SAMPLE ? count : INS_SAMPLE);
	assert_int_equal(c->ages.min, ages[0]);
	assert_int_equal(c->ages.max, ages[count - 1]);
	assert_int_equal(c->ages.median, ages[(count - 1) / 2]);
}

static void test_tally_is_what_counting_by_hand_gives(void **state)
{
	static unsigned value[FIBERS];
	static int64_t age[FIBERS];
	struct ins_tally *t = tally_of("name");
	uint64_t seed = 7, last = UINT64_MAX, sum = 0;
	size_t k;

	(void)state;
	for (unsigned i = 0; i < FIBERS; i++) {
		struct ins_fiber f = rows_fiber(i + 1, "");

		/* Low values are much more frequent. */
		value[i] = dice(&seed, 1 + dice(&seed, VALUES));
		age[i] = dice(&seed, 1000000) - 1000;
		if (value[i])
			snprintf(f.row.name, sizeof f.row.name, "v%u", value[i]);
		f.row.age = age[i];
		f.row.cpu = i;
		add(t, &f);
	}
	assert_int_equal(ins_tally_count(t), VALUES);
	ins_tally_sort(t);
	assert_int_equal(ins_tally_count(t), VALUES);
	for (k = 0; k < VALUES; k++) {
		const struct ins_count *c = ins_tally_at(t, k);
		unsigned number = 0;

		sscanf(c->value, "v%u", &number);
		agree(c, number, value, age);
		assert_true(c->count <= last);
		last = c->count;
		sum += c->count;
	}
	assert_int_equal(sum, FIBERS);
	ins_tally_free(t);
}

static void test_tally_orders_equal_counts_by_value(void **state)
{
	static const char *const names[] = {"c", "", "a", "b", "-"}, *const wanted = "-abc-";
	struct ins_tally *t = tally_of("name");
	size_t i;

	(void)state;
	for (i = 0; i < 5; i++) {
		struct ins_fiber f = rows_fiber(i + 1, names[i]);

		add(t, &f);
	}
	ins_tally_sort(t);
	assert_int_equal(ins_tally_count(t), 5);
	for (i = 0; i < 5; i++)
		assert_int_equal(ins_tally_at(t, i)->value[0], wanted[i]);
	/* The missing value is last, and differs from the name "-". */
	assert_true(ins_tally_at(t, 0)->known);
	assert_string_equal(ins_tally_at(t, 0)->text, "-");
	assert_false(ins_tally_at(t, 4)->known);
	assert_null(ins_tally_at(t, 4)->text);
	ins_tally_free(t);
}

static void test_tally_keeps_texts_apart_that_look_the_same(void **state)
{
	struct ins_tally *t = tally_of("label.k");
	char text[FIB_LAYOUT_LABELS];
	size_t i;

	(void)state;
	for (i = 0; i < 4; i++) {
		struct ins_fiber f = rows_fiber(i + 1, "x");

		/*
		 * An escaped 0xff takes four characters, so the text is longer than its printed
		 * part.
		 */
		memset(text, i < 2 ? 0xff : 'a', sizeof text);
		memcpy(text, "k", 2);
		text[240] = (char)('a' + i % 2);
		text[241] = text[242] = 0;
		memcpy(f.row.label, text, sizeof text);
		fib_row_end_labels(&f.row);
		add(t, &f);
	}
	ins_tally_sort(t);
	assert_int_equal(ins_tally_count(t), 4);
	for (i = 0; i < 4; i++) {
		const struct ins_count *c = ins_tally_at(t, i);

		assert_int_equal(strlen(c->text), 239);
		for (const char *s = c->value; *s; s++)
			assert_in_range(*s, ' ', '~');
	}
	ins_tally_free(t);
}

static void test_ids_are_the_lowest_ascending(void **state)
{
	struct ins_tally *t = tally_of("name");
	uint64_t i;

	(void)state;
	for (i = 0; i < 100; i++) {
		struct ins_fiber f = rows_fiber(1 + i * 37 % 100, "x");

		add(t, &f);
	}
	ins_tally_sort(t);
	assert_int_equal(ins_tally_at(t, 0)->ids.count, INS_SAMPLE);
	for (i = 0; i < INS_SAMPLE; i++)
		assert_int_equal(ins_tally_at(t, 0)->ids.id[i], i + 1);
	ins_tally_free(t);
}

static void test_tally_counts_numbers_as_they_are_said(void **state)
{
	struct ins_tally *t = tally_of("age");
	int i;

	(void)state;
	for (i = 0; i < 10; i++) {
		struct ins_fiber f = rows_fiber((uint64_t)i + 1, "x");

		f.row.age = INT64_C(60000000000) + i;
		add(t, &f);
	}
	ins_tally_sort(t);
	assert_int_equal(ins_tally_count(t), 1);
	assert_string_equal(ins_tally_at(t, 0)->value, "1m0s");
	assert_int_equal(ins_tally_at(t, 0)->ages.median, INT64_C(60000000004));
	assert_null(ins_tally_at(t, 0)->text);
	ins_tally_free(t);
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
		cmocka_unit_test(test_tally_of_nothing_is_empty),
		cmocka_unit_test(test_tally_is_what_counting_by_hand_gives),
		cmocka_unit_test(test_tally_orders_equal_counts_by_value),
		cmocka_unit_test(test_tally_keeps_texts_apart_that_look_the_same),
		cmocka_unit_test(test_ids_are_the_lowest_ascending),
		cmocka_unit_test(test_tally_counts_numbers_as_they_are_said),
	};

	return HEAD_RUN(tests, start, NULL);
}
