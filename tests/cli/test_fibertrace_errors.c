/* SPDX-License-Identifier: MIT */
/* test_fibertrace_errors.c - a process that cannot be read: which, why, and the remedy */
#include <stdio.h>
#include <string.h>

#include "tests/harness/cli/errors.h"
#include "tests/harness/cli/one_server.h"
#include "tests/harness/watchdog.h"

static void test_fibertrace_usage_errors_are_64(void **state)
{
	static const char *const bad[][ERRORS_WORDS] = {
		{NULL},	    {"/x"},
		{"0"},	    {"-1"},
		{"1", "2"}, {"--unknown", "1"},
		{"--core"}, {"--core", "a", "--nonsense"},
	};

	(void)state;
	errors_of_usage("fibertrace", bad, sizeof(bad) / sizeof(bad[0]));
}

static void test_fibertrace_has_help(void **state)
{
	(void)state;
	errors_help("fibertrace", "--core");
}

static void test_fibertrace_names_a_process_that_does_not_exist(void **state)
{
	const char *const number = cli_gone();

	(void)state;
	cli_expect_error(cli_run("fibertrace", number, NULL), 2, "fibertrace", number);
	cli_expect_error(cli_run("fibertrace", number, "--json", NULL), 2, "fibertrace", number);
}

static void test_fibertrace_names_a_process_without_fibers_where_it_needs_them(void **state)
{
	struct harness_process *plain = cli_without_fibers();
	const char *const number = cli_number((uint64_t)plain->pid);

	(void)state;
	cli_expect_error(cli_run("fibertrace", "tree", number, NULL), 2, "fibertrace", number);
	cli_expect_error(cli_run("fibertrace", "list", number, "--module", "libz.so", NULL), 2,
			 "fibertrace", number);
	harness_free(plain);
}

static void test_fibertrace_runs_where_process_vm_readv_is_forbidden_to_the_program(void **state)
{
	const struct harness_how how = {.forbid_peeking = true};
	unsigned other_port;
	struct harness_process *other = http_start(&how, NULL, NULL, &other_port), *p;

	(void)state;
	p = cli_run("fibertrace", cli_number((uint64_t)other->pid), NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "acceptor_main");
	harness_free(p);
	http_alive(other_port);
	harness_free(other);
}

#define CASE(name) cmocka_unit_test_teardown(name, one_server_answers)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_fibertrace_usage_errors_are_64),
		CASE(test_fibertrace_has_help),
		CASE(test_fibertrace_names_a_process_that_does_not_exist),
		CASE(test_fibertrace_names_a_process_without_fibers_where_it_needs_them),
		CASE(test_fibertrace_runs_where_process_vm_readv_is_forbidden_to_the_program),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, one_server, one_server_end);
}
