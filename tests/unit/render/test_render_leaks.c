/* SPDX-License-Identifier: MIT */
/* test_render_leaks.c - the verdict on lost fibers in words and as JSON */
#include "inspect/render/render_leaks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/inspect/head.h"
#include "tests/harness/inspect/nowhere.h"
#include "tests/harness/inspect/rows.h"

static struct ins_source source;
static struct ins_look look;
static struct ins_lost lost;
static struct ins_lost_group group[8];
static struct ins_lost_groups groups;
static const struct ins_summary *before;

/* The fibers cannot be read again, so they have no places. */
static int read_none(struct ins_source *s, const struct ins_request *request, ins_fiber_fn *fn,
		     void *context, struct ins_summary *ret, struct ins_error *error)
{
	(void)s;
	(void)request;
	(void)fn;
	(void)context;
	(void)ret;
	(void)error;
	return -ESRCH;
}

static const struct ins_source_ops ops = {.read = read_none};

static int begin(void **state)
{
	struct ins_fiber fiber = rows_fiber(7, "se\033ven");

	(void)state;
	memset(&source, 0, sizeof source);
	memset(group, 0, sizeof group);
	lost = (struct ins_lost){.certain = true};
	rows_layout(&source.layout);
	source.ops = &ops;
	source.pid = 42;
	snprintf(source.name, sizeof source.name, "it");
	fiber.row.wait_kind = FIB_WAIT_SEM;
	fiber.row.wait_object = 0x1000;
	if (nowhere_begin() || ins_table_new(&lost.table) || ins_table_add(lost.table, &fiber))
		return -1;
	ins_table_count(lost.table);
	look = (struct ins_look){.source = &source, .symbols = symbols};
	look.last.table = lost.table;
	for (size_t i = 0; i < 8; i++) {
		group[i] = (struct ins_lost_group){.spawn_pc = 0x1234,
						   .wait_kind = FIB_WAIT_SEM,
						   .fibers = 3,
						   .object = 0x1000,
						   .stacks = 12288,
						   .longest = INT64_C(41000000000)};
		ins_sample_lowest(&group[i].ids, 7 + i);
	}
	groups = (struct ins_lost_groups){group, 0};
	return 0;
}

static int end(void **state)
{
	(void)state;
	ins_table_free(lost.table);
	return nowhere_end();
}

static void expect(size_t n, const char *what)
{
	const struct ins_leaks leaks = {&lost, &groups, &look, false, before};
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	groups.count = n;
	lost.count = 3 * n;
	ins_text_leaks(out, &leaks, "it");
	fclose(out);
	if (!strstr(text, what))
		fail_msg("'%s' is not in:\n%s", what, text);
	assert_null(strchr(text, '\033'));
	free(text);
}

static void test_nothing_is_one_line(void **state)
{
	(void)state;
	expect(0, "it (pid 42): no fiber is lost\n");
	lost.unsure = 2;
	expect(0, "it (pid 42): no fiber is lost for certain\n");
}

static void test_parked_fibers_are_named_but_not_lost(void **state)
{
	(void)state;
	lost.parked = 2;
	expect(0, "  not counted: 2 in fiber_park, whose handles nothing alive has\n");
}

static void test_a_group_has_its_numbers_and_an_example(void **state)
{
	(void)state;
	expect(1, "it (pid 42): 3 of 1 fibers are lost: nothing alive can wake them\n"
		  "  3 in sem, spawned at ");
	expect(1, "\n    longest 41s; 12 KiB of stacks\n    example: fiber 7 ");
	expect(1, " waits for sem@0x1000\n  more: fibertrace show it 7\n");
}

static void test_a_snapshot_that_confirms_is_named_and_what_it_leaves_out_is_counted(void **state)
{
	static const struct ins_summary taken = {.taken = INT64_C(1000000000), .host = "there"};

	(void)state;
	before = &taken;
	lost.moved = 2;
	expect(0, "no fiber is lost\n  not counted: 2 that did not wait so when the snapshot was "
		  "taken\n");
	expect(1, " them\n  confirmed by a snapshot of there, taken ");
	expect(1, ": all waited so already then\n  3 in sem, ");
	before = NULL;
}

static void test_a_screen_is_not_exceeded(void **state)
{
	(void)state;
	expect(8, "\n  ... and 2 more groups; see --json\n");
}

static void test_json_has_the_same(void **state)
{
	const struct ins_leaks leaks = {&lost, &groups, &look, false, NULL};
	json_t *object;

	(void)state;
	groups.count = 1;
	object = ins_json_leak(&leaks, 0);
	assert_int_equal(json_integer_value(json_object_get(object, "fibers")), 3);
	assert_int_equal(json_integer_value(json_object_get(object, "example")), 7);
	assert_string_equal(json_string_value(json_object_get(object, "object")), "0x1000");
	assert_string_equal(json_string_value(json_object_get(object, "wait")), "sem");
	assert_true(json_is_null(json_object_get(object, "place")));
	json_decref(object);
	group[0].object = 0;
	object = ins_json_leak(&leaks, 0);
	assert_true(json_is_null(json_object_get(object, "object")));
	json_decref(object);
}

#define EACH(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		EACH(test_nothing_is_one_line),
		EACH(test_parked_fibers_are_named_but_not_lost),
		EACH(test_a_group_has_its_numbers_and_an_example),
		EACH(test_a_snapshot_that_confirms_is_named_and_what_it_leaves_out_is_counted),
		EACH(test_a_screen_is_not_exceeded),
		EACH(test_json_has_the_same),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
