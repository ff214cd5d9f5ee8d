/* SPDX-License-Identifier: MIT */
/* test_fiberctl_options.c - options may be anywhere; errors name the option and the remedy */
#include <stdio.h>
#include <string.h>

#include "tests/harness/cli/json.h"
#include "tests/harness/cli/one_crowd.h"
#include "tests/harness/watchdog.h"

static int start(void **state)
{
	(void)state;
	return one_crowd("crowd", "30", NULL);
}

/* Exit code 64, an empty stdout, and a stderr with the error and where to look. */
static void wrong(const char *const argv[6], const char *thing, const char *remedy)
{
	struct harness_process *p =
		cli_run("fiberctl", argv[0], argv[1], argv[2], argv[3], argv[4], argv[5], NULL);

	if (harness_exit_code(p) != 64 || !strstr(p->err.bytes, thing))
		print_error("%s %s %s\n", argv[0], argv[1] ? argv[1] : "", argv[2] ? argv[2] : "");
	cli_expect(p, 64);
	assert_string_equal(p->out.bytes, "");
	cli_contains(p->err.bytes, "fiberctl: ");
	cli_contains(p->err.bytes, thing);
	cli_contains(p->err.bytes, remedy);
	cli_contains(p->err.bytes, "Try 'fiberctl ");
	harness_free(p);
}

struct row {
	const char *argv[6];
	const char *thing, *remedy;
};

static void all_wrong(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		wrong(rows[i].argv, rows[i].thing, rows[i].remedy);
}
#define ALL_WRONG(rows) all_wrong(rows, sizeof(rows) / sizeof((rows)[0]))

static void test_options_of_list_that_are_wrong(void **state)
{
	static const struct row rows[] = {
		{{"list", pid, "--where", "nosuch=1"}, "nosuch: no such field", "there are: id, "},
		{{"list", pid, "--where", ""}, "a field is missing at the end", "help list"},
		{{"list", pid, "--where", "id=1 id=2"}, "'and' or 'or' is missing at 'id=2'", ""},
		{{"list", pid, "--where", "(id=1"}, "')' is missing", ""},
		{{"list", pid, "--where", "name=\"x"}, "a quote that is not closed", "'\"x'"},
		{{"list", pid, "--where", "age>long"},
		 "age: 'long' is no length",
		 "like 20ms, 1.5s"},
		{{"list", pid, "--where", "stack>64K"}, "'64K' is no size", "like 512, 64k or 8m"},
		{{"list", pid, "--where", "id~1"}, "only texts can be matched", "'1'"},
		{{"list", pid, "--where", "name~["}, "'[': ", ""},
		{{"list", pid, "--where", "name~(a|b)"},
		 "a value is missing",
		 "between double quotes it may have anything in it, at '(a|b)'"},
		{{"list", pid, "--where", "id=1 \033[2J"},
		 "'and' or 'or' is missing at ",
		 "'\\x1b[2J'"},
		{{"list", pid, "--sort", "\033[2J\n"},
		 "--sort: '\\x1b[2J\\x0a'",
		 "there are: id, "},
		{{"list", pid, "--where"}, "--where", "requires an argument"},
		{{"list", pid, "--sort", "nosuch"}, "--sort: 'nosuch'", "there are: id, "},
		{{"list", pid, "--sort", "--id"}, "--sort: '-id'", "there are: id, "},
		{{"list", pid, "--sort", "-"}, "--sort: ''", "there are: id, "},
		{{"list", pid, "--sort", "label."}, "--sort: 'label.'", "label.KEY"},
		{{"list", pid, "--group-by", "nosuch"}, "--group-by: 'nosuch'", "label.KEY"},
		{{"list", pid, "--columns", "id,nosuch"}, "--columns: 'nosuch'", "label.KEY"},
		{{"list", pid, "--columns", ""}, "--columns: ''", "there are: id, "},
		{{"list", pid, "--columns", "id,"}, "--columns: ''", "there are: id, "},
		{{"list", pid, "--limit", "-1"}, "--limit -1: ", "from 0 to 4294967295"},
		{{"list", pid, "--limit", "1x"}, "--limit 1x: ", "from 0 to 4294967295"},
		{{"list", pid, "--limit", "4294967296"}, "4294967296: ", "from 0 to 4294967295"},
		{{"list", pid, "--limit", "99999999999999999999"}, "99: ", "from 0 to 4294967295"},
		{{"list", pid, "--limit", ""}, "--limit : ", "from 0 to 4294967295"},
		{{"list", pid, "-g", "wait", "-s", "id"},
		 "--group-by",
		 "cannot be combined with --sort"},
		{{"list", pid, "-g", "wait", "-c", "id"}, "--group-by", "or --columns"},
	};

	(void)state;
	ALL_WRONG(rows);
}

static void test_options_that_no_command_has(void **state)
{
	static const struct row rows[] = {
		{{"list", pid, "--nosuch"}, "--nosuch", "--help"},
		{{"--nosuch"}, "--nosuch", "--help"},
		{{"list", pid, "-x"}, "'x'", "--help"},
		{{"list", pid, "--json=foo"}, "--json=foo", "only 'lines'"},
		{{"list", pid, "--json="}, "--json=", "only 'lines'"},
		{{"list", pid, "--color=blue"}, "--color=blue", "auto, always or never"},
		{{"list", pid, "--color"}, "--color", "requires an argument"},
		{{"list", pid, "--all=yes"}, "--all", "doesn't allow an argument"},
		{{"nosuch", pid}, "nosuch: no such command", "--help"},
		{{"lsit", pid}, "lsit: no such command; did you mean 'list'?", "--help"},
		{{"deadlok", pid}, "did you mean 'deadlock'?", "--help"},
		{{"s", pid}, "s: no such command; did you mean 'show' or 'stacks' or ", "--help"},
		{{"help", "nosuch"}, "nosuch: no such command", "--help"},
	};

	(void)state;
	ALL_WRONG(rows);
}

