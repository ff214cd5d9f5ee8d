/* SPDX-License-Identifier: MIT */
/* test_query.c - words become a query, and a query gives rows to a sink, over a fake source */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "inspect/query/query.h"
#include "tests/harness/inspect/head.h"
#include "tests/harness/inspect/rows.h"

#define FIBERS 10

/* Ten fibers with ids 1 to 10. Even ids wait for a mutex; a higher id has a lower age. */
static struct {
	struct ins_source source;
	struct ins_request request; /* the request of the last read */
	int ends;		    /* error of a read before its first fiber, or 0 */
} fake;

/* What the sink has received. */
static struct {
	struct ins_query_rows rows;
	struct ins_query_result result;
	char text[512]; /* "begin 3 4 end", or "begin mutex:5 end" */
	unsigned read;	/* fibers that had been read at the first row */
} got;

static unsigned fibers_read;

static int fake_read(struct ins_source *source, const struct ins_request *request, ins_fiber_fn *fn,
		     void *context, struct ins_summary *ret, struct ins_error *error)
{
	int rc = 0;

	(void)source;
	fake.request = *request;
	if (fake.ends)
		return ins_error_set(error, fake.ends, "it went away");
	for (fibers_read = 1; rc == 0 && fibers_read <= FIBERS; fibers_read++) {
		struct ins_fiber fiber = rows_fiber(fibers_read, "");

		fiber.row.age = 1000 - fibers_read;
		if (fibers_read % 2 == 0)
			fiber.row.wait_kind = FIB_WAIT_MUTEX;
		ret->total++;
		ret->shown++;
		rc = fn(context, &fiber);
	}
	return rc;
}

static void fake_close(struct ins_source *source)
{
	(void)source;
}

static void say(const char *word)
{
	const size_t n = strlen(got.text);

	snprintf(got.text + n, sizeof got.text - n, "%s%s", n ? " " : "", word);
}

static void sink_begin(void *context, const struct ins_query_rows *rows)
{
	assert_ptr_equal(context, &got);
	got.rows = *rows;
	got.read = fibers_read;
	say("begin");
}

static void sink_fiber(void *context, struct ins_sight *sight)
{
	char id[32];

	(void)context;
	assert_ptr_equal(sight->layout, &fake.source.layout);
	snprintf(id, sizeof id, "%d", (int)sight->fiber->row.id);
	say(id);
}

static void sink_group(void *context, const struct ins_count *group)
{
	char text[64];

	(void)context;
	snprintf(text, sizeof text, "%s:%d", group->value, (int)group->count);
	say(text);
}

static void sink_end(void *context, const struct ins_query_result *result)
{
	(void)context;
	got.result = *result;
	say("end");
}

static const struct ins_query_sink sink = {
	.lines = true,
	.begin = sink_begin,
	.fiber = sink_fiber,
	.group = sink_group,
	.end = sink_end,
};

static int set_up(void **state)
{
	static const struct ins_source_ops ops = {.read = fake_read, .close = fake_close};

	(void)state;
	memset(&fake, 0, sizeof fake);
	memset(&got, 0, sizeof got);
	fibers_read = 0;
	fake.source.kind = "control";
	fake.source.ops = &ops;
	rows_layout(&fake.source.layout);
	return ins_modules_new(0, NULL, NULL, &fake.source.problems, &fake.source.modules);
}

static int tear_down(void **state)
{
	(void)state;
	ins_modules_free(fake.source.modules);
	ins_problems_free(&fake.source.problems);
	return 0;
}

static bool by_id;

static int ask(struct ins_query_words words, struct ins_error *error)
{
	const struct ins_request more = {0};
	struct ins_query query;
	int rc;

	assert_int_equal(ins_query_parse(&words, &query, error), 0);
	query.by_id = by_id;
	rc = ins_query_run(&query, &fake.source, &more, &sink, &got, error);
	ins_query_drop(&query);
	return rc;
}

/* Run the query of these words and return what the sink receives. */
static const char *rows_of(struct ins_query_words words)
{
	struct ins_error error = {""};

	memset(&got, 0, sizeof got);
	assert_int_equal(ask(words, &error), 0);
	return got.text;
}

#define ALL .limit = INS_QUERY_ALL

