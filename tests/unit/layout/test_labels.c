/* SPDX-License-Identifier: MIT */
/* test_labels.c - read a block of labels while it changes, or one that is not a block of labels */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "layout/row.h"
#include "tests/harness/watchdog.h"

#define ADDRESS UINT64_C(0x12340)

static struct fib_row row;
static unsigned asked;
static int refusal;
static struct fib_layout_labels block;
static unsigned moves; /* how many more times the generation changes while the text is read */

static int read_block(void *reader, uint64_t address, void *buf, size_t size)
{
	(void)reader;
	asked++;
	if (refusal)
		return refusal;
	if (address < ADDRESS || address - ADDRESS + size > sizeof block)
		return -EFAULT;
	memcpy(buf, (const char *)&block + (address - ADDRESS), size);
	if (size == FIB_LAYOUT_LABELS && moves) {
		moves--;
		block.generation++;
	}
	return 0;
}

static void prepare_block(void)
{
	refusal = 0;
	asked = moves = 0;
	block = (struct fib_layout_labels){.owner = 7741, .generation = 6};
	memcpy(block.text[0],
	       "user\0"
	       "7\0"
	       "zone\0",
	       12);
	memcpy(block.text[1],
	       "old\0"
	       "labels\0",
	       11);
	row = (struct fib_row){.id = 7741, .labels = ADDRESS};
}

static const char *labels(void)
{
	static char all[2 * FIB_LAYOUT_LABELS];
	const char *key, *value;
	size_t at = 0, n = 0;

	all[0] = 0;
	while (fib_row_label(&row, &at, &key, &value))
		n += (size_t)snprintf(all + n, sizeof all - n, "%s=%s;", key, value);
	return all;
}

static void test_labels_are_the_ones_that_count(void **state)
{
	(void)state;
	prepare_block();
	assert_string_equal(labels(), "");
	assert_int_equal(fib_row_labels(&row, read_block, NULL), 0);
	assert_string_equal(labels(), "user=7;zone=;");
	block.generation++;
	assert_int_equal(fib_row_labels(&row, read_block, NULL), 0);
	assert_string_equal(labels(), "old=labels;");
	block.owner++;
	assert_int_equal(fib_row_labels(&row, read_block, NULL), 0);
	assert_string_equal(labels(), "");
}

static void test_labels_that_moved_are_looked_at_again(void **state)
{
	(void)state;
	prepare_block();
	moves = 3;
	assert_int_equal(fib_row_labels(&row, read_block, NULL), 0);
	assert_string_equal(labels(), "old=labels;");
	moves = UINT_MAX;
	assert_int_equal(fib_row_labels(&row, read_block, NULL), -EAGAIN);
	assert_string_equal(labels(), "");
	assert_true(asked < 100);
}

static void test_labels_none_ask_nobody_and_a_block_that_is_gone_is_an_error(void **state)
{
	(void)state;
	prepare_block();
	refusal = -EFAULT;
	assert_int_equal(fib_row_labels(&row, read_block, NULL), -EFAULT);
	assert_string_equal(labels(), "");
	asked = 0;
	row.labels = 0;
	assert_int_equal(fib_row_labels(&row, read_block, NULL), 0);
	assert_int_equal(asked, 0);
}

static void test_labels_that_do_not_end_are_ended(void **state)
{
	(void)state;
	prepare_block();
	memset(block.text, 'x', sizeof block.text);
	assert_int_equal(fib_row_labels(&row, read_block, NULL), 0);
	assert_int_equal(strlen(labels()), FIB_LAYOUT_LABELS - 2 + 2); /* one key, "=;" */
	memset(row.label, 'y', sizeof row.label);
	row.label[100] = 0;
	fib_row_end_labels(&row);
	assert_int_equal(strlen(labels()), FIB_LAYOUT_LABELS - 2 - 1 + 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_labels_are_the_ones_that_count),
		cmocka_unit_test(test_labels_that_moved_are_looked_at_again),
		cmocka_unit_test(test_labels_none_ask_nobody_and_a_block_that_is_gone_is_an_error),
		cmocka_unit_test(test_labels_that_do_not_end_are_ended),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
