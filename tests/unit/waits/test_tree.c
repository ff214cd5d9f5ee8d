/* SPDX-License-Identifier: MIT */
/* test_tree.c - each fiber exactly once, below its parent, for any parent ids */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/inspect/head.h"
#include "inspect/waits/tree.h"
#include "tests/harness/inspect/rows.h"

static struct ins_table *table;
static struct ins_tree *tree;

static void add(uint64_t id, uint64_t parent)
{
	struct ins_fiber fiber = rows_fiber(id, "");

	fiber.row.parent = parent;
	assert_int_equal(ins_table_add(table, &fiber), 0);
}

/* The tree as "1 .2 ..3 !7 ~9": a dot per level, ! an orphan, ~ a fiber of a cycle. */
static const char *shape(void)
{
	static char text[1024];
	static const char *const marks[] = {"", "", "!", "~"};
	struct ins_tree_place place;
	struct ins_fiber fiber;
	size_t used = 0;
	uint64_t i;

	text[0] = 0;
	assert_int_equal(ins_tree_new(table, &tree), 0);
	while (ins_tree_next(tree, &place)) {
		for (i = 0; i < place.depth; i++)
			used += (size_t)snprintf(text + used, sizeof text - used, ".");
		ins_table_get(table, place.fiber, &fiber);
		used += (size_t)snprintf(text + used, sizeof text - used, "%s%d ",
					 marks[place.kind], (int)fiber.row.id);
	}
	assert_false(ins_tree_next(tree, &place));
	return text;
}

static void test_children_stand_below_their_parent_in_order_of_their_ids(void **state)
{
	(void)state;
	add(5, 2);
	add(3, 2);
	add(2, 0);
	add(9, 3);
	add(1, 0);
	add(4, 1);
	assert_string_equal(shape(), "1 .4 2 .3 ..9 .5 ");
}

static void test_a_parent_may_have_a_greater_id_than_its_child(void **state)
{
	(void)state;
	add(50, 0);
	add(7, 50);
	assert_string_equal(shape(), "50 .7 ");
}

static void test_orphans_stand_together_by_who_has_ended(void **state)
{
	(void)state;
	add(1, 0);
	add(20, 8);
	add(21, 6);
	add(22, 8);
	add(23, 21);
	add(24, 1);
	assert_string_equal(shape(), "1 .24 !21 .23 !20 !22 ");
}

static void test_parents_in_a_circle_lose_nobody(void **state)
{
	(void)state;
	add(1, 1); /* its own parent */
	add(2, 4);
	add(3, 2);
	add(4, 3);
	add(5, 4); /* child of a fiber in the cycle */
	add(6, 0);
	add(7, 5);
	assert_string_equal(shape(), "6 ~1 ~2 .3 ..4 ...5 ....7 ");
}

static void test_children_are_counted(void **state)
{
	struct ins_tree_place place;

	(void)state;
	add(1, 0);
	add(2, 1);
	add(3, 1);
	add(4, 3);
	assert_int_equal(ins_tree_new(table, &tree), 0);
	assert_true(ins_tree_next(tree, &place));
	assert_int_equal(place.children, 2);
	assert_int_equal(place.kind, INS_TREE_ROOT);
	assert_true(ins_tree_next(tree, &place));
	assert_int_equal(place.children, 0);
	assert_int_equal(place.kind, INS_TREE_CHILD);
}

static void test_two_fibers_of_one_id_are_both_there(void **state)
{
	(void)state;
	add(1, 0);
	add(2, 1);
	add(2, 1);
	assert_string_equal(shape(), "1 .2 .2 ");
}

static void test_a_chain_of_half_a_million_is_walked_to_its_end(void **state)
{
	const uint64_t links = 500000;
	struct ins_tree_place place;
	uint64_t n = 0;

	(void)state;
	while (n < links) {
		add(n + 1, n);
		n++;
	}
	assert_int_equal(ins_tree_new(table, &tree), 0);
	for (n = 0; ins_tree_next(tree, &place); n++)
		assert_int_equal(place.depth, n);
	assert_int_equal(n, links);
}

/* Random parents, most of which make no sense: each fiber occurs once. */
static void test_every_fiber_is_there_exactly_once_whatever_it_says(void **state)
{
	enum { COUNT = 300, ROUNDS = 300 };
	struct ins_tree_place place;
	unsigned seed = 4711;
	bool seen[COUNT];
	int round, i, n;

	(void)state;
	for (round = 0; round < ROUNDS; round++) {
		memset(seen, 0, sizeof seen);
		for (i = 0; i < COUNT; i++) {
			seed = seed * 1103515245 + 12345;
			add((uint64_t)i + 1, (seed >> 16) % (COUNT + 1 + (unsigned)round));
		}
		assert_int_equal(ins_tree_new(table, &tree), 0);
		for (n = 0; ins_tree_next(tree, &place); n++) {
			assert_false(seen[place.fiber]);
			seen[place.fiber] = true;
		}
		assert_int_equal(n, COUNT);
		ins_tree_free(tree);
		tree = NULL;
		ins_table_free(table);
		assert_int_equal(ins_table_new(&table), 0);
	}
}

static void test_nothing_is_an_empty_tree(void **state)
{
	(void)state;
	assert_string_equal(shape(), "");
	ins_tree_free(NULL);
}

static int begin(void **state)
{
	(void)state;
	tree = NULL;
	return ins_table_new(&table);
}

static int end(void **state)
{
	(void)state;
	ins_tree_free(tree);
	ins_table_free(table);
	return 0;
}

#define TREE_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TREE_TEST(test_children_stand_below_their_parent_in_order_of_their_ids),
		TREE_TEST(test_a_parent_may_have_a_greater_id_than_its_child),
		TREE_TEST(test_orphans_stand_together_by_who_has_ended),
		TREE_TEST(test_parents_in_a_circle_lose_nobody),
		TREE_TEST(test_children_are_counted),
		TREE_TEST(test_two_fibers_of_one_id_are_both_there),
		TREE_TEST(test_a_chain_of_half_a_million_is_walked_to_its_end),
		TREE_TEST(test_every_fiber_is_there_exactly_once_whatever_it_says),
		TREE_TEST(test_nothing_is_an_empty_tree),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