static void test_options_that_do_not_go_with_the_command(void **state)
{
	static const struct row rows[] = {
		{{"show", pid, "1", "--where", "id=1"}, "--where: does not go with", "help show"},
		{{"--limit", "5", "policy", pid}, "--limit: does not go with", "help policy"},
		{{"bt", pid, "--all", "--group-by", "id"}, "--group-by: does not go", "help bt"},
		{{"carriers", pid, "-s", "id"}, "--sort: does not go with", "help carriers"},
		{{"list", pid, "--dot"}, "--dot: does not go with", "help list"},
		{{"list", pid, "--follow"}, "--follow: does not go with", "help list"},
		{{"--columns", "id"}, "--columns: does not go with", "--help"},
	};

	(void)state;
	ALL_WRONG(rows);
}

static void test_words_too_few_or_too_many(void **state)
{
	static const struct row rows[] = {
		{{"list"}, "list: needs PROCESS", "help list"},
		{{"list", pid, "more"}, "more: one argument too many", "help list"},
		{{"list", pid, "--json", "lines"}, "lines: one argument too many", "help list"},
		{{"show", pid}, "show: needs PROCESS", "help show"},
	};
	struct harness_process *p =
		cli_run("fiberctl", "list", "1", "2", "3", "4", "5", "6", "7", "8", "nine", NULL);

	(void)state;
	ALL_WRONG(rows);
	cli_expect(p, 64);
	cli_contains(p->err.bytes, "nine: one argument too many");
	harness_free(p);
}

static void test_options_stand_before_and_behind_the_words(void **state)
{
	const char *const id = cli_number(crowd.members[0].id);
	char where[32];
	const char *const ways[][7] = {
		{"list", pid, "--where", where, "--json"},
		{"--json", "list", pid, "--where", where},
		{"--where", where, "-j", "list", pid},
		{"list", "-jw", where, pid},
		{"-w", where, "list", "--json", "--", pid},
		{"list", "--json", "--whe", where, pid},
	};

	(void)state;
	snprintf(where, sizeof(where), "id=%s", id);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct harness_process *p =
			cli_run("fiberctl", ways[i][0], ways[i][1], ways[i][2], ways[i][3],
				ways[i][4], ways[i][5], ways[i][6], NULL);
		json_t *answer = json_well(p);

		assert_int_equal(json_int(answer, "shown"), 1);
		assert_int_equal(
			json_int(json_array_get(json_object_get(answer, "fibers"), 0), "id"),
			crowd.members[0].id);
		json_decref(answer);
	}
}

/* It is unknown which of the two was meant. */
static void test_options_with_a_value_are_given_once(void **state)
{
	static const struct row rows[] = {
		{{"list", pid, "--limit", "2", "--limit=3"}, "--limit: given twice", "--help"},
		{{"list", pid, "-l1", "-l1"}, "--limit: given twice", "--help"},
		{{"list", pid, "-s", "id", "--sort=id"}, "--sort: given twice", "--help"},
		{{"--color=never", "list", pid, "--color=auto"}, "--color: given twice", "--help"},
		{{"watch", "-n1", "list", pid, "-n", "2"}, "--interval: given twice", "--help"},
	};

	(void)state;
	ALL_WRONG(rows);
	cli_expect_error(cli_run("fibertrace", "--core", "a", "--core", "b", NULL), 64,
			 "fibertrace", "--core: given twice");
}

static void test_options_without_a_value_may_be_given_twice(void **state)
{
	struct harness_process *p = cli_run("fiberctl", "list", "-a", pid, "--all", "--json=lines",
					    "--json", "-j", NULL);
	json_t *answer = json_well(p);

	(void)state;
	assert_int_equal(json_int(answer, "shown"), crowd.count);
	json_decref(answer);
}

static void test_help_of_a_command_has_its_options_and_no_others(void **state)
{
	struct harness_process *p = cli_run("fiberctl", "help", "list", NULL);

	(void)state;
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "usage: fiberctl list PROCESS [OPTION]...\n");
	cli_contains(p->out.bytes, "  -w, --where EXPR ");
	cli_contains(p->out.bytes, "  -l, --limit N ");
	assert_null(strstr(p->out.bytes, "--follow"));
	harness_free(p);
	p = cli_run("fiberctl", "list", "--help", NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "usage: fiberctl list ");
	harness_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_options_of_list_that_are_wrong),
		cmocka_unit_test(test_options_that_no_command_has),
		cmocka_unit_test(test_options_that_do_not_go_with_the_command),
		cmocka_unit_test(test_words_too_few_or_too_many),
		cmocka_unit_test(test_options_stand_before_and_behind_the_words),
		cmocka_unit_test(test_options_with_a_value_are_given_once),
		cmocka_unit_test(test_options_without_a_value_may_be_given_twice),
		cmocka_unit_test(test_help_of_a_command_has_its_options_and_no_others),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, start, one_crowd_end);
}
