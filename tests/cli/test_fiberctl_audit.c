/* SPDX-License-Identifier: MIT */
/* test_fiberctl_audit.c - every change from outside, who made it, and every refusal */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness/cli/crowd.h"
#include "tests/harness/cli/http.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

static const char *pid;

static json_t *audit(void)
{
	struct harness_process *p = cli_run("fiberctl", "audit", pid, "--json", NULL);
	json_t *answer, *row;
	size_t i;

	answer = json_well(p);
	json_promise(answer, "answer", JSON_ANSWER " audit:a");
	json_array_foreach (json_object_get(answer, "audit"), i, row) {
		json_promise(row, "row",
			     "serial:i whenNs:i wallNs:i pid:i uid:i what:s fiberId:i? "
			     "fiberName:s? before:* "
			     "after:* done:b error:s? why:s?");
		assert_int_equal(json_int(row, "serial"), i + 1);
		assert_int_equal(json_int(row, "uid"), geteuid());
	}
	return answer;
}

static json_t *row_of(const json_t *answer, size_t i)
{
	return json_array_get(json_object_get(answer, "audit"), i);
}

/* The program prints nothing about a change. On a busy machine it reports fibers without a CPU. */
static void expect_only_long_runs(const char *text)
{
	char *copy = strdup(text), *rest = copy, *line;

	while ((line = strsep(&rest, "\n")))
		if (*line)
			cli_contains(line, " holds carrier ");
	free(copy);
}

static void test_audit_has_a_line_for_each_change_with_who_asked(void **state)
{
	static const char *const env[] = {"FIBER_CONTROL=admin", NULL};
	const struct harness_how how = {.env = env};
	struct crowd crowd = crowd_start(&how, "crowd", "60", NULL);
	const struct crowd_member *m = crowd_find(&crowd, "sleep", "");
	const char *const id = cli_number(m->id);
	struct harness_process *p;
	pid_t by[3];
	json_t *answer;

	(void)state;
	pid = cli_number((uint64_t)crowd.process->pid);
	answer = audit();
	assert_int_equal(json_int(answer, "total"), 0);
	json_decref(answer);
	p = cli_run("fiberctl", "policy", pid, "error", NULL);
	cli_expect(p, 0);
	by[0] = p->pid;
	harness_free(p);
	p = cli_run("fiberctl", "wake", pid, id, NULL);
	cli_expect(p, 2);
	by[1] = p->pid;
	harness_free(p);
	p = cli_run("fiberctl", "cancel", pid, id, NULL);
	cli_expect(p, 0);
	by[2] = p->pid;
	harness_free(p);

	answer = audit();
	assert_int_equal(json_int(answer, "shown"), 3);
	assert_string_equal(json_text(row_of(answer, 0), "what"), "policy");
	assert_string_equal(json_text(row_of(answer, 0), "before"), "warn");
	assert_string_equal(json_text(row_of(answer, 0), "after"), "error");
	assert_string_equal(json_text(row_of(answer, 1), "what"), "wake");
	assert_true(json_is_false(json_object_get(row_of(answer, 1), "done")));
	assert_string_equal(json_text(row_of(answer, 1), "why"), "it did not wait in fiber_park");
	assert_true(json_is_null(json_object_get(row_of(answer, 2), "why")));
	assert_string_equal(json_text(row_of(answer, 2), "what"), "cancel");
	assert_int_equal(json_int(row_of(answer, 2), "fiberId"), m->id);
	assert_true(json_is_true(json_object_get(row_of(answer, 2), "done")));
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(json_int(row_of(answer, i), "pid"), by[i]);
	json_decref(answer);

	p = cli_run("fiberctl", "audit", pid, NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "warn -> error");
	cli_contains(p->out.bytes, "refused: it did not wait in fiber_park");
	cli_contains(p->out.bytes, cli_number((uint64_t)by[2]));
	cli_contains(p->out.bytes, "\nshown 3 of 3 changes\n");
	harness_free(p);
	/* audit prints the values as the command does. */
	harness_free(cli_run("fiberctl", "watchdog", pid, "off", NULL));
	p = cli_run("fiberctl", "audit", pid, NULL);
	cli_contains(p->out.bytes, "20ms -> off");
	harness_free(p);
	expect_only_long_runs(crowd.process->err.bytes);
	crowd_end(&crowd);
}

