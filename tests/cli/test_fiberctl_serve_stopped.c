/* SPDX-License-Identifier: MIT */
/*
 * test_fiberctl_serve_stopped.c - programs that stop, and programs that end during a question
 *
 * Their answers are errors in JSON, in bounded time, and the other programs are answered meanwhile.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness/cli/prom.h"
#include "tests/harness/cli/served_crowd.h"
#include "tests/harness/clock.h"
#include "tests/harness/watchdog.h"

#define PATIENCE INT64_C(30000000000)

static void test_a_stopped_program_is_an_error_and_delays_no_other(void **state)
{
	struct crowd stopped = crowd_start(NULL, "crowd", "20", NULL);
	pid_t who = stopped.process->pid;
	int64_t began;
	int fd[3];

	(void)state;
	await_found(who);
	kill(who, SIGSTOP);
	assert_true(harness_until(cli_stopped, &who, CLI_SECONDS));
	began = harness_now();
	fd[0] = ask(who, "list");
	fd[1] = ask(who, "top");
	fd[2] = ask(who, "bt");
	crowd_is_answered();
	for (int i = 0; i < 3; i++)
		assert_int_not_equal(serve_answered(fd[i]), 200);
	assert_true(harness_now() - began < PATIENCE);
	kill(who, SIGCONT);
	assert_int_equal(serve_answered(ask(who, "list")), 200);
	crowd_end(&stopped);
}

/* libfiber_up of a process in /metrics, which must be answered in time; -1: not listed yet. */
static double up(pid_t who)
{
	const int64_t began = harness_now();
	struct http_reply reply = serve_get(&server, "/metrics");
	char series[64];
	double value;

	assert_true(harness_now() - began < PATIENCE / 3);
	prom_check(reply.body);
	snprintf(series, sizeof(series), "libfiber_up{pid=\"%d\"}", who);
	value = strstr(reply.body, series) ? prom_value(reply.body, series) : -1;
	http_drop(&reply);
	return value;
}

static bool is_up(void *who)
{
	return up(*(pid_t *)who) == 1;
}

static bool is_down(void *who)
{
	return up(*(pid_t *)who) == 0;
}

/* The same while a page asks for the program all the time. */
static bool is_down_for_all(void *who)
{
	const int fd = ask(*(pid_t *)who, "top");
	const bool down = is_down(who);

	serve_answered(fd);
	return down;
}

static void stops(bool (*down)(void *))
{
	struct crowd stopped = crowd_start(NULL, "crowd", "20", NULL);
	pid_t who = stopped.process->pid;

	await_found(who);
	assert_true(harness_until(is_up, &who, CLI_SECONDS));
	kill(who, SIGSTOP);
	assert_true(harness_until(cli_stopped, &who, CLI_SECONDS));
	assert_true(harness_until(down, &who, PATIENCE / 1000000000));
	assert_true(up(crowd.process->pid) == 1);
	kill(who, SIGCONT);
	crowd_end(&stopped);
}

static void test_metrics_of_a_stopped_program_are_up_0(void **state)
{
	(void)state;
	stops(is_down);
}

static void test_metrics_of_a_stopped_program_that_is_looked_at_are_up_0(void **state)
{
	(void)state;
	stops(is_down_for_all);
}

/* Its last answer, and the last search for programs, are of a moment before the end. */
static void test_a_program_that_has_ended_is_not_listed(void **state)
{
	const struct timespec fresh = {1, 200000000}; /* longer than a list is given to others */
	struct crowd ends = crowd_start(NULL, "crowd", "20", NULL);
	char member[32];
	struct http_reply reply;

	(void)state;
	await_found(ends.process->pid);
	snprintf(member, sizeof(member), "\"pid\":%d,", ends.process->pid);
	reply = serve_get(&server, "/api/v1/processes");
	cli_contains(reply.body, member);
	http_drop(&reply);
	nanosleep(&fresh, NULL);
	harness_end(ends.process);
	reply = serve_get(&server, "/api/v1/processes");
	assert_null(strstr(reply.body, member));
	http_drop(&reply);
	crowd_end(&ends);
}

static void test_a_program_that_ends_during_a_question_is_an_error(void **state)
{
	struct crowd ends = crowd_start(NULL, "crowd", "20", NULL);
	pid_t who = ends.process->pid;
	int fd[2];

	(void)state;
	await_found(who);
	kill(who, SIGSTOP);
	assert_true(harness_until(cli_stopped, &who, CLI_SECONDS));
	fd[0] = ask(who, "list");
	fd[1] = ask(who, "top");
	kill(who, SIGKILL);
	assert_int_not_equal(serve_answered(fd[0]), 200);
	assert_int_not_equal(serve_answered(fd[1]), 200);
	crowd_is_answered();
	crowd_end(&ends);
	serve_await_known(&server, who, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_stopped_program_is_an_error_and_delays_no_other),
		cmocka_unit_test(test_metrics_of_a_stopped_program_are_up_0),
		cmocka_unit_test(test_metrics_of_a_stopped_program_that_is_looked_at_are_up_0),
		cmocka_unit_test(test_a_program_that_has_ended_is_not_listed),
		cmocka_unit_test(test_a_program_that_ends_during_a_question_is_an_error),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, served_beside_others, served_crowd_end);
}
