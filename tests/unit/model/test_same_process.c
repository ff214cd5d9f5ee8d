/* SPDX-License-Identifier: MIT */
/* test_same_process.c - what tells two runs of programs apart, and what is not known and tells nothing */
#include "inspect/model/same_process.h"

#include <string.h>

#include "tests/harness/inspect/head.h"
#include "tests/harness/inspect/rows.h"

#define BASE UINT64_C(0x400000)

struct one {
	struct ins_source source;
	struct ins_problems problems;
};
static struct one a, b;

static void fill(struct one *one)
{
	struct ins_module *m;

	memset(one, 0, sizeof *one);
	one->source.pid = 42;
	snprintf(one->source.name, sizeof one->source.name, "it");
	rows_layout(&one->source.layout);
	one->source.layout.records = 0x7000;
	assert_int_equal(ins_modules_new(0, NULL, NULL, &one->problems, &one->source.modules), 0);
	assert_int_equal(
		ins_modules_add(one->source.modules, BASE, BASE + 4096, 0, 1, "/nowhere/it"), 0);
	m = &one->source.modules->at[0];
	m->known = true;
	m->image.loaded = true;
	m->image.build_id_size = 4;
	memcpy(m->image.build_id, "abcd", 4);
}

static int begin(void **state)
{
	(void)state;
	fill(&a);
	fill(&b);
	return 0;
}

static int end(void **state)
{
	(void)state;
	ins_modules_free(a.source.modules);
	ins_modules_free(b.source.modules);
	ins_problems_free(&a.problems);
	ins_problems_free(&b.problems);
	return 0;
}

static const char *differs(void)
{
	return ins_same_process_differs(&a.source, &b.source);
}

static void test_the_same_process_does_not_differ(void **state)
{
	(void)state;
	assert_null(differs());
}

static void test_each_difference_has_its_words(void **state)
{
	(void)state;
	b.source.modules->at[0].image.build_id[0] = 'x';
	assert_string_equal(differs(), "another build of the program");
	b.source.layout.records++;
	assert_string_equal(differs(), "another run of the program");
	b.source.layout.records--;
	b.source.modules->at[0].start -= 4096;
	assert_string_equal(differs(), "another run of the program");
	b.source.name[0] = 'I';
	assert_string_equal(differs(), "another program");
	b.source.pid++;
	assert_string_equal(differs(), "another process");
}

static void test_what_is_not_known_is_no_difference(void **state)
{
	(void)state;
	b.source.pid = 0;
	b.source.name[0] = 0;
	b.source.layout.records = 0;
	b.source.modules->at[0].image.build_id_size = 0;
	assert_null(differs());
	b.source.modules->count = 0;
	assert_null(differs());
	b.source.modules->count = 1;
}

static void test_a_module_that_only_one_has_is_no_difference(void **state)
{
	(void)state;
	assert_int_equal(ins_modules_add(a.source.modules, BASE + 0x10000, BASE + 0x11000, 0, 2,
					 "/nowhere/loaded.so"),
			 0);
	assert_null(differs());
}

#define EACH(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		EACH(test_the_same_process_does_not_differ),
		EACH(test_each_difference_has_its_words),
		EACH(test_what_is_not_known_is_no_difference),
		EACH(test_a_module_that_only_one_has_is_no_difference),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
