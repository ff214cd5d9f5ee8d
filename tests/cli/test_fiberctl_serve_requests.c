/* SPDX-License-Identifier: MIT */
/*
 * test_fiberctl_serve_requests.c - wrong requests get an error that says what is wrong
 *
 * Each error is JSON with the status and a text. What is no HTTP gets an error of libmicrohttpd. The
 * server answers the next request in any case.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness/cli/served_crowd.h"
#include "tests/harness/watchdog.h"

static void refused(const char *method, const char *path, int status, const char *what)
{
	struct http_reply reply = serve_ask(&server, method, path, "Content-Length: 0\r\n");

	if (reply.status != status)
		fail_msg("%s %s: %d: %s", method, path, reply.status, reply.body);
	serve_refused(reply, status, what);
}

/* -- paths and methods -- */

static void test_paths_that_do_not_exist_are_404(void **state)
{
	static const char *const paths[] = {
		"/nothing",
		"/healthz/",
		"/healthz/more",
		"/healthz%00",
		"/metricsx",
		"/api/v1/",
		"/api/v2/processes",
		"/api/v1/processes/",
		"/api/v1/processes/1/2/3",
		"/api/v1/session/more",
		"/recordings/",
		"/recordings/1",
		"/recordings/0/report.html",
		"/recordings/x/report.html",
		"/recordings/1/other",
		"/recordings/1/report.html",
		"/recordings/1/report.html/more",
		"/debug/pprof/fiber/more",
		"/debug/pprof",
		/* Nothing of the file system is behind a path. */
		"/../../../../etc/passwd",
		"/..%2f..%2f..%2fetc/passwd",
		"/page.html/../../../etc/passwd",
		"//etc/passwd",
		"/etc/passwd",
		"/recordings/../../etc/passwd",
		"/recordings/1.rec",
		"/recordings/1/..%2f1.rec",
		"/report.html",
		"/share/page.html",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		refused("GET", paths[i], 404, "");
}

static void test_methods_that_do_not_fit_are_405(void **state)
{
	static const char *const methods[] = {"PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "X"};

	(void)state;
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		struct http_reply reply =
			serve_ask(&server, methods[i], "/metrics", "Content-Length: 0\r\n");
		char allow[64];

		assert_string_equal(http_field(&reply, "Allow", allow, sizeof(allow)),
				    "GET, HEAD, POST");
		serve_refused(reply, 405, "only GET, HEAD and POST");
	}
}

static void test_a_post_of_what_only_looks_is_refused(void **state)
{
	char fields[128];

	(void)state;
	snprintf(fields, sizeof(fields), "X-Fiber-Token: %s\r\nContent-Length: 0\r\n",
		 server.token);
	serve_refused(serve_ask(&server, "POST", "/metrics", fields), 405, "method");
	serve_refused(serve_ask(&server, "POST", "/api/v1/session", fields), 405, "method");
	serve_refused(serve_ask(&server, "POST", "/api/v1/recordings", fields), 405, "method");
	serve_refused(serve_ask(&server, "POST", "/", fields), 404, "nothing");
}

static void test_head_has_the_fields_of_get_and_no_body(void **state)
{
	const int fd = serve_connect(&server);
	struct http_reply head, get;
	char length[32], type[64];

	(void)state;
	serve_send(&server, fd, "HEAD", "/api/v1/session", NULL);
	head = http_read(fd, true);
	/* The next bytes of the connection are the next answer. */
	serve_send(&server, fd, "GET", "/api/v1/session", NULL);
	get = http_read(fd, false);
	assert_int_equal(head.status, 200);
	assert_int_equal(get.status, 200);
	assert_int_equal(
		strtoul(http_field(&head, "Content-Length", length, sizeof(length)), NULL, 10),
		get.size);
	assert_string_equal(http_field(&head, "Content-Type", type, sizeof(type)),
			    "application/json");
	http_drop(&head);
	http_drop(&get);
	close(fd);
}

/* -- parameters -- */

static const struct {
	const char *path, *what;
	int status;
} wrong[] = {
	{"list?colour=1", "colour: there is no such parameter", 400},
	{"list?all=1", "there is no such parameter", 400},
	{"list?output=%2Ftmp%2Fx", "there is no such parameter", 400},
	{"list?pprof=%2Ftmp%2Fx", "there is no such parameter", 400},
	{"list?limit=1&limit=2", "limit: is given twice", 400},
	{"list?limit=10001", "too large", 400},
	{"list?limit=-1", "is no number", 400},
	{"list?limit=1x", "is no number", 400},
	{"list?limit=", "is no number", 400},
	{"list?limit=99999999999999999999", "too large", 400},
	{"list?where=a%0Ab", "control character", 400},
	{"list?where=%01", "control character", 400},
	{"list?where=id%3D1%00x", "control character", 400},
	{"list?limit=1%00x", "control character", 400},
	{"list%00", "there is no such question", 404},
	{"show?id=1%00x", "is no number of a fiber", 400},
	{"list?where=%7F", "control character", 400},
	{"list?sort=nothing", "no such", 400},
	{"list?sort=--output%3D%2Ftmp%2Fx", "no such", 400},
	{"list?where=id%3D", "--where", 400},
	{"list?where=((((((id%3D1", "--where", 400},
	{"list?columns=%3Cscript%3E", "no such", 400},
	{"list?id=1", "no such parameter", 400},
	{"list?frames=1", "the command has no such parameter", 400},
	{"list?%0A=1", "there is no such parameter", 400},
	{"top?after=x", "after: is no number", 400},
	{"top?after=-1", "after: is no number", 400},
	{"show", "the number of a fiber is needed", 400},
	{"show?id=", "is no number of a fiber", 400},
	{"show?id=1%0A--json", "is no number of a fiber", 400},
	{"show?id=--help", "is no number of a fiber", 400},
	{"show?id=123456789", "no such fiber", 404},
	{"bt?all-frames=2", "must be 1", 400},
	{"bt?frames=10001", "too large", 400},
	{"snapshot", "there is no such question", 404},
	{"serve", "there is no such question", 404},
	{"watch", "there is no such question", 404},
	{"diff", "there is no such question", 404},
	{"completion", "there is no such question", 404},
	{"cancel?id=1", "there is no such question", 404},
	{"help", "there is no such question", 404},
	{"--help", "there is no such question", 404},
	{"list%0A--help", "there is no such question", 404},
	{"%3Cscript%3E", "there is no such question", 404},
};

static void test_wrong_parameters_are_named(void **state)
{
	char path[256];

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(path, sizeof(path), "/api/v1/processes/%s/%s", pid, wrong[i].path);
		refused("GET", path, wrong[i].status, wrong[i].what);
	}
}

