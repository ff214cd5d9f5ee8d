/* SPDX-License-Identifier: MIT */
/* test_select.c - an expression selects what it says, and errors name the problem and the place */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/inspect/dice.h"
#include "tests/harness/inspect/head.h"
#include "inspect/query/select.h"
#include "tests/harness/inspect/rows.h"

static struct fib_layout layout;
static struct ins_fiber waiting, running; /* fibers that the expressions are tested on */
static uint64_t seed = 4711;

static bool holds(const char *text, const struct ins_fiber *fiber)
{
	struct ins_sight sight = {.layout = &layout, .fiber = fiber};
	struct ins_error error = {""};
	struct ins_select *s;
	bool ret;

	if (ins_select_parse(text, &s, &error) < 0) {
		print_error("%s: %s\n", text, error.text);
		fail();
	}
	ret = ins_select_test(s, &sight);
	ins_select_free(s);
	return ret;
}

static void is(const char *text, bool wanted)
{
	if (holds(text, &waiting) != wanted)
		print_error("'%s' is %s\n", text, wanted ? "false" : "true");
	assert_int_equal(holds(text, &waiting), wanted);
}

static void test_select_compares_numbers_in_their_unit(void **state)
{
	(void)state;
	is("id=17", true);
	is("id == 17", true);
	is("id!=17", false);
	is("id<17", false);
	is("id<18", true);
	is("id<=17", true);
	is("id>17", false);
	is("id>=17", true);
	is("age=1.5s", true);
	is("age>1499ms", true);
	is("age>2", false);
	is("size=16k", true);
	is("stack<257", true);
	is("address=0x5f0a", true);
	is("holder=88", true);
	is("holder=thread:88", false);
	is("switches>18446744073709551614", false);
}

static void test_select_compares_and_matches_texts(void **state)
{
	(void)state;
	is("name=\"req 7 (a)\"", true);
	is("name=req", false);
	is("name<s", true);
	is("name~^req", true);
	is("name=~\"7 [(]a\"", true);
	is("name~REQ", false);
	is("name!~^req", false);
	is("name!~other", true);
	is("name~\"^(req|conn) [0-9]+\"", true);
	is("state=suspended", true);
	is("wait=mutex and object=cfg", true);
	is("waiting~\"held by 88$\"", true);
	is("label.tenant=acme", true);
	is("label.quote=\"a\\\"b\\\\c\"", true);
	is("name=\"\"", false);
	is("label.empty=\"\"", true);
	is("fn", false);
}

static void test_select_of_a_field_alone_asks_whether_it_is_there(void **state)
{
	(void)state;
	is("holder", true);
	is("not holder", false);
	is("not not holder", true);
	is("carrier", false);
	is("label.tenant", true);
	is("label.empty", true);
	is("label.none", false);
	assert_false(holds("wait", &running));
	assert_true(holds("carrier", &running));
}

static void test_select_comparison_with_nothing_is_false(void **state)
{
	static const char *const ops[] = {"=", "!=", "<", "<=", ">", ">=", "~", "!~"};
	char text[64];

	(void)state;
	for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
		snprintf(text, sizeof text, "label.none %s x", ops[i]);
		is(text, false);
		snprintf(text, sizeof text, "not label.none %s x", ops[i]);
		is(text, true);
		if (i >= 6)
			continue;
		snprintf(text, sizeof text, "carrier%s0", ops[i]);
		is(text, false);
	}
}

static void test_select_binds_not_then_and_then_or(void **state)
{
	(void)state;
	is("id=17 or id=1 and id=2", true);
	is("(id=17 or id=1) and id=2", false);
	is("id=1 and id=2 or id=17", true);
	is("id=1 and (id=2 or id=17)", false);
	is("not id=1 and id=2", false);
	is("not (id=1 and id=2)", true);
	is("not id=17 or id=17", true);
	is("not (id=17 or id=17)", false);
	is("not not not id=1", true);
	is("((((id=17))))", true);
	is("(id=17)and(id=17)or(id=1)", true);
}

/* The language's keywords are values where a value is expected. */
static void test_select_takes_its_own_words_as_values(void **state)
{
	(void)state;
	is("name=and", false);
	is("name=not or name!=or", true);
	is("name!=\"(\"", true);
}

static void wrong(const char *text, const char *why)
{
	struct ins_error error = {""};
	struct ins_select *s = (struct ins_select *)&layout;

	if (ins_select_parse(text, &s, &error) != -EINVAL || !strstr(error.text, why))
		print_error("'%.200s': '%s', wanted '%s'\n", text, error.text, why);
	assert_null(s);
	assert_int_equal(strncmp(error.text, "--where: ", 9), 0);
	assert_non_null(strstr(error.text, why));
	/* The error argument may be NULL. */
	assert_int_equal(ins_select_parse(text, &s, NULL), -EINVAL);
}

