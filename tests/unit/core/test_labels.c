/* SPDX-License-Identifier: MIT */
/* test_labels.c - labels are replaced, removed and bounded, and no reader gets half of a change */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/labels.h"
#include "layout/row.h"
#include "os/os.h"
#include "tests/harness/watchdog.h"

#define ID 4711

static struct fib_layout_labels *labels;

/* Read like the tools: through the kernel, whether or not the address is valid. */
static int read_here(void *reader, uint64_t address, void *buf, size_t size)
{
	(void)reader;
	return fib_os_peek(address, buf, size);
}

static int set(const char *key, const char *value)
{
	return fib_labels_set(&labels, ID, key, value);
}

/* "key=value key=value", as a reader sees it. */
static const char *seen(void)
{
	static char text[512];
	struct fib_row row = {.id = ID, .labels = (uint64_t)(uintptr_t)labels};
	const char *key, *value;
	size_t at = 0, n = 0;

	text[0] = 0;
	assert_int_equal(fib_row_labels(&row, read_here, NULL), 0);
	while (fib_row_label(&row, &at, &key, &value))
		n += (size_t)snprintf(text + n, sizeof text - n, "%s%s=%s", n ? " " : "", key,
				      value);
	return text;
}

static int drop(void **state)
{
	(void)state;
	if (labels)
		fib_labels_drop(&labels);
	assert_null(labels);
	return 0;
}

static void test_labels_none_take_no_block(void **state)
{
	(void)state;
	assert_string_equal(seen(), "");
	assert_int_equal(set("key", NULL), 0);
	assert_null(labels);
	assert_int_equal(set("", "value"), -EINVAL);
	assert_int_equal(set(NULL, "value"), -EINVAL);
	assert_int_equal(set("a=b", "value"), -EINVAL);
	assert_null(labels);
}

static void test_labels_are_replaced_in_place_and_removed(void **state)
{
	(void)state;
	assert_int_equal(set("request", "GET /"), 0);
	assert_string_equal(seen(), "request=GET /");
	assert_int_equal(set("user", "7"), 0);
	assert_int_equal(set("zone", ""), 0);
	assert_string_equal(seen(), "request=GET / user=7 zone=");
	assert_int_equal(set("request", "POST /long/er"), 0);
	assert_string_equal(seen(), "request=POST /long/er user=7 zone=");
	assert_int_equal(set("user", NULL), 0);
	assert_string_equal(seen(), "request=POST /long/er zone=");
	assert_int_equal(set("nobody", NULL), 0);
	assert_int_equal(set("request", NULL), 0);
	assert_int_equal(set("zone", NULL), 0);
	assert_string_equal(seen(), "");
}

static void test_labels_that_do_not_fit_change_nothing(void **state)
{
	char value[300], expected[320];
	char key[8];
	int i;

	(void)state;
	memset(value, 'v', sizeof value - 1);
	value[sizeof value - 1] = 0;
	assert_int_equal(set("k", value), -ENAMETOOLONG);
	assert_int_equal(set(value, NULL), -ENAMETOOLONG);
	value[244] = 0;
	assert_int_equal(set("k", value), -ENAMETOOLONG);
	assert_null(labels);
	/* The longest value: 1 + 243 + 2. */
	value[243] = 0;
	assert_int_equal(set("k", value), 0);
	snprintf(expected, sizeof expected, "k=%s", value);
	assert_string_equal(seen(), expected);
	assert_int_equal(set("l", ""), -ENOSPC);
	assert_string_equal(seen(), expected);
	assert_int_equal(set("k", "short"), 0);
	/* 41 labels of 1 + 3 + 2 bytes fill 246 bytes; one label is already set and takes 8. */
	value[3] = 0;
	for (i = 0; i < 39; i++) {
		snprintf(key, sizeof key, "%c", 'A' + i);
		assert_int_equal(set(key, value), 0);
	}
	assert_int_equal(set("@", value), -ENOSPC);
	assert_int_equal(set("@", ""), 0);
	assert_int_equal(set("?", ""), -ENOSPC);
	assert_int_equal(set("k", NULL), 0);
	assert_int_equal(set("?", "vv"), 0);
}

static void test_labels_of_another_owner_are_not_shown(void **state)
{
	struct fib_row row = {.id = ID + 1};

	(void)state;
	assert_int_equal(set("key", "value"), 0);
	row.labels = (uint64_t)(uintptr_t)labels;
	assert_int_equal(fib_row_labels(&row, read_here, NULL), 0);
	assert_string_equal(row.label, "");
}

