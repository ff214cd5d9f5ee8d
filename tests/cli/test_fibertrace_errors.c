/* SPDX-License-Identifier: MIT */
/* test_fibertrace_errors.c - a process that cannot be read: which, why, and what would help. */
#include <stdio.h>
#include <string.h>

#include "tests/harness/cli/one_server.h"
#include "tests/harness/watchdog.h"

static void test_fibertrace_usage_errors_are_64(void **state)
{
	static const char *const bad[][3] = {
		{NULL},	    {"/x"},
		{"0"},	    {"-1"},
		{"1", "2"}, {"--unknown", "1"},
		{"--core"}, {"--core", "a", "--nonsense"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cli_expect_error(cli_run("fibertrace", bad[i][0], bad[i][1], bad[i][2], NULL), 64,
				 "fibertrace", "");
}

static void test_fibertrace_has_help(void **state)
{
	struct harness_process *p = cli_run("fibertrace", "--help", NULL);

	(void)state;
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "--core");
	harness_free(p);
}

static void test_fibertrace_names_a_process_that_does_not_exist(void **state)
{
	struct harness_process *gone = harness_run((const char *[]){"true", NULL}, NULL, 10);
	const char *const number = cli_number((uint64_t)gone->pid);

	(void)state;
	cli_expect_error(cli_run("fibertrace", number, NULL), 2, "fibertrace", number);
	cli_expect_error(cli_run("fibertrace", number, "--json", NULL), 2, "fibertrace", number);
	harness_free(gone);
}

static void test_fibertrace_names_a_process_without_fibers(void **state)
{
	struct harness_process *plain = harness_start((const char *[]){"sleep", "100", NULL}, NULL);
	const char *const number = cli_number((uint64_t)plain->pid);

	(void)state;
	cli_expect_error(cli_run("fibertrace", number, NULL), 2, "fibertrace", number);
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
		CASE(test_fibertrace_names_a_process_without_fibers),
		CASE(test_fibertrace_runs_where_process_vm_readv_is_forbidden_to_the_program),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, one_server, one_server_end);
}
