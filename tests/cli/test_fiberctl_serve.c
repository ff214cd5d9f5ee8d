/* SPDX-License-Identifier: MIT */
/*
 * test_fiberctl_serve.c - the endpoints of the server answer as the command line does
 *
 * The program is the fixture crowd, in which nothing changes but ages. So an answer over HTTP and the
 * output of the command differ only in times, and where a command counts work, in numbers.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness/cli/one_crowd.h"
#include "tests/harness/cli/serve.h"
#include "tests/harness/watchdog.h"

#define JSON_PROCESSES                                                                             \
	"schemaVersion:i name:s source:s takenNs:i host:s sampledNs:i total:i shown:i complete:b " \
	"processes:a"

static struct serve server;

static int begin(void **state)
{
	(void)state;
	one_crowd("crowd", "60", NULL);
	crowd_grow_old(pid);
	server = serve_start(pid, NULL);
	return 0;
}

static int finish(void **state)
{
	serve_end(&server);
	return one_crowd_end(state);
}

/* -- equal answers -- */

/* The length of " to 1.3s, median 1.2s": of a group whose times differ when they are rounded. */
static size_t range_length(const char *text)
{
	static const char median[] = ", median ", number[] = "0123456789.munsh";
	size_t n;

	if (strncmp(text, " to ", 4) != 0)
		return 0;
	n = 4 + strspn(text + 4, number);
	if (strncmp(text + n, median, sizeof median - 1) != 0)
		return 0;
	n += sizeof median - 1;
	return n + strspn(text + n, number);
}

/* A text with numbers of one form: "1.25ms" and "3s" are both "#", and so is a range of times. */
static json_t *mask_text(const char *text)
{
	char *const copy = strdup(text), *to = copy;

	assert_non_null(copy);
	for (const char *at = text; *at; at++) {
		const bool digit = isdigit((unsigned char)*at);
		const size_t unit = strspn(at, "munsh"), range = range_length(at);

		if (range && to > copy && to[-1] == '#') {
			at += range - 1;
		} else if (digit || (*at == '.' && to > copy && to[-1] == '#')) {
			if (to == copy || to[-1] != '#')
				*to++ = '#';
		} else if (unit && to > copy && to[-1] == '#') {
			at += unit - 1;
		} else {
			*to++ = *at;
		}
	}
	*to = '\0';
	json_t *const masked = json_string(copy);

	free(copy);
	return masked;
}

/* Replace times by 0; all: every number. */
static json_t *mask(const char *key, json_t *value, bool all)
{
	const size_t n = strlen(key);
	const char *name;
	json_t *member;
	size_t i;

	if (json_is_number(value) &&
	    (all || (n > 2 && !strcmp(key + n - 2, "Ns")) || !strcmp(key, "min") ||
	     !strcmp(key, "median") || !strcmp(key, "max")))
		return json_integer(0);
	if (json_is_string(value) &&
	    (!strcmp(key, "text") || !strcmp(key, "evidence") || !strcmp(key, "why")))
		return mask_text(json_string_value(value));
	if (json_is_object(value)) {
		json_object_foreach (value, name, member)
			json_object_set_new(value, name, mask(name, member, all));
	} else if (json_is_array(value)) {
		json_array_foreach (value, i, member)
			json_array_set_new(value, i, mask(key, member, all));
	}
	return json_incref(value);
}

static char *masked(json_t *answer, bool all)
{
	char *text;

	json_decref(mask("", answer, all));
	text = json_dumps(answer, JSON_SORT_KEYS | JSON_INDENT(1));
	json_decref(answer);
	assert_non_null(text);
	return text;
}

/* Assert that two texts are equal; show where they begin to differ. */
static void expect_same(const char *what, const char *got, const char *expected)
{
	size_t i = 0;

	while (got[i] && got[i] == expected[i])
		i++;
	if (got[i] || expected[i])
		fail_msg("%s: behind\n%.*s\nis over HTTP\n%.300s\nand on the command line\n%.300s",
			 what, i > 200 ? 200 : (int)i, got + (i > 200 ? i - 200 : 0), got + i,
			 expected + i);
}

static const struct {
	const char *path, *words[3];
	bool counts; /* its numbers change */
} commands[] = {
	{"list", {"list", "--limit=1000"}, false},
	{"list?where=wait%3Dmutex&sort=-id", {"list", "--where=wait=mutex", "--sort=-id"}, false},
	{"show?id=5", {"show", "5"}, false},
	{"bt?id=5&frames=2", {"bt", "5", "--frames=2"}, false},
	{"bt", {"bt", "--all"}, false},
	{"stacks?group-by=wait", {"stacks", "--group-by=wait"}, false},
	{"tree", {"tree", "--limit=1000"}, false},
	{"why", {"why"}, false},
	{"waits", {"waits"}, false},
	{"deadlock", {"deadlock"}, false},
	{"slow", {"slow"}, false},
	{"pinned", {"pinned"}, false},
	{"carriers", {"carriers"}, true},
	{"metrics", {"metrics"}, true},
	{"policy", {"policy"}, false},
	{"audit", {"audit"}, false},
	{"watchdog", {"watchdog"}, false},
};
#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

