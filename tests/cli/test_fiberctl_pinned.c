/* SPDX-License-Identifier: MIT */
/* test_fiberctl_pinned.c - pinned waits, grouped by place, and followed live */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/harness/cli/http.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

static void test_waits_of_one_place_are_counted_with_how_long_they_took(void **state)
{
	struct harness_process *hog = cli_start(NULL, "ready ", "hog", "--pin", "3", NULL), *p;
	json_t *answer, *sites, *site, *took;

	(void)state;
	p = cli_run("fiberctl", "pinned", cli_number((uint64_t)hog->pid), "--json", NULL);
	answer = json_well(p);
	json_promise(answer, "answer", JSON_ANSWER " sites:a events:a");
	assert_int_equal(json_int(answer, "total"), 3);
	assert_int_equal(json_array_size(json_object_get(answer, "events")), 3);
	sites = json_object_get(answer, "sites");
	assert_int_equal(json_array_size(sites), 1);
	site = json_array_get(sites, 0);
	json_promise(site, "site",
		     "count:i lasting:i fiberIds:a durationNs:o site:o frames:a truncated:b kind:s "
		     "wait:o refused:b");
	assert_int_equal(json_int(site, "count"), 3);
	assert_int_equal(json_array_size(json_object_get(site, "fiberIds")), 3);
	assert_string_equal(json_text(site, "kind"), "pinned");
	assert_string_equal(json_text(json_object_get(site, "wait"), "kind"), "sleep");
	assert_string_equal(json_text(json_object_get(site, "site"), "function"), "hog_pin");
	json_promise_frames(json_object_get(site, "frames"));
	took = json_object_get(site, "durationNs");
	/* The start of a wait is read after its deadline is computed, perhaps much later. */
	assert_true(json_int(took, "min") > 0);
	assert_true(json_int(took, "max") >= 50000000);
	assert_true(json_int(took, "total") >= 3 * json_int(took, "min"));
	json_decref(answer);
	harness_free(hog);
}