/* The message must be about the fiber; the text of the errno is about processes. */
static void test_audit_speaks_of_a_fiber_that_is_not_there(void **state)
{
	static const char *const env[] = {"FIBER_CONTROL=admin", NULL};
	static const char *const commands[] = {"cancel", "wake"};
	const struct harness_how how = {.env = env};
	struct crowd crowd = crowd_start(&how, "crowd", "60", NULL);
	struct harness_process *p;
	json_t *answer;

	(void)state;
	pid = cli_number((uint64_t)crowd.process->pid);
	for (size_t i = 0; i < 2; i++) {
		p = cli_run("fiberctl", commands[i], pid, "999999", NULL);
		cli_expect(p, 2);
		cli_contains(p->err.bytes, "no fiber 999999: it has exited or never existed");
		assert_null(strstr(p->err.bytes, "process\n"));
		harness_free(p);
	}
	answer = audit();
	for (size_t i = 0; i < 2; i++)
		assert_string_equal(json_text(row_of(answer, i), "why"),
				    "no such fiber: it has exited or never existed");
	json_decref(answer);
	p = cli_run("fiberctl", "audit", pid, NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "refused: no such fiber: it has exited or never existed\n");
	assert_null(strstr(p->out.bytes, "No such process"));
	harness_free(p);
	crowd_end(&crowd);
}

static void test_audit_has_the_names_of_the_fibers_beside_the_ids(void **state)
{
	static const char *const env[] = {"FIBER_CONTROL=admin", NULL};
	const struct harness_how how = {.env = env};
	struct crowd crowd = crowd_start(&how, "crowd", "60", NULL);
	const struct crowd_member *const members[] = {crowd_find(&crowd, "sleep", ""),
						      crowd_find(&crowd, "mutex", "")};
	json_t *answer;

	(void)state;
	pid = cli_number((uint64_t)crowd.process->pid);
	for (size_t i = 0; i < 2; i++)
		harness_free(cli_run("fiberctl", "cancel", pid, cli_number(members[i]->id), NULL));
	harness_free(cli_run("fiberctl", "cancel", pid, "999999", NULL));
	harness_free(cli_run("fiberctl", "policy", pid, "error", NULL));
	answer = audit();
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(json_int(row_of(answer, i), "fiberId"), members[i]->id);
		assert_string_equal(json_text(row_of(answer, i), "fiberName"), members[i]->name);
	}
	/* There was no such fiber, and a policy has none. */
	assert_true(json_is_null(json_object_get(row_of(answer, 2), "fiberName")));
	assert_true(json_is_null(json_object_get(row_of(answer, 3), "fiberName")));
	json_decref(answer);
	crowd_end(&crowd);
}

static void test_audit_can_be_read_where_nothing_can_be_changed(void **state)
{
	static const char *const env[] = {"FIBER_CONTROL=ro", NULL};
	const struct harness_how how = {.env = env};
	struct crowd crowd = crowd_start(&how, "crowd", "10", NULL);
	json_t *answer;

	(void)state;
	pid = cli_number((uint64_t)crowd.process->pid);
	cli_expect_error(cli_run("fiberctl", "policy", pid, "silent", NULL), 2, "fiberctl", "=ro");
	answer = audit();
	assert_int_equal(json_int(answer, "shown"), 1);
	assert_string_equal(json_text(row_of(answer, 0), "after"), "silent");
	assert_string_equal(json_text(row_of(answer, 0), "error"), "Operation not permitted");
	assert_string_equal(json_text(row_of(answer, 0), "why"),
			    "not allowed: it was started with FIBER_CONTROL=ro");
	json_decref(answer);
	crowd_end(&crowd);
}

struct told {
	struct harness_process *follow;
	const char *what;
};

/* Each call waits for at most 1 s; harness_until() repeats it. */
static bool is_told(void *arg)
{
	const struct told *told = arg;

	harness_wait_line(told->follow, "no such line", 1);
	return strstr(told->follow->out.bytes, told->what) != NULL;
}