/* The answer of the command line to question i. */
static char *by_hand(size_t i)
{
	const char *const *const w = commands[i].words;
	struct harness_process *const p =
		cli_run("fiberctl", w[0], pid, "--json", w[1], w[1] ? w[2] : NULL, NULL);
	json_t *answer;

	assert_in_range(harness_exit_code(p), 0, 4);
	answer = json_answer(p);
	harness_free(p);
	return masked(answer, commands[i].counts);
}

static void test_each_command_answers_as_on_the_command_line(void **state)
{
	char path[256], *got, *expected;
	int fd[COMMANDS];

	(void)state;
	for (size_t i = 0; i < COMMANDS; i++) {
		snprintf(path, sizeof(path), "/api/v1/processes/%s/%s", pid, commands[i].path);
		fd[i] = serve_connect(&server);
		serve_send(&server, fd[i], "GET", path, NULL);
	}
	for (size_t i = 0; i < COMMANDS; i++) {
		struct http_reply reply = http_read(fd[i], false);

		if (reply.status != 200)
			fail_msg("%s: %d: %s", commands[i].path, reply.status, reply.body);
		got = masked(serve_parse(&reply), commands[i].counts);
		expected = by_hand(i);
		expect_same(commands[i].path, got, expected);
		free(got);
		free(expected);
		http_drop(&reply);
		close(fd[i]);
	}
}

/* The row of the crowd in an answer about all programs; other programs may exist. */
static char *row_of_crowd(json_t *answer)
{
	json_t *row, *found = NULL;
	size_t i;

	json_promise(answer, "answer", JSON_PROCESSES);
	json_array_foreach (json_object_get(answer, "processes"), i, row)
		if (json_int(row, "pid") == crowd.process->pid)
			found = json_incref(row);
	json_decref(answer);
	assert_non_null(found);
	return masked(found, false);
}

static void test_a_row_of_processes_is_that_of_the_command_line(void **state)
{
	struct harness_process *p = cli_run("fiberctl", "--json", NULL);
	char *got = row_of_crowd(serve_json(&server, 200, "/api/v1/processes"));
	char *expected = row_of_crowd(json_well(p));

	(void)state;
	expect_same("processes", got, expected);
	free(got);
	free(expected);
}

/* -- top -- */

static void test_top_has_a_row_for_each_fiber_and_totals(void **state)
{
	json_t *answer = serve_json(&server, 200, "/api/v1/processes/%s/top", pid);

	(void)state;
	json_promise_answer(answer, "control");
	assert_int_equal(json_array_size(json_object_get(answer, "fibers")), 60);
	json_decref(answer);
	answer =
		serve_json(&server, 200, "/api/v1/processes/%s/top?limit=7&where=wait%%3Dsem", pid);
	assert_int_equal(json_array_size(json_object_get(answer, "fibers")),
			 crowd_count(&crowd, "sem") < 7 ? crowd_count(&crowd, "sem") : 7);
	json_decref(answer);
}

static unsigned long look_of(const struct http_reply *reply)
{
	char number[32];

	assert_int_equal(reply->status, 200);
	return strtoul(http_field(reply, "X-Fiber-Look", number, sizeof(number)), NULL, 10);
}

static void test_top_after_a_look_is_of_a_later_look(void **state)
{
	struct http_reply reply = serve_get(&server, "/api/v1/processes/%s/top", pid);
	unsigned long look = look_of(&reply), next;

	(void)state;
	for (int i = 0; i < 3; i++, look = next) {
		http_drop(&reply);
		reply = serve_get(&server, "/api/v1/processes/%s/top?after=%lu", pid, look);
		next = look_of(&reply);
		assert_true(next > look);
	}
	http_drop(&reply);
}

/* A viewer may know a look of a server that has ended since. */
static void test_top_after_a_look_that_never_was_is_answered(void **state)
{
	struct http_reply reply =
		serve_get(&server, "/api/v1/processes/%s/top?after=1000000000", pid);

	(void)state;
	assert_true(look_of(&reply) > 0);
	http_drop(&reply);
}

/* The look of the answer to a question that was sent. */
static unsigned long look_at(int fd)
{
	struct http_reply reply = http_read(fd, false);
	const unsigned long look = look_of(&reply);

	http_drop(&reply);
	close(fd);
	return look;
}