static void test_query_without_words_gives_each_fiber_as_it_comes(void **state)
{
	(void)state;
	assert_string_equal(rows_of((struct ins_query_words){ALL}),
			    "begin 1 2 3 4 5 6 7 8 9 10 end");
	assert_int_equal(got.read, 1);
	assert_int_equal(got.result.matched, 10);
	assert_int_equal(got.result.summary.total, 10);
	assert_int_equal(got.result.summary.shown, 10);
	assert_false(got.rows.narrowed);
	assert_null(got.rows.group_by);
	assert_int_equal(got.rows.columns->count, 7);
	assert_ptr_equal(got.rows.source, &fake.source);
}

static void test_query_by_id_sorts_a_registry_that_is_not_too_large(void **state)
{
	(void)state;
	by_id = true;
	fake.source.layout.committed = INS_QUERY_SORTED;
	assert_string_equal(rows_of((struct ins_query_words){ALL}),
			    "begin 1 2 3 4 5 6 7 8 9 10 end");
	/* Rows begin after the last fiber was read. */
	assert_true(got.read >= 10);
	assert_string_equal(rows_of((struct ins_query_words){.sort = "-id", .limit = 2}),
			    "begin 10 9 end");
	fake.source.layout.committed = INS_QUERY_SORTED + 1;
	fibers_read = 0;
	assert_string_equal(rows_of((struct ins_query_words){ALL}),
			    "begin 1 2 3 4 5 6 7 8 9 10 end");
	assert_int_equal(got.read, 1);
	by_id = false;
}

static void test_query_gives_what_matches_up_to_the_limit_and_counts_the_rest(void **state)
{
	(void)state;
	assert_string_equal(rows_of((struct ins_query_words){.where = "wait=mutex", ALL}),
			    "begin 2 4 6 8 10 end");
	assert_true(got.rows.narrowed);
	assert_string_equal(rows_of((struct ins_query_words){.where = "wait=mutex", .limit = 2}),
			    "begin 2 4 end");
	assert_int_equal(got.result.matched, 5);
	assert_int_equal(got.result.summary.shown, 2);
	assert_string_equal(rows_of((struct ins_query_words){.limit = 0}), "begin end");
	assert_true(got.rows.narrowed);
	assert_int_equal(got.result.matched, 10);
	assert_string_equal(rows_of((struct ins_query_words){.where = "id>10", ALL}), "begin end");
}

static void test_query_gives_rows_in_the_order_asked_for(void **state)
{
	(void)state;
	assert_string_equal(rows_of((struct ins_query_words){.sort = "age", ALL}),
			    "begin 10 9 8 7 6 5 4 3 2 1 end");
	assert_string_equal(rows_of((struct ins_query_words){.sort = "-id", .limit = 3}),
			    "begin 10 9 8 end");
	assert_int_equal(got.result.summary.shown, 3);
	assert_int_equal(got.result.matched, 10);
	assert_string_equal(rows_of((struct ins_query_words){.sort = "id", .limit = 0}),
			    "begin end");
	assert_int_equal(got.result.matched, 10);
}

static void test_query_counts_the_fibers_that_share_a_value(void **state)
{
	(void)state;
	assert_string_equal(
		rows_of((struct ins_query_words){.group_by = "wait", .where = "id>1", ALL}),
		"begin mutex:5 -:4 end");
	assert_string_equal(got.rows.group_by, "wait");
	assert_int_equal(got.result.groups, 2);
	assert_int_equal(got.result.groups_shown, 2);
	assert_int_equal(got.result.summary.shown, 9);
	assert_string_equal(rows_of((struct ins_query_words){.group_by = "id", .limit = 3}),
			    "begin 1:1 10:1 2:1 end");
	assert_int_equal(got.result.groups, 10);
	assert_int_equal(got.result.groups_shown, 3);
	assert_int_equal(got.result.summary.shown, 3);
	assert_int_equal(got.result.matched, 10);
}

static void test_query_wants_of_a_source_what_its_words_need(void **state)
{
	(void)state;
	rows_of((struct ins_query_words){ALL});
	assert_false(fake.request.labels || fake.request.high_water || fake.request.modules ||
		     fake.request.stacks || fake.request.id);
	rows_of((struct ins_query_words){.where = "label.a", ALL});
	assert_true(fake.request.labels && !fake.request.high_water && !fake.request.modules);
	rows_of((struct ins_query_words){.sort = "high-water", ALL});
	assert_true(fake.request.high_water && !fake.request.labels && !fake.request.modules);
	rows_of((struct ins_query_words){.group_by = "fn", ALL});
	assert_true(fake.request.modules && !fake.request.labels && !fake.request.high_water);
	rows_of((struct ins_query_words){.columns = "id,spawn,label.b", ALL});
	assert_true(fake.request.modules && fake.request.labels && !fake.request.high_water);
	assert_int_equal(got.rows.columns->count, 3);
}