static void test_select_says_what_is_wrong_and_where(void **state)
{
	(void)state;
	wrong("", "a field is missing at the end");
	wrong("id=17 and", "a field is missing at the end");
	wrong("not", "a field is missing at the end");
	wrong("and id=1", "and: no such field; there are: id, ");
	wrong("nosuch=1", "nosuch: no such field; there are: id, ");
	wrong("id=17 name=x", "'and' or 'or' is missing at 'name=x'");
	wrong("(id=17", "')' is missing at the end");
	wrong("(id=17 id", "')' is missing at 'id'");
	wrong("id=17)", "'and' or 'or' is missing at ')'");
	wrong("()", "a field is missing at ')'");
	wrong("id=", "a value is missing at the end");
	wrong("id==", "a value is missing at the end");
	wrong("id===1",
	      "a value is missing: between double quotes it may have anything in it, at '=1'");
	wrong("id=(1)",
	      "a value is missing: between double quotes it may have anything in it, at '(1)'");
	wrong("\"id\"=1", "a field is missing at '\"id\"=1'");
	wrong("name=\"abc", "a quote that is not closed, or a text that is too long at '\"abc'");
	wrong("id=17 \"", "a quote that is not closed");
	wrong("id ! 17", "no such operator at '! 17'");
	wrong("id=x", "id: 'x' is no number");
	wrong("id=-1", "id: '-1' is no number");
	wrong("id=18446744073709551616", "is no number");
	wrong("age>2x", "age: '2x' is no length of time like 20ms");
	wrong("stack>1q", "is no size like 512, 64k or 8m");
	wrong("holder=me", "is no fiber, nor thread:TID");
	wrong("address=17", "is no address like 0x5f0a");
	wrong("id~1", "only texts can be matched");
	wrong("age!~1", "only texts can be matched");
	wrong("name~\"[\"", "'[': ");
	wrong("name~\"(\"", "'(': ");
	wrong("name~\"*\\\\\"", "'*\\': ");
	wrong("\033[2J=1", "no such field");
}

static char *repeated(const char *text, size_t times, const char *last)
{
	char *ret = malloc(strlen(text) * times + strlen(last) + 1), *at = ret;

	assert_non_null(ret);
	while (times--)
		at = stpcpy(at, text);
	stpcpy(at, last);
	return ret;
}

static void wrong_and_free(char *text, const char *why)
{
	wrong(text, why);
	free(text);
}

static void test_select_survives_what_is_too_much(void **state)
{
	char *text;

	(void)state;
	wrong_and_free(repeated("(", 1000000, "id"), "nested too deeply");
	wrong_and_free(repeated("not ", 1000000, "id"), "nested too deeply");
	wrong_and_free(repeated("(id or ", 100000, "id"), "nested too deeply");
	wrong_and_free(repeated("id=1 or ", 1000000, "id"), "too long");
	wrong_and_free(repeated("id and ", 1000000, ""), "too long");
	wrong_and_free(repeated("x", 1000000, ""), "a word that is too long");
	wrong_and_free(repeated("\"", 1000001, ""), "a field is missing");
	/* Expressions of a plausible size fit. */
	text = repeated("(not ", 30, "id=1");
	wrong_and_free(text, "')' is missing at the end");
	text = repeated("id=1 or ", 100, "id=17");
	is(text, true);
	free(text);
	text = repeated("id=17 and ", 100, "id=1");
	is(text, false);
	free(text);
	/* Parentheses side by side do not nest. */
	text = repeated("(id) and ", 60, "not not id");
	is(text, true);
	free(text);
}

static const char *const pieces[] = {"\"",
				     "\\",
				     "\"abc",
				     "!",
				     "!=",
				     "~",
				     "~\"[\"",
				     "name~",
				     "label.",
				     "(((",
				     ")))",
				     "not",
				     "and",
				     "or",
				     "\xff\xfe",
				     "\033[2J",
				     "id=99999999999999999999999",
				     "name~\"a{1,\"",
				     "name~\"\\\\\"",
				     "name~\"(((((((((((((\"",
				     "=",
				     "<",
				     ">",
				     "\t",
				     "age>9e9",
				     "name~\"[[:foo:]]\"",
				     "name~\"[b-a]\"",
				     "fn",
				     "holder=thread:",
				     "address=0x",
				     "name~\"^*\"",
				     "name~\"(|)+$\"",
				     "id",
				     "id=1",
				     "stack>1k"};

