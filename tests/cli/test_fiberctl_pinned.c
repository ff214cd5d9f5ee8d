/* SPDX-License-Identifier: MIT */
/* test_fiberctl_pinned.c - pinned waits, by the place they happened in, and as they come. */
#include <stdio.h>
#include <string.h>
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
	cli_expect(p, 0);
	answer = json_answer(p);
	harness_free(p);
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
	/* A wait begins when its deadline has been found out; what comes between may take one of them a while. */
	assert_true(json_int(took, "min") > 0);
	assert_true(json_int(took, "max") >= 50000000);
	assert_true(json_int(took, "total") >= 3 * json_int(took, "min"));
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
	cli_contains(p->out.bytes, "  #0  ");
	cli_contains(p->out.bytes, "\nshown 2 of 2 pinned waits, in 1 place\n");
	harness_free(p);
	harness_free(hog);
}

/* A second is only how long each of these looks. */
static bool begun(void *arg)
{
	struct harness_process *follow = arg;

	harness_wait_line(follow, "no such line", 1);
	return strstr(follow->out.bytes, " and on fiber ") != NULL;
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
	cli_expect(p, 0);
	harness_free(p);
	fd = http_connect(port);
	http_send(fd, "GET /block?ms=5 HTTP/1.1\r\nHost: localhost\r\n\r\n");
	assert_int_equal(http_answer(fd, body, sizeof body), 503);
	close(fd);
	/* The server's frames may be larger than what is kept of a stack. */
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
		cmocka_unit_test(test_text_has_a_header_and_the_frames),
		cmocka_unit_test(test_follow_tells_a_wait_when_it_begins_and_when_it_has_ended),
		cmocka_unit_test(test_follow_as_json_is_an_object_a_line),
		cmocka_unit_test(test_a_refused_wait_says_so),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
