/* SPDX-License-Identifier: MIT */
/* test_list.c - a ring keeps its order and its links when any node is removed */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/compiler.h"
#include "base/list.h"
#include "base/rand.h"
#include "tests/harness/watchdog.h"

#define MANY 64u

struct number {
	unsigned value;
	struct fib_list link;
};

static struct fib_list head;
static struct number numbers[MANY];

static unsigned value_of(struct fib_list *node)
{
	return fib_container(node, struct number, link)->value;
}

/* The number of nodes; 0 if walking backwards does not give the same as walking forwards. */
static unsigned count(void)
{
	struct fib_list *node;
	unsigned n = 0;

	fib_list_each (node, &head) {
		if (node->next->prev != node || node->prev->next != node)
			return 0;
		n++;
	}
	return n;
}

static int setup(void **state)
{
	unsigned i;

	(void)state;
	fib_list_init(&head);
	for (i = 0; i < MANY; i++) {
		numbers[i].value = i;
		fib_list_append(&head, &numbers[i].link);
	}
	return 0;
}

static void test_list_is_taken_in_the_order_it_was_filled(void **state)
{
	unsigned i;

	(void)state;
	assert_int_equal(count(), MANY);
	for (i = 0; i < MANY; i++)
		assert_int_equal(value_of(fib_list_take(&head)), i);
	assert_true(fib_list_empty(&head));
	assert_null(fib_list_take(&head));
}

static void test_list_taken_node_knows_that_it_is_in_no_list(void **state)
{
	struct fib_list *node = fib_list_take(&head);

	(void)state;
	assert_null(node->next);
	assert_null(node->prev);
	fib_list_append(&head, node);
	assert_int_equal(value_of(head.prev), 0);
	assert_int_equal(count(), MANY);
}

static void test_list_appending_before_the_first_puts_in_front(void **state)
{
	struct fib_list *last = head.prev;

	(void)state;
	fib_list_remove(last);
	fib_list_append(head.next, last);
	assert_int_equal(value_of(fib_list_take(&head)), MANY - 1);
	assert_int_equal(value_of(fib_list_take(&head)), 0);
}

static void test_list_survives_removals_anywhere(void **state)
{
	uint64_t seed = 42;
	unsigned left, before, value, i;

	(void)state;
	for (left = MANY; left > 1; left--) {
		do {
			i = fib_rand_below(&seed, MANY);
		} while (!numbers[i].link.next);
		fib_list_remove(&numbers[i].link);
		assert_int_equal(count(), left - 1);
	}
	before = value_of(head.next);
	value = value_of(head.prev);
	assert_int_equal(before, value);
	fib_list_remove(head.next);
	assert_true(fib_list_empty(&head));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_list_is_taken_in_the_order_it_was_filled, setup),
		cmocka_unit_test_setup(test_list_taken_node_knows_that_it_is_in_no_list, setup),
		cmocka_unit_test_setup(test_list_appending_before_the_first_puts_in_front, setup),
		cmocka_unit_test_setup(test_list_survives_removals_anywhere, setup),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