/* Random pieces, allocated in the exact size so that a sanitizer detects a read past the end. */
static char *make_any(void)
{
	const unsigned n = dice(&seed, 14);
	char text[1000] = "", *ret;

	for (unsigned k = 0; k < n; k++) {
		strcat(text, pieces[dice(&seed, sizeof pieces / sizeof pieces[0])]);
		strcat(text, dice(&seed, 2) ? " " : "");
	}
	ret = strdup(text);
	assert_non_null(ret);
	return ret;
}

/* There is no expected result: it must not crash. */
static void test_select_survives_any_text(void **state)
{
	unsigned read = 0;

	(void)state;
	for (int i = 0; i < 50000; i++) {
		char *const text = make_any();
		struct ins_error error = {""};
		struct ins_select *s;

		if (ins_select_parse(text, &s, &error) == 0) {
			struct ins_sight sight = {.layout = &layout, .fiber = &waiting};

			ins_select_test(s, &sight);
			read++;
		} else {
			assert_null(s);
			assert_true(error.text[0]);
			assert_null(strchr(error.text, '\033'));
		}
		ins_select_free(s);
		free(text);
	}
	assert_in_range(read, 100, 50000);
}

static void wants(const char *text, bool labels, bool modules, bool high_water)
{
	struct ins_request r = {0};
	struct ins_select *s;

	assert_int_equal(ins_select_parse(text, &s, NULL), 0);
	ins_select_wants(s, &r);
	assert_int_equal(r.labels, labels);
	assert_int_equal(r.modules, modules);
	assert_int_equal(r.high_water, high_water);
	ins_select_free(s);
}

static void test_select_wants_what_its_fields_need(void **state)
{
	(void)state;
	wants("id=1 or (age>1 and not wait=mutex)", false, false, false);
	wants("not (id or not label.a)", true, false, false);
	wants("fn~x", false, true, false);
	wants("id or high-water>1k or spawn=f", false, true, true);
}

static int start(void **state)
{
	static const char packed[] = "tenant\0acme\0quote\0a\"b\\c\0empty\0\0";

	(void)state;
	rows_layout(&layout);
	waiting = rows_fiber(17, "req 7 (a)");
	waiting.row.wait_kind = FIB_WAIT_MUTEX;
	waiting.row.wait_object = 0x5f0a;
	waiting.row.holder = 88;
	strcpy(waiting.row.object_name, "cfg");
	memcpy(waiting.row.label, packed, sizeof packed);
	fib_row_end_labels(&waiting.row);
	running = rows_fiber(18, "spin");
	running.row.state = FIBER_RUNNING;
	running.row.carrier = 0;
	return 0;
}

static const char *said_of(const char *text)
{
	static char said[512];
	struct ins_problems problems = {0};
	struct ins_select *s;

	assert_int_equal(ins_select_parse(text, &s, NULL), 0);
	ins_select_check(s, &layout, &problems);
	snprintf(said, sizeof said, "%s", problems.count ? problems.at[0].text : "");
	ins_problems_free(&problems);
	ins_select_free(s);
	return said;
}

static void test_select_knows_the_words_of_the_program(void **state)
{
	(void)state;
	assert_string_equal(said_of("state=suspended and not (wait=mutex or wait!=park)"), "");
	assert_string_equal(said_of("name=blocked or state~blocked or label.state=blocked"), "");
	assert_string_equal(said_of("id=1 or not state=blocked"),
			    "--where: state: no fiber has 'blocked'; there are: created, runnable, "
			    "running, suspended, dead");
	assert_non_null(strstr(said_of("wait!=x"), "no fiber has 'x'; there are: yield, "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_select_compares_numbers_in_their_unit),
		cmocka_unit_test(test_select_compares_and_matches_texts),
		cmocka_unit_test(test_select_of_a_field_alone_asks_whether_it_is_there),
		cmocka_unit_test(test_select_comparison_with_nothing_is_false),
		cmocka_unit_test(test_select_binds_not_then_and_then_or),
		cmocka_unit_test(test_select_takes_its_own_words_as_values),
		cmocka_unit_test(test_select_says_what_is_wrong_and_where),
		cmocka_unit_test(test_select_knows_the_words_of_the_program),
		cmocka_unit_test(test_select_survives_what_is_too_much),
		cmocka_unit_test(test_select_survives_any_text),
		cmocka_unit_test(test_select_wants_what_its_fields_need),
	};

	ins_select_free(NULL);
	return HEAD_RUN(tests, start, NULL);
}