static void test_audit_tells_who_follows_each_change_once(void **state)
{
	struct crowd crowd = crowd_start(NULL, "crowd", "10", NULL);
	char tool[HARNESS_PATH];
	const char *argv[] = {harness_program(tool, "fiberctl"), "audit", NULL, "--follow", NULL};
	struct harness_process *follow, *p;
	const char *line;

	(void)state;
	pid = cli_number((uint64_t)crowd.process->pid);
	p = cli_run("fiberctl", "policy", pid, "error", NULL);
	cli_ended(p, 0);
	argv[2] = pid;
	follow = harness_start(argv, NULL);
	assert_true(harness_until(is_told, &(struct told){follow, "warn -> error"}, CLI_SECONDS));
	p = cli_run("fiberctl", "policy", pid, "silent", NULL);
	cli_ended(p, 0);
	assert_true(harness_until(is_told, &(struct told){follow, "error -> silent"}, CLI_SECONDS));
	crowd_end(&crowd);
	assert_true(harness_wait_end(follow, CLI_SECONDS));
	assert_int_equal(harness_exit_code(follow), 2);
	line = strstr(follow->out.bytes, "warn -> error");
	assert_null(strstr(line + 1, "warn -> error"));
	harness_free(follow);
}

static void test_audit_as_json_is_an_object_a_line_when_followed(void **state)
{
	struct crowd crowd = crowd_start(NULL, "crowd", "10", NULL);
	char tool[HARNESS_PATH];
	const char *argv[] = {
		harness_program(tool, "fiberctl"), "audit", NULL, "--follow", "--json", NULL};
	struct harness_process *follow, *p;
	json_t *object;

	(void)state;
	pid = cli_number((uint64_t)crowd.process->pid);
	argv[2] = pid;
	follow = harness_start(argv, NULL);
	p = cli_run("fiberctl", "watchdog", pid, "30ms", NULL);
	cli_ended(p, 0);
	object = json_loads(harness_wait_line(follow, "{", CLI_SECONDS), 0, NULL);
	assert_non_null(object);
	assert_string_equal(json_text(object, "what"), "threshold");
	assert_int_equal(json_int(object, "after"), 30000000);
	json_decref(object);
	harness_free(follow);
	crowd_end(&crowd);
}

/* The program gets more pinned waits than it keeps. */
static void test_audit_is_not_pushed_out_by_a_storm_of_pinned_waits(void **state)
{
	struct harness_process *server, *p;
	char body[128];
	unsigned port;
	json_t *answer;
	int fd;

	(void)state;
	server = http_start(NULL, NULL, NULL, &port);
	pid = cli_number((uint64_t)server->pid);
	p = cli_run("fiberctl", "policy", pid, "error", NULL);
	cli_ended(p, 0);
	fd = http_connect(port);
	/* Each wait is refused at once, unless its deadline has passed before it begins. */
	for (unsigned i = 0; i < 400; i++) {
		http_send(fd, "GET /block?ms=1000 HTTP/1.1\r\nHost: localhost\r\n\r\n");
		assert_int_equal(http_answer(fd, body, sizeof(body)), 503);
	}
	close(fd);
	p = cli_run("fiberctl", "pinned", pid, "--json", NULL);
	answer = json_answer(p);
	assert_int_equal(json_int(answer, "total"), 400);
	assert_int_equal(json_int(answer, "shown"), 256);
	json_decref(answer);
	harness_free(p);
	answer = audit();
	assert_int_equal(json_int(answer, "total"), 1);
	assert_int_equal(json_int(answer, "shown"), 1);
	assert_string_equal(json_text(row_of(answer, 0), "after"), "error");
	json_decref(answer);
	harness_free(server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_audit_has_a_line_for_each_change_with_who_asked),
		cmocka_unit_test(test_audit_speaks_of_a_fiber_that_is_not_there),
		cmocka_unit_test(test_audit_has_the_names_of_the_fibers_beside_the_ids),
		cmocka_unit_test(test_audit_can_be_read_where_nothing_can_be_changed),
		cmocka_unit_test(test_audit_tells_who_follows_each_change_once),
		cmocka_unit_test(test_audit_as_json_is_an_object_a_line_when_followed),
		cmocka_unit_test(test_audit_is_not_pushed_out_by_a_storm_of_pinned_waits),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