static void test_paths_without_parameters_refuse_them(void **state)
{
	(void)state;
	refused("GET", "/metrics?x=1", 400, "no parameters");
	refused("GET", "/api/v1/processes?limit=1", 400, "no parameters");
	refused("GET", "/api/v1/recordings?x", 400, "no parameters");
}

static void test_long_parameters_and_many_are_refused(void **state)
{
	char path[6000];
	size_t n;

	(void)state;
	n = (size_t)snprintf(path, sizeof(path), "/api/v1/processes/%s/list?where=", pid);
	memset(path + n, 'a', 1100);
	path[n + 1100] = '\0';
	refused("GET", path, 400, "is too long");
	n = (size_t)snprintf(path, sizeof(path), "/api/v1/processes/%s/list?", pid);
	for (int i = 0; i < 17; i++)
		n += (size_t)snprintf(path + n, sizeof(path) - n, "a%d=1&", i);
	refused("GET", path, 400, "too many parameters");
	/* A path that is cut must not name something else. */
	n = (size_t)snprintf(path, sizeof(path), "/api/v1/processes/");
	memset(path + n, '/', 5000);
	snprintf(path + n + 5000, sizeof(path) - n - 5000, "%s/list", pid);
	refused("GET", path, 404, "nothing at this path");
}

static void test_control_characters_are_not_in_an_error(void **state)
{
	struct http_reply reply = serve_get(&server, "/api/v1/processes/%%1b%%5b2J%%0a%%22/list");

	(void)state;
	for (size_t i = 0; i < reply.size; i++)
		assert_true((unsigned char)reply.body[i] >= ' ' || reply.body[i] == '\n');
	serve_refused(reply, 404, "no such program");
}

/* -- what is no HTTP -- */

static void answers_with(const char *bytes, int status)
{
	const int fd = serve_connect(&server);
	struct http_reply reply;

	http_send(fd, bytes);
	/* The server may close the connection before all is sent; it answers all the same. */
	reply = http_read(fd, false);
	if (reply.status != status)
		fail_msg("%.60s: %d", bytes, reply.status);
	http_drop(&reply);
	close(fd);
}

