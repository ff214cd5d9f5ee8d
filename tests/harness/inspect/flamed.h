/* SPDX-License-Identifier: MIT */
/* flamed.h - stacks of addresses without names, under keys, for the tests of drawings */
#ifndef TEST_INSPECT_FLAMED_H
#define TEST_INSPECT_FLAMED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/inspect/head.h"
#include "inspect/render/render.h"
#include "inspect/render/render_flames.h"
#include "tests/harness/inspect/nowhere.h"
#include "tests/harness/inspect/rows.h"

static struct fib_layout layout;
static struct ins_groups *groups;
static struct ins_flames *flames;
static struct ins_walk walk;
static struct ins_fiber fiber;
static char *text;
static size_t size;

/* Add a fiber, with the current walk and row. */
static inline void add(const char *key)
{
	fiber.row.id++;
	assert_int_equal(ins_groups_add(groups, key, &fiber, &walk), 0);
}

static inline void flame_all(bool keyed)
{
	size_t i;

	ins_flames_free(flames);
	assert_int_equal(ins_flames_new(&ins_flame_fibers, &flames), 0);
	ins_groups_sort(groups);
	for (i = 0; i < ins_groups_count(groups); i++)
		assert_int_equal(
			ins_flames_add(flames, &layout, ins_groups_at(groups, i), keyed, symbols),
			0);
}

/* The file that a format writes of the stacks. */
static inline const char *drawn(int (*put)(FILE *, const struct ins_flames *, const char *),
				const char *title)
{
	FILE *out;

	free(text);
	text = NULL;
	out = open_memstream(&text, &size);
	assert_non_null(out);
	assert_int_equal(put(out, flames, title), 0);
	fclose(out);
	return text;
}

/* A walk of three frames: 0x300 (outermost), 0x200, 0x100. */
static inline int flamed_begin(void **state)
{
	(void)state;
	fiber = rows_fiber(10, "a");
	memset(&walk, 0, sizeof walk);
	walk.count = 3;
	walk.pc[0] = 0x100;
	walk.pc[1] = 0x200;
	walk.pc[2] = 0x300;
	return ins_groups_new(&groups);
}

static inline int flamed_end(void **state)
{
	(void)state;
	ins_flames_free(flames);
	flames = NULL;
	ins_groups_free(groups);
	return 0;
}

static inline int flamed_start(void **state)
{
	(void)state;
	return nowhere_begin();
}

static inline int flamed_stop(void **state)
{
	(void)state;
	free(text);
	return nowhere_end();
}

#define FLAMED_TEST(name) cmocka_unit_test_setup_teardown(name, flamed_begin, flamed_end)

#endif
