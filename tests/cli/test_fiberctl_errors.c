/* SPDX-License-Identifier: MIT */
/*
 * test_fiberctl_errors.c - failures have a clear message and the right exit code
 *
 * After each test the server still answers.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness/cli/errors.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/cli/one_server.h"
#include "tests/harness/watchdog.h"

static void test_fiberctl_usage_errors_are_64(void **state)
{
	static const char *const bad[][ERRORS_WORDS] = {
		{"nonsense"},
		{"list"},
		{"list", "1", "2"},
		{"list", "--unknown"},
		{"show", "1"},
		{"show", "1", "x"},
		{"bt", "1"},
		{"bt", "1", "-7"},
		{"bt", "1", "0"},
		{"carriers"},
		{"carriers", "1", "2"},
		{"policy"},
		{"policy", "1", "loud"},
		{"policy", "1", "warn", "error"},
	};

	(void)state;
	errors_of_usage("fiberctl", bad, sizeof(bad) / sizeof(bad[0]));
}

static void test_fiberctl_takes_the_beginning_of_a_command(void **state)
{
	const char *const number = cli_gone();

	(void)state;
	cli_expect_error(cli_run("fiberctl", "li", number, NULL), 2, "fiberctl", number);
	cli_expect_error(cli_run("fiberctl", "dead", number, NULL), 2, "fiberctl", number);
	/* For fibertrace another word is a process: 'li' is none. */
	cli_expect_error(cli_run("fibertrace", "li", NULL), 2, "fibertrace", "li");
}

static void test_fiberctl_has_help(void **state)
{
	(void)state;
	errors_help("fiberctl", "policy");
}

static void test_fiberctl_no_such_process(void **state)
{
	const char *const number = cli_gone();

	(void)state;
	for (int i = 0; i < 2; i++)
		cli_expect_error(cli_run("fiberctl", i ? "list" : "policy", number, NULL), 2,
				 "fiberctl", number);
	cli_expect_error(cli_run("fiberctl", "list", "no-such-program", NULL), 2, "fiberctl",
			 "no-such-program");
}

static void test_fiberctl_process_without_fibers(void **state)
{
	struct harness_process *plain = cli_without_fibers();

	char remedy[64];

	(void)state;
	snprintf(remedy, sizeof(remedy), "; 'fibertrace %d' shows its threads", (int)plain->pid);
	cli_expect_error(cli_run("fiberctl", "list", cli_number((uint64_t)plain->pid), NULL), 2,
			 "fiberctl", remedy);
	harness_free(plain);
}

static void test_fiberctl_control_is_off(void **state)
{
	static const char *const env[] = {"FIBER_CONTROL=off", NULL};
	const struct harness_how how = {.env = env};
	unsigned other_port;
	struct harness_process *other = http_start(&how, NULL, NULL, &other_port);

	(void)state;
	/* The message suggests fibertrace, which needs no socket. */
	cli_expect_error(cli_run("fiberctl", "list", cli_number((uint64_t)other->pid), NULL), 2,
			 "fiberctl", "fibertrace");
	http_alive(other_port);
	harness_free(other);
}

static void test_fiberctl_dead_process_socket(void **state)
{
	unsigned other_port;
	struct harness_process *other = http_start(NULL, NULL, NULL, &other_port);
	const char *const number = cli_number((uint64_t)other->pid);

	(void)state;
	kill(other->pid, SIGKILL);
	assert_true(harness_wait_end(other, CLI_SECONDS));
	cli_expect_error(cli_run("fiberctl", "list", number, NULL), 2, "fiberctl", number);
	harness_free(other);
}

static void test_fiberctl_what_is_no_socket_is_no_dead_process(void **state)
{
	(void)state;
	cli_expect_error(cli_run("fiberctl", "list", "/dev/null", NULL), 2, "fiberctl",
			 "/dev/null: is no control socket, and no snapshot");
	cli_expect_error(cli_run("fiberctl", "policy", "/", NULL), 2, "fiberctl", "/: ");
}

static void test_fiberctl_stopped_process_is_an_error_within_seconds(void **state)
{
	unsigned other_port;
	struct harness_process *other = http_start(NULL, NULL, NULL, &other_port), *p;

	(void)state;
	kill(other->pid, SIGSTOP);
	p = cli_run("fiberctl", "list", cli_number((uint64_t)other->pid), NULL);
	assert_false(p->timed_out);
	cli_expect_error(p, 2, "fiberctl", "fibertrace");
	kill(other->pid, SIGCONT);
	http_alive(other_port);
	harness_free(other);
}

