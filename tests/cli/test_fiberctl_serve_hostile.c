/* SPDX-License-Identifier: MIT */
/*
 * test_fiberctl_serve_hostile.c - programs that lie, hang in the middle or break the protocol
 *
 * Their answers are errors in JSON, in bounded time, and the other programs are answered meanwhile.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness/cli/hostile.h"
#include "tests/harness/cli/prom.h"
#include "tests/harness/cli/served_crowd.h"
#include "tests/harness/clock.h"
#include "tests/harness/watchdog.h"

#define STRANGER 64321 /* a user without a name */
#define PATIENCE INT64_C(30000000000)

/* More than the server asks at the same time. */
#define MANY 12

static void test_many_programs_that_hang_do_not_keep_one_from_its_answer(void **state)
{
	const struct hostile_how how = {.kind = HOSTILE_BYTES, .greets = true};
	struct crowd fresh = crowd_start(NULL, "crowd", "20", NULL);
	struct hostile slow[MANY];
	unsigned given_up = 0;
	int fd[MANY];

	(void)state;
	for (int i = 0; i < MANY; i++)
		hostile_start(&slow[i], &how);
	await_found(fresh.process->pid);
	for (int i = 0; i < MANY; i++)
		await_found(slow[i].pid);
	for (int i = 0; i < MANY; i++)
		fd[i] = ask(slow[i].pid, "list");
	serve_alive(&server);
	assert_int_equal(serve_answered(ask(fresh.process->pid, "list")), 200);
	for (int i = 0; i < MANY; i++) {
		struct http_reply reply = http_read(fd[i], false);

		given_up += strstr(reply.body, "other programs wait") != NULL;
		http_drop(&reply);
		close(fd[i]);
		hostile_end(&slow[i]);
	}
	/* They were not waited for until the end of their time. */
	assert_true(given_up > 0);
	crowd_end(&fresh);
}

/* -- lies -- */

#define KINDS (HOSTILE_CLOSES + 1)

static void test_programs_that_break_the_protocol_are_errors(void **state)
{
	const int64_t began = harness_now();
	struct hostile wrong[KINDS];
	struct http_reply reply;
	int list[KINDS], top[KINDS];

	(void)state;
	for (int k = HOSTILE_STILL; k < KINDS; k++) {
		const struct hostile_how how = {.kind = (enum hostile_kind)k};

		hostile_start(&wrong[k], &how);
	}
	for (int k = HOSTILE_STILL; k < KINDS; k++) {
		await_found(wrong[k].pid);
		list[k] = ask(wrong[k].pid, "list");
		top[k] = ask(wrong[k].pid, "top");
	}
	reply = serve_get(&server, "/metrics");
	assert_int_equal(reply.status, 200);
	prom_check(reply.body);
	http_drop(&reply);
	crowd_is_answered();
	for (int k = HOSTILE_STILL; k < KINDS; k++) {
		assert_int_not_equal(serve_answered(list[k]), 200);
		assert_int_not_equal(serve_answered(top[k]), 200);
	}
	assert_true(harness_now() - began < 2 * PATIENCE);
	for (int k = HOSTILE_STILL; k < KINDS; k++)
		hostile_end(&wrong[k]);
}

static void test_false_registries_give_an_answer_or_an_error(void **state)
{
	static const char *const lies[] = {"scattered", "overlapping", "wrapping", "size-huge"};
	struct harness_process *liar[4];
	int list[4], top[4];

	(void)state;
	for (int i = 0; i < 4; i++)
		liar[i] = cli_start(NULL, "ready ", "liar", lies[i], NULL);
	for (int i = 0; i < 4; i++) {
		await_found(liar[i]->pid);
		list[i] = ask(liar[i]->pid, "list");
		top[i] = ask(liar[i]->pid, "top");
	}
	crowd_is_answered();
	for (int i = 0; i < 4; i++) {
		serve_answered(list[i]);
		serve_answered(top[i]);
		harness_free(liar[i]);
	}
	serve_alive(&server);
}

/* -- names -- */

#define SCRIPT "</script><script>\"'&\\\033[2J\n"

static void test_names_of_any_bytes_give_valid_answers(void **state)
{
	const struct hostile_how how = {.kind = HOSTILE_PROPER, .name = SCRIPT};
	struct harness_process *names = cli_start(NULL, "ready ", "names", NULL);
	static const char *const questions[] = {"list",	 "bt",	"stacks",  "tree",    "why",
						"waits", "top", "metrics", "deadlock"};
	struct http_reply reply;
	struct hostile evil;
	int fd[9];

	(void)state;
	hostile_start(&evil, &how);
	await_found(evil.pid);
	await_found(names->pid);
	for (int i = 0; i < 9; i++)
		fd[i] = ask(names->pid, questions[i]);
	for (int i = 0; i < 9; i++)
		assert_int_equal(serve_answered(fd[i]), 200);
	json_decref(serve_json(&server, 200, "/api/v1/processes"));
	serve_answered(ask(evil.pid, "list"));
	serve_answered(ask(evil.pid, "history"));
	reply = serve_get(&server, "/metrics");
	prom_check(reply.body);
	assert_null(strchr(reply.body, '\033'));
	http_drop(&reply);
	hostile_end(&evil);
	harness_free(names);
}

static void test_several_programs_of_one_name_are_409(void **state)
{
	struct crowd twin = crowd_start(NULL, "crowd", "20", NULL);

	(void)state;
	await_found(twin.process->pid);
	serve_refused(serve_get(&server, "/api/v1/processes/crowd/list"), 409, "process id");
	serve_refused(serve_get(&server, "/debug/pprof/fiber?process=crowd"), 409, "process id");
	serve_refused(serve_get(&server, "/debug/pprof/fiber"), 400, "process: is needed");
	crowd_end(&twin);
}

static void test_programs_of_other_users_are_not_served(void **state)
{
	const struct hostile_how how = {.kind = HOSTILE_PROPER, .user = STRANGER};
	struct crowd next;
	struct hostile theirs;
	char path[64];

	(void)state;
	if (geteuid() != 0)
		cli_skip("needs root, who starts a program as another user");
	hostile_start(&theirs, &how);
	/* A program that starts later is found: so the server has searched since. */
	next = crowd_start(NULL, "crowd", "20", NULL);
	await_found(next.process->pid);
	snprintf(path, sizeof(path), "/api/v1/processes/%d/list", theirs.pid);
	serve_refused(serve_get(&server, "%s", path), 404, "no such program of this user");
	hostile_end(&theirs);
	crowd_end(&next);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many_programs_that_hang_do_not_keep_one_from_its_answer),
		cmocka_unit_test(test_programs_that_break_the_protocol_are_errors),
		cmocka_unit_test(test_false_registries_give_an_answer_or_an_error),
		cmocka_unit_test(test_names_of_any_bytes_give_valid_answers),
		cmocka_unit_test(test_several_programs_of_one_name_are_409),
		cmocka_unit_test(test_programs_of_other_users_are_not_served),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, served_beside_others, served_crowd_end);
}