static int64_t wall(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/*
 * Each wait started between the program's start and the answer. The clocks are read one after
 * another: allow a second.
 */
static void test_when_each_was_is_told_by_both_clocks(void **state)
{
	const int64_t second = 1000000000, before = wall();
	struct harness_process *hog = cli_start(NULL, "ready ", "hog", "--pin", "3", NULL);
	json_t *answer, *site, *event;
	int64_t last = before - second;
	size_t i;

	(void)state;
	answer = json_well(
		cli_run("fiberctl", "pinned", cli_number((uint64_t)hog->pid), "--json", NULL));
	site = json_array_get(json_object_get(answer, "sites"), 0);
	json_promise(site, "site", "firstWallNs:i firstAgoNs:i lastWallNs:i lastAgoNs:i");
	json_array_foreach (json_object_get(answer, "events"), i, event) {
		const int64_t at = json_int(event, "wallNs"), ago = json_int(event, "agoNs");

		assert_true(at > last && at < wall());
		assert_true(at + ago >= before && at + ago <= wall() + second);
		assert_int_equal(json_int(event, "number"), i);
		assert_int_equal(json_int(event, "lostBefore"), 0);
		if (i == 0) {
			assert_int_equal(at, json_int(site, "firstWallNs"));
			assert_int_equal(ago, json_int(site, "firstAgoNs"));
		}
		last = at;
	}
	assert_int_equal(i, 3);
	assert_int_equal(last, json_int(site, "lastWallNs"));
	assert_int_equal(json_int(answer, "lost"), 0);
	json_decref(answer);
	harness_free(hog);
}

#define WAITS 600 /* more than a runtime keeps, even if some do not have to wait */

static void test_what_is_not_kept_any_more_is_counted(void **state)
{
	struct harness_process *hog, *p, *follow;
	char tool[HARNESS_PATH], lost[64];
	const char *argv[] = {harness_program(tool, "fiberctl"), "pinned", NULL, "--follow", NULL};
	json_t *answer, *event;
	const char *pid;
	size_t i;

	(void)state;
	hog = cli_start(NULL, "ready ", "hog", "--pin", cli_number(WAITS), "--ms", "1", NULL);
	argv[2] = pid = cli_number((uint64_t)hog->pid);
	answer = json_well(cli_run("fiberctl", "pinned", pid, "--json", NULL));
	/* On a busy machine a deadline may pass before the wait starts. */
	assert_in_range(json_int(answer, "total"), 257, WAITS);
	assert_int_equal(json_int(answer, "shown"), 256);
	assert_int_equal(json_int(answer, "lost"), json_int(answer, "total") - 256);
	json_array_foreach (json_object_get(answer, "events"), i, event) {
		assert_int_equal(json_int(event, "number"), json_int(answer, "lost") + (int)i);
		assert_int_equal(json_int(event, "lostBefore"), i ? 0 : json_int(answer, "lost"));
	}
	snprintf(lost, sizeof lost, "%d", (int)json_int(answer, "lost"));
	p = cli_run("fiberctl", "pinned", pid, NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, lost);
	cli_contains(p->out.bytes, json_int(answer, "lost") == 1 ? " is not kept any more\n"
								 : " are not kept any more\n");
	harness_free(p);
	follow = harness_start(argv, NULL);
	assert_non_null(harness_wait_line(follow, lost, CLI_SECONDS));
	cli_contains(follow->out.bytes, " not kept any more\n");
	harness_free(follow);
	json_decref(answer);
	harness_free(hog);
}

static void test_text_has_a_header_and_the_frames(void **state)
{
	struct harness_process *hog = cli_start(NULL, "ready ", "hog", "--pin", "2", NULL), *p;

	(void)state;
	p = cli_run("fiberctl", "pinned", cli_number((uint64_t)hog->pid), NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "2 times pinned in sleep: hog_pin at ");
	cli_contains(p->out.bytes, " in all, ");
	cli_contains(p->out.bytes, " ago] fibers ");
	cli_contains(p->out.bytes, "  fiber_sleep+0x");
	cli_contains(p->out.bytes, "\nshown 2 of 2 pinned waits, in 1 place\n");
	harness_free(p);
	harness_free(hog);
}

/* Each call waits for at most 1 s; harness_until() repeats it. */
static bool begun(void *arg)
{
	struct harness_process *follow = arg;

	harness_wait_line(follow, "no such line", 1);
	/* The line starts with the time of day. */
	return strstr(follow->out.bytes, " and on fiber ") != NULL && follow->out.bytes[2] == ':' &&
	       follow->out.bytes[5] == ':' && follow->out.bytes[8] == '.';
}

static bool over(void *arg)
{
	struct harness_process *follow = arg;

	harness_wait_line(follow, "no such line", 1);
	return strstr(follow->out.bytes, "s fiber ") &&
	       strstr(follow->out.bytes, " pinned in sleep");
}

static void test_follow_tells_a_wait_when_it_begins_and_when_it_has_ended(void **state)
{
	struct harness_process *server, *follow;
	char tool[HARNESS_PATH];
	const char *argv[] = {harness_program(tool, "fiberctl"), "pinned", NULL, "--follow", NULL};
	char body[128];
	unsigned port;
	int fd;

	(void)state;
	server = http_start(NULL, NULL, NULL, &port);
	argv[2] = cli_number((uint64_t)server->pid);
	follow = harness_start(argv, NULL);
	fd = http_connect(port);
	http_send(fd, "GET /block?ms=1500 HTTP/1.1\r\nHost: localhost\r\n\r\n");
	assert_true(harness_until(begun, follow, CLI_SECONDS));
	assert_true(harness_until(over, follow, CLI_SECONDS));
	assert_int_equal(http_answer(fd, body, sizeof body), 200);
	close(fd);
	harness_free(follow);
	harness_free(server);
}

static void test_follow_as_json_is_an_object_a_line(void **state)
{
	struct harness_process *hog = cli_start(NULL, "ready ", "hog", "--pin", "2", NULL), *follow;
	char tool[HARNESS_PATH];
	const char *const argv[] = {harness_program(tool, "fiberctl"),
				    "pinned",
				    cli_number((uint64_t)hog->pid),
				    "--follow",
				    "--json",
				    NULL};
	unsigned i;

	(void)state;
	follow = harness_start(argv, NULL);
	for (i = 0; i < 2; i++) {
		const char *line = harness_wait_line(follow, "{", CLI_SECONDS);
		json_t *event = line ? json_loads(line, 0, NULL) : NULL;

		assert_non_null(event);
		assert_string_equal(json_text(event, "kind"), "pinned");
		assert_string_equal(json_text(json_object_get(event, "site"), "function"),
				    "hog_pin");
		json_decref(event);
	}
	harness_free(follow);
	harness_free(hog);
}

static void test_a_refused_wait_says_so(void **state)
{
	struct harness_process *server, *p;
	const char *pid;
	char body[128];
	unsigned port;
	int fd;

	(void)state;
	server = http_start(NULL, NULL, NULL, &port);
	pid = cli_number((uint64_t)server->pid);
	p = cli_run("fiberctl", "policy", pid, "error", NULL);
	cli_ended(p, 0);
	fd = http_connect(port);
	http_send(fd, "GET /block?ms=5 HTTP/1.1\r\nHost: localhost\r\n\r\n");
	assert_int_equal(http_answer(fd, body, sizeof body), 503);
	close(fd);
	/* The server's frames may be larger than the part of a stack that is kept. */
	p = cli_run("fiberctl", "pinned", pid, NULL);
	assert_in_range(harness_exit_code(p), 0, 1);
	cli_contains(p->out.bytes, "1 time pinned in sleep, refused");
	harness_free(p);
	harness_free(server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waits_of_one_place_are_counted_with_how_long_they_took),
		cmocka_unit_test(test_when_each_was_is_told_by_both_clocks),
		cmocka_unit_test(test_what_is_not_kept_any_more_is_counted),
		cmocka_unit_test(test_text_has_a_header_and_the_frames),
		cmocka_unit_test(test_follow_tells_a_wait_when_it_begins_and_when_it_has_ended),
		cmocka_unit_test(test_follow_as_json_is_an_object_a_line),
		cmocka_unit_test(test_a_refused_wait_says_so),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