static void test_fiberctl_id_that_does_not_exist(void **state)
{
	(void)state;
	cli_expect_error(cli_run("fiberctl", "show", pid, "4000000000", NULL), 2, "fiberctl",
			 "4000000000");
	cli_expect_error(cli_run("fiberctl", "bt", pid, "4000000000", NULL), 2, "fiberctl",
			 "4000000000");
	cli_expect_error(cli_run("fiberctl", "bt", pid, "4000000000", "--json", NULL), 2,
			 "fiberctl", "4000000000");
}

struct sought {
	const char *name;
	uint64_t id; /* 0: not found */
};

/* Find the fiber of that name in the server's list. */
static void look(struct sought *sought)
{
	struct harness_process *p = cli_run("fiberctl", "list", pid, "--json", NULL);
	const json_t *fiber;
	json_t *answer;
	size_t i;

	answer = json_well(p);
	sought->id = 0;
	json_array_foreach (json_object_get(answer, "fibers"), i, fiber)
		if (!strcmp(json_text(fiber, "name"), sought->name))
			sought->id = (uint64_t)json_int(fiber, "id");
	json_decref(answer);
}

static bool there(void *sought)
{
	look(sought);
	return ((struct sought *)sought)->id != 0;
}

static bool gone(void *sought)
{
	return !there(sought);
}

static void test_fiberctl_id_that_has_just_ended(void **state)
{
	struct sought sought = {"conn-1", 0};
	struct harness_process *p;
	const char *id;
	int fd;

	(void)state;
	/* A separate server, so that the first connection is the only one. */
	one_server_end(NULL);
	one_server(NULL);
	fd = http_connect(port);
	assert_true(harness_until(there, &sought, CLI_SECONDS));
	id = cli_number(sought.id);
	p = cli_run("fiberctl", "bt", pid, id, NULL);
	cli_ended(p, 0);
	close(fd);
	assert_true(harness_until(gone, &sought, CLI_SECONDS));
	cli_expect_error(cli_run("fiberctl", "show", pid, id, NULL), 2, "fiberctl", id);
	cli_expect_error(cli_run("fiberctl", "bt", pid, id, NULL), 2, "fiberctl", id);
}

static void test_fiberctl_works_where_process_vm_readv_is_forbidden(void **state)
{
	const struct harness_how how = {.forbid_peeking = true};
	unsigned other_port;
	struct harness_process *other = http_start(&how, NULL, NULL, &other_port), *p;
	const char *const number = cli_number((uint64_t)other->pid);
	json_t *answer, *fiber;
	size_t i, walked = 0;

	(void)state;
	http_alive(other_port);
	p = cli_run("fiberctl", "list", number, "--json", NULL);
	answer = json_well(p);
	assert_true(json_is_true(json_object_get(answer, "complete")));
	assert_true(json_int(answer, "total") >= 2);
	json_decref(answer);
	p = cli_run("fiberctl", "bt", number, "--all", "--json", NULL);
	answer = json_well(p);
	json_array_foreach (json_object_get(answer, "fibers"), i, fiber) {
		assert_true(json_is_false(json_object_get(fiber, "truncated")));
		walked += json_array_size(json_object_get(fiber, "frames")) > 2;
	}
	assert_true(walked >= 2);
	json_decref(answer);
	http_alive(other_port);
	harness_free(other);
}

#define CASE(name) cmocka_unit_test_teardown(name, one_server_answers)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_fiberctl_usage_errors_are_64),
		CASE(test_fiberctl_takes_the_beginning_of_a_command),
		CASE(test_fiberctl_has_help),
		CASE(test_fiberctl_no_such_process),
		CASE(test_fiberctl_process_without_fibers),
		CASE(test_fiberctl_control_is_off),
		CASE(test_fiberctl_dead_process_socket),
		CASE(test_fiberctl_what_is_no_socket_is_no_dead_process),
		CASE(test_fiberctl_stopped_process_is_an_error_within_seconds),
		CASE(test_fiberctl_id_that_does_not_exist),
		CASE(test_fiberctl_id_that_has_just_ended),
		CASE(test_fiberctl_works_where_process_vm_readv_is_forbidden),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, one_server, one_server_end);
}