static void test_labels_block_begins_empty_for_its_next_owner(void **state)
{
	struct fib_layout_labels *before;
	struct fib_row row = {.id = ID};
	unsigned i;

	(void)state;
	for (i = 0; i < 5; i++) {
		assert_int_equal(set("key", "value"), 0);
		before = labels;
		row.labels = (uint64_t)(uintptr_t)before;
		fib_labels_drop(&labels);
		assert_int_equal(fib_row_labels(&row, read_here, NULL), 0);
		assert_string_equal(row.label, "");
		assert_int_equal(set("other", "label"), 0);
		assert_ptr_equal(labels, before); /* the same block again */
		assert_string_equal(seen(), "other=label");
		if (i % 2)
			assert_int_equal(set("more", "labels"), 0);
		fib_labels_drop(&labels);
	}
}

static void test_labels_blocks_are_apart(void **state)
{
	static struct fib_layout_labels *many[1000];
	struct fib_row row;
	char text[32];
	size_t i;

	(void)state;
	for (i = 0; i < 1000; i++) {
		snprintf(text, sizeof text, "%zu", i);
		assert_int_equal(fib_labels_set(&many[i], i + 1, "i", text), 0);
	}
	for (i = 0; i < 1000; i++) {
		row = (struct fib_row){.id = i + 1, .labels = (uint64_t)(uintptr_t)many[i]};
		snprintf(text, sizeof text, "%zu", i);
		assert_int_equal(fib_row_labels(&row, read_here, NULL), 0);
		assert_string_equal(row.label + 2, text);
		fib_labels_drop(&many[i]);
	}
}

/* -- a writer and a reader -- */

static _Atomic(struct fib_layout_labels *) shared;
static _Atomic uint64_t owner;
static _Atomic bool done;

/* Two labels that always have the same value, in a block whose owner changes. */
static void *change_on(void *arg)
{
	struct fib_layout_labels *mine = NULL;
	char text[100], key[2] = "a";
	uint64_t id, i;
	size_t length;

	(void)arg;
	for (id = 1; !done; id++) {
		for (i = 0; i < 20; i++) {
			length = 1 + (id * 7 + i * 13) % 90;
			memset(text, 'a' + (int)((id + i) % 26), length);
			text[length] = 0;
			if (mine)
				fib_labels_set(&mine, id, "b", NULL);
			fib_labels_set(&mine, id, key, text);
			fib_labels_set(&mine, id, "b", text);
			atomic_store(&shared, mine);
			atomic_store(&owner, id);
		}
		fib_labels_drop(&mine);
	}
	return NULL;
}

/* Whether the labels read were all set at one moment. */
static bool whole(const struct fib_row *row)
{
	const char *key, *value, *first = NULL;
	size_t at = 0, i;

	while (fib_row_label(row, &at, &key, &value)) {
		if (strcmp(key, "a") != 0 && strcmp(key, "b") != 0)
			return false;
		for (i = 0; value[i]; i++)
			if (value[i] != value[0])
				return false;
		if (strcmp(key, "b") == 0 && first && strcmp(first, value) != 0)
			return false;
		first = value;
	}
	return true;
}

static void test_labels_are_never_torn(void **state)
{
	unsigned torn = 0, good = 0, reads;
	int64_t limit = fib_os_now() + 3 * INT64_C(1000000000);
	pthread_t writer;

	(void)state;
	assert_int_equal(pthread_create(&writer, NULL, change_on, NULL), 0);
	for (reads = 0; (reads < 20000 || good < 100) && fib_os_now() < limit; reads++) {
		struct fib_row row = {.id = atomic_load(&owner)};

		row.labels = (uint64_t)(uintptr_t)atomic_load(&shared);
		if (fib_row_labels(&row, read_here, NULL) < 0)
			continue;
		good += row.label[0] != 0;
		torn += !whole(&row);
	}
	done = true;
	pthread_join(writer, NULL);
	assert_int_equal(torn, 0);
	assert_true(good > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_labels_none_take_no_block, drop),
		cmocka_unit_test_teardown(test_labels_are_replaced_in_place_and_removed, drop),
		cmocka_unit_test_teardown(test_labels_that_do_not_fit_change_nothing, drop),
		cmocka_unit_test_teardown(test_labels_of_another_owner_are_not_shown, drop),
		cmocka_unit_test_teardown(test_labels_block_begins_empty_for_its_next_owner, drop),
		cmocka_unit_test(test_labels_blocks_are_apart),
		cmocka_unit_test(test_labels_are_never_torn),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