static void test_query_that_fails_to_read_gives_nothing_to_the_sink(void **state)
{
	struct ins_error error = {""};

	(void)state;
	fake.ends = -ENOENT;
	assert_int_equal(ask((struct ins_query_words){ALL}, &error), -ENOENT);
	assert_string_equal(error.text, "it went away");
	assert_string_equal(got.text, "");
}

static void test_query_says_what_is_wrong_with_its_words(void **state)
{
	static const struct {
		struct ins_query_words words;
		const char *says;
	} wrong[] = {
		{{.where = "id>"}, "--where: "},
		{{.where = "shoe=1"}, "--where: shoe: no such field; there are: id, state, "},
		{{.sort = "shoe"}, "--sort: 'shoe': no such field; there are: id, state, "},
		{{.sort = "-shoe"}, "--sort: 'shoe': no such field; there are: id, state, "},
		{{.sort = "-"}, "--sort: '': no such field; "},
		{{.sort = "--id"}, "--sort: '-id': no such field; "},
		{{.columns = "id,shoe"},
		 "--columns: 'shoe': no such field; there are: id, state, "},
		{{.group_by = "-id"}, "--group-by: '-id': no such field; there are: id, state, "},
		{{.group_by = ""}, "--group-by: '': no such field; "},
		{{.where = "id>1", .group_by = "shoe"}, "--group-by: 'shoe': "},
	};

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		struct ins_error error = {""};
		struct ins_query query;

		assert_int_equal(ins_query_parse(&wrong[i].words, &query, &error), -EINVAL);
		assert_memory_equal(error.text, wrong[i].says, strlen(wrong[i].says));
		ins_query_drop(&query);
	}
}

static void test_query_match_counts_and_does_not_miss_what_does_not_match(void **state)
{
	const struct ins_query_words words = {.where = "wait=mutex"};
	struct ins_fiber fiber = rows_fiber(1, "");
	struct ins_query query;

	(void)state;
	assert_int_equal(ins_query_parse(&words, &query, NULL), 0);
	assert_false(ins_query_match(&query, &fake.source, NULL, &fiber));
	assert_int_equal(fake.source.passed, 0);
	fiber.flags = INS_FIBER_CUT;
	assert_false(ins_query_match(&query, &fake.source, NULL, &fiber));
	assert_int_equal(fake.source.passed, 1);
	fiber.row.wait_kind = FIB_WAIT_MUTEX;
	assert_true(ins_query_match(&query, &fake.source, NULL, &fiber));
	assert_int_equal(fake.source.passed, 1);
	assert_int_equal(query.matched, 1);
	assert_int_equal(query.others, 2);
	assert_int_equal(ins_problems_lines(&fake.source.problems), 0);
	ins_query_drop(&query);
}

/* A value that no state and no wait of the program has is reported, once. */
static void test_query_checks_its_condition_against_the_program_once(void **state)
{
	const struct ins_query_words words = {.where = "wait=mutx"};
	struct ins_fiber fiber = rows_fiber(1, "");
	char text[640];
	struct ins_query query;

	(void)state;
	assert_int_equal(ins_query_parse(&words, &query, NULL), 0);
	for (int i = 0; i < 3; i++)
		assert_false(ins_query_match(&query, &fake.source, NULL, &fiber));
	assert_int_equal(ins_problems_lines(&fake.source.problems), 1);
	ins_problems_text(&fake.source.problems, 0, text, sizeof text);
	assert_non_null(strstr(text, "--where: wait: no fiber has 'mutx'"));
	assert_null(strstr(text, "times"));
	ins_query_drop(&query);
}

#define QUERY_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		QUERY_TEST(test_query_without_words_gives_each_fiber_as_it_comes),
		QUERY_TEST(test_query_by_id_sorts_a_registry_that_is_not_too_large),
		QUERY_TEST(test_query_gives_what_matches_up_to_the_limit_and_counts_the_rest),
		QUERY_TEST(test_query_gives_rows_in_the_order_asked_for),
		QUERY_TEST(test_query_counts_the_fibers_that_share_a_value),
		QUERY_TEST(test_query_wants_of_a_source_what_its_words_need),
		QUERY_TEST(test_query_that_fails_to_read_gives_nothing_to_the_sink),
		QUERY_TEST(test_query_says_what_is_wrong_with_its_words),
		QUERY_TEST(test_query_match_counts_and_does_not_miss_what_does_not_match),
		QUERY_TEST(test_query_checks_its_condition_against_the_program_once),
	};

	harness_watchdog(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
