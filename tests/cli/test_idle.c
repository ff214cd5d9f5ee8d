/* SPDX-License-Identifier: MIT */
/* test_idle.c - the fixture idle opens connections, holds them and says how many it lost. */
#include <signal.h>

#include "tests/harness/cli/http.h"
#include "tests/harness/watchdog.h"

static void test_idle_opens_and_holds_its_connections(void **state)
{
	struct http_server servers[HTTP_SERVERS];

	(void)state;
	http_start_all(NULL, "600000", servers);
	for (size_t i = 0; i < HTTP_SERVERS; i++) {
		struct harness_process *idle =
			cli_start(NULL, "open 500", "idle", "500", "--port",
				  cli_number(servers[i].port), i ? "--ask" : NULL, NULL);

		http_alive(servers[i].port);
		kill(idle->pid, SIGTERM);
		assert_true(harness_wait_end(idle, CLI_SECONDS));
		cli_expect(idle, 0);
		cli_contains(idle->out.bytes, "closed 0\n");
		harness_free(idle);
	}
	http_end_all(servers);
}

static void test_idle_counts_what_the_server_ended(void **state)
{
	unsigned port;
	struct harness_process *server = http_start(NULL, "--carriers", "1", &port);
	struct harness_process *idle =
		cli_start(NULL, "open 50", "idle", "50", "--port", cli_number(port), NULL);

	(void)state;
	harness_end(server);
	cli_expect(server, 0);
	kill(idle->pid, SIGTERM);
	assert_true(harness_wait_end(idle, CLI_SECONDS));
	cli_expect(idle, 0);
	cli_contains(idle->out.bytes, "closed 50\n");
	harness_free(idle);
	harness_free(server);
}

static void test_idle_ends_by_itself_when_its_time_is_over(void **state)
{
	unsigned port;
	struct harness_process *server = http_start(NULL, "--carriers", "1", &port);
	struct harness_process *idle =
		cli_run("idle", "50", "--hold", "1", "--port", cli_number(port), NULL);

	(void)state;
	cli_expect(idle, 0);
	assert_string_equal(idle->out.bytes, "open 50\nclosed 0\n");
	harness_free(idle);
	harness_free(server);
}

static void test_idle_refuses_more_than_it_may_open(void **state)
{
	(void)state;
	cli_expect_error(cli_run("idle", "1000000", "--port", "1", NULL), 1, "idle",
			 "Too many open files");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_idle_opens_and_holds_its_connections),
		cmocka_unit_test(test_idle_counts_what_the_server_ended),
		cmocka_unit_test(test_idle_ends_by_itself_when_its_time_is_over),
		cmocka_unit_test(test_idle_refuses_more_than_it_may_open),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