static int ask_after(const char *command, unsigned long look)
{
	char question[64];

	snprintf(question, sizeof(question), "%s?after=%lu", command, look);
	return serve_ask_about(&server, crowd.process->pid, question);
}

/* The answers of a turn arrive one after the other: `top` first, and all stacks take longer. */
static void test_what_is_asked_again_during_its_turn_is_in_the_next_turn(void **state)
{
	const unsigned long before = look_at(serve_ask_about(&server, crowd.process->pid, "top"));
	const int top = ask_after("top", before), bt = ask_after("bt", before);
	const unsigned long look = look_at(top);
	const int again = ask_after("bt", look);

	(void)state;
	assert_true(look > before);
	assert_true(look_at(bt) > before);
	assert_true(look_at(again) > look);
}

static void test_history_has_the_totals_of_each_look(void **state)
{
	const json_t *sample, *samples;
	json_int_t before = 0;
	json_t *answer;
	size_t i;

	(void)state;
	json_decref(serve_json(&server, 200, "/api/v1/processes/%s/top?after=0", pid));
	answer = serve_json(&server, 200, "/api/v1/processes/%s/history", pid);
	json_promise(answer, "history", "schemaVersion:i pid:i name:s samples:a");
	assert_int_equal(json_int(answer, "pid"), crowd.process->pid);
	samples = json_object_get(answer, "samples");
	assert_true(json_array_size(samples) > 0);
	json_array_foreach (samples, i, sample) {
		json_promise(sample, "sample",
			     "takenNs:i intervalNs:i fibers:i states:o waits:o verdict:s cpuNs:i "
			     "switches:i new:i gone:i");
		assert_int_equal(json_int(sample, "fibers"), 60);
		assert_true(json_int(sample, "takenNs") > before);
		before = json_int(sample, "takenNs");
	}
	json_decref(answer);
}

/* -- profiles as text -- */

static void expect_text(const char *path, const char *command, const char *option)
{
	struct http_reply reply = serve_get(&server, "%s", path);
	struct harness_process *p = cli_run("fiberctl", command, pid, option, NULL);
	json_t *got, *expected;
	char type[64];

	cli_expect(p, 0);
	if (reply.status != 200)
		fail_msg("%s: %d: %s", path, reply.status, reply.body);
	assert_string_equal(http_field(&reply, "Content-Type", type, sizeof(type)),
			    "text/plain; charset=utf-8");
	got = mask_text(reply.body);
	expected = mask_text(p->out.bytes);
	expect_same(path, json_string_value(got), json_string_value(expected));
	json_decref(got);
	json_decref(expected);
	harness_free(p);
	http_drop(&reply);
}

static void test_stacks_as_text_are_those_of_the_command_line(void **state)
{
	(void)state;
	expect_text("/debug/pprof/fiber?debug=1", "stacks", "--color=never");
	expect_text("/debug/pprof/fiber?debug=2", "bt", "--all");
	serve_refused(serve_get(&server, "/debug/pprof/fiber?debug=3"), 400, "0, 1 or 2");
}

static void test_profiles_are_listed_and_seconds_are_bounded(void **state)
{
	struct http_reply reply = serve_get(&server, "/debug/pprof/");

	(void)state;
	assert_int_equal(reply.status, 200);
	cli_contains(reply.body, "fiber ");
	http_drop(&reply);
	serve_refused(serve_get(&server, "/debug/pprof/heap"), 404, "no such profile");
	serve_refused(serve_get(&server, "/debug/pprof/profile?seconds=0"), 400, "1 to 300");
	serve_refused(serve_get(&server, "/debug/pprof/block?seconds=301"), 400, "1 to 300");
	serve_refused(serve_get(&server, "/debug/pprof/mutex?seconds=x"), 400, "1 to 300");
	serve_refused(serve_get(&server, "/debug/pprof/fiber?process=nobody"), 404, "nobody");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_command_answers_as_on_the_command_line),
		cmocka_unit_test(test_a_row_of_processes_is_that_of_the_command_line),
		cmocka_unit_test(test_top_has_a_row_for_each_fiber_and_totals),
		cmocka_unit_test(test_top_after_a_look_is_of_a_later_look),
		cmocka_unit_test(test_top_after_a_look_that_never_was_is_answered),
		cmocka_unit_test(test_what_is_asked_again_during_its_turn_is_in_the_next_turn),
		cmocka_unit_test(test_history_has_the_totals_of_each_look),
		cmocka_unit_test(test_stacks_as_text_are_those_of_the_command_line),
		cmocka_unit_test(test_profiles_are_listed_and_seconds_are_bounded),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, begin, finish);
}