static void test_what_is_no_http_is_refused_and_hurts_nobody(void **state)
{
	static char huge[40000];
	int length;

	(void)state;
	answers_with("GET /healthz HTTP/9.9\r\n\r\n", 505);
	answers_with("GET /healthz HTTP/1.1\r\nContent-Length: x\r\n\r\n", 400);
	length = snprintf(huge, sizeof(huge), "GET /healthz HTTP/1.1\r\nX-Long: ");
	memset(huge + length, 'x', sizeof(huge) - 1 - (size_t)length);
	answers_with(huge, 431);
	length = snprintf(huge, sizeof(huge), "GET /");
	memset(huge + length, 'x', sizeof(huge) - 1 - (size_t)length);
	answers_with(huge, 414);
	serve_alive(&server);
}

static void test_requests_may_follow_each_other_without_a_pause(void **state)
{
	const int fd = serve_connect(&server);
	char all[4096] = "", one[256];
	struct http_reply reply;

	(void)state;
	snprintf(one, sizeof(one), "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n",
		 server.port);
	for (int i = 0; i < 20; i++)
		strcat(all, one);
	http_send(fd, all);
	for (int i = 0; i < 20; i++) {
		reply = http_read(fd, false);
		assert_int_equal(reply.status, 200);
		assert_string_equal(reply.body, "ok\n");
		http_drop(&reply);
	}
	close(fd);
}

/* -- programs -- */

static void test_programs_that_are_not_served_are_404(void **state)
{
	struct harness_process *alone = cli_without_fibers();
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "/api/v1/processes/%d/list", alone->pid);
	refused("GET", path, 404, "no such program");
	snprintf(path, sizeof(path), "/api/v1/processes/%s/list", cli_gone());
	refused("GET", path, 404, "no such program");
	refused("GET", "/api/v1/processes/nobody/list", 404, "nobody: no such program");
	refused("GET", "/api/v1/processes/0/list", 404, "no such program");
	refused("GET", "/api/v1/processes/1/list", 404, "no such program");
	refused("GET", "/debug/pprof/fiber?process=1", 404, "no such program");
	json_decref(serve_json(&server, 200, "/api/v1/processes/crowd/list?limit=1"));
	harness_free(alone);
}

static size_t served(const struct serve *by)
{
	json_t *answer = serve_json(by, 200, "/api/v1/processes");
	const size_t n = json_array_size(json_object_get(answer, "processes"));

	json_decref(answer);
	return n;
}

static void test_only_the_programs_of_the_command_line_are_served(void **state)
{
	struct crowd second = crowd_start(NULL, "crowd", "20", NULL);
	const char *const other = cli_number((uint64_t)second.process->pid);
	/* A server knows the programs that exist when it starts. */
	struct serve one = serve_start(pid, NULL), two = serve_start(other, pid, NULL);

	(void)state;
	assert_int_equal(served(&one), 1);
	serve_refused(serve_get(&one, "/api/v1/processes/%s/list", other), 404, "no such program");
	json_decref(serve_json(&one, 200, "/api/v1/processes/%s/list?limit=1", pid));
	assert_int_equal(served(&two), 2);
	json_decref(serve_json(&two, 200, "/api/v1/processes/%s/list?limit=1", other));
	serve_end(&one);
	serve_end(&two);
	two = serve_start("crowd", NULL);
	json_decref(serve_json(&two, 200, "/api/v1/processes/%s/list?limit=1", other));
	serve_end(&two);
	crowd_end(&second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths_that_do_not_exist_are_404),
		cmocka_unit_test(test_methods_that_do_not_fit_are_405),
		cmocka_unit_test(test_a_post_of_what_only_looks_is_refused),
		cmocka_unit_test(test_head_has_the_fields_of_get_and_no_body),
		cmocka_unit_test(test_wrong_parameters_are_named),
		cmocka_unit_test(test_paths_without_parameters_refuse_them),
		cmocka_unit_test(test_long_parameters_and_many_are_refused),
		cmocka_unit_test(test_control_characters_are_not_in_an_error),
		cmocka_unit_test(test_what_is_no_http_is_refused_and_hurts_nobody),
		cmocka_unit_test(test_requests_may_follow_each_other_without_a_pause),
		cmocka_unit_test(test_programs_that_are_not_served_are_404),
		cmocka_unit_test(test_only_the_programs_of_the_command_line_are_served),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, served_crowd, served_crowd_end);
}
