/* SPDX-License-Identifier: MIT */
/* test_httpd.c - httpd, the fixture on which the tools are shown, is a correct server */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/harness/cli/http.h"
#include "tests/harness/watchdog.h"

#define GET(path) "GET " path " HTTP/1.1\r\nHost: localhost\r\n\r\n"

static struct harness_process *server;
static unsigned port;

static int start(void **state)
{
	(void)state;
	server = http_start(NULL, "--carriers", "2", &port);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	harness_end(server);
	print_message("%s%s", *server->err.bytes ? "# httpd said: " : "", server->err.bytes);
	harness_free(server);
	return 0;
}

static void test_httpd_answers_pipelined_requests_in_order(void **state)
{
	const int fd = http_connect(port);
	char body[128];

	(void)state;
	http_send(fd, GET("/") GET("/nowhere") GET("/sleep?ms=20") GET("/"));
	assert_int_equal(http_answer(fd, body, sizeof(body)), 200);
	assert_string_equal(body, "hello\n");
	assert_int_equal(http_answer(fd, body, sizeof(body)), 404);
	assert_int_equal(http_answer(fd, body, sizeof(body)), 200);
	assert_string_equal(body, "slept\n");
	assert_int_equal(http_answer(fd, body, sizeof(body)), 200);
	assert_string_equal(body, "hello\n");
	/* Keep-alive: the same connection again. */
	http_send(fd, GET("/"));
	assert_int_equal(http_answer(fd, body, sizeof(body)), 200);
	close(fd);
}

static void test_httpd_accepts_a_request_byte_by_byte(void **state)
{
	static const char request[] = GET("/sleep?ms=1");
	const int fd = http_connect(port);
	char body[128];

	(void)state;
	for (size_t i = 0; i < sizeof(request) - 1; i++)
		assert_int_equal(send(fd, request + i, 1, MSG_NOSIGNAL), 1);
	assert_int_equal(http_answer(fd, body, sizeof(body)), 200);
	close(fd);
}

static void test_httpd_pipelines_more_than_its_buffers_hold(void **state)
{
	const int fd = http_connect(port);
	char body[128];

	(void)state;
	for (int i = 0; i < 200; i++)
		http_send(fd, GET("/"));
	for (int i = 0; i < 200; i++)
		assert_int_equal(http_answer(fd, body, sizeof(body)), 200);
	close(fd);
}

static void test_httpd_refuses_what_it_cannot_serve(void **state)
{
	static const struct {
		const char *request;
		int status;
	} wrong[] = {
		{"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab", 405},
		{GET("/sleep"), 400},
		{GET("/sleep?ms=x"), 400},
		{GET("/hold?ms=99999999"), 400},
		{"this is no request\r\n\r\n", 400},
	};
	char body[128], rest;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		const int fd = http_connect(port);

		http_send(fd, wrong[i].request);
		assert_int_equal(http_answer(fd, body, sizeof(body)), wrong[i].status);
		close(fd);
	}
	/* Invalid HTTP closes the connection, and so does Connection: close. */
	int fd = http_connect(port);

	http_send(fd, "\x01\x02\x03\r\n\r\n");
	assert_int_equal(http_answer(fd, body, sizeof(body)), 400);
	assert_int_equal(recv(fd, &rest, 1, 0), 0);
	close(fd);
	fd = http_connect(port);
	http_send(fd, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
	assert_int_equal(http_answer(fd, body, sizeof(body)), 200);
	assert_int_equal(recv(fd, &rest, 1, 0), 0);
	close(fd);
}

static void test_httpd_answers_a_few_hundred_connections_at_once(void **state)
{
	enum { MANY = 300 };
	int fds[MANY];
	char body[128];

	(void)state;
	for (int i = 0; i < MANY; i++)
		fds[i] = http_connect(port);
	for (int i = 0; i < MANY; i++)
		http_send(fds[i], i % 3 ? GET("/") : GET("/sleep?ms=50"));
	for (int i = 0; i < MANY; i++)
		assert_int_equal(http_answer(fds[i], body, sizeof(body)), 200);
	for (int i = 0; i < MANY; i++)
		close(fds[i]);
	http_alive(port);
}

/* Whether bytes to read arrive within ms. */
static bool readable_within(int fd, int ms)
{
	struct pollfd one = {fd, POLLIN, 0};

	return poll(&one, 1, ms) == 1;
}

static void test_httpd_hold_makes_others_wait_for_the_mutex(void **state)
{
	const int holder = http_connect(port), waiter = http_connect(port);
	char body[128];

	(void)state;
	http_send(holder, GET("/hold?ms=1000"));
	/* The mutex is held as soon as the counters are unavailable. */
	do
		http_send(waiter, GET("/stats"));
	while (readable_within(waiter, 200) && http_answer(waiter, body, sizeof(body)) == 200);
	assert_int_equal(http_answer(holder, body, sizeof(body)), 200);
	assert_string_equal(body, "held\n");
	assert_int_equal(http_answer(waiter, body, sizeof(body)), 200);
	close(holder);
	close(waiter);
}

static void test_httpd_blocks_while_pinned_on_purpose(void **state)
{
	const int fd = http_connect(port);
	char body[128];

	(void)state;
	http_send(fd, GET("/block?ms=10"));
	assert_int_equal(http_answer(fd, body, sizeof(body)), 200);
	assert_string_equal(body, "blocked\n");
	close(fd);
}

static void test_httpd_ends_on_sigterm_after_the_requests_in_flight(void **state)
{
	const int idle = http_connect(port), busy = http_connect(port);
	char body[128], rest;

	(void)state;
	http_send(idle, GET("/"));
	assert_int_equal(http_answer(idle, body, sizeof(body)), 200);
	http_send(busy, GET("/") GET("/sleep?ms=500"));
	/* The first answer is sent together with the second. To be sure that the request was read,
	 * ask on another connection, which is served later. */
	http_alive(port);
	kill(server->pid, SIGTERM);
	assert_int_equal(http_answer(busy, body, sizeof(body)), 200);
	assert_int_equal(http_answer(busy, body, sizeof(body)), 200);
	assert_string_equal(body, "slept\n");
	assert_int_equal(recv(busy, &rest, 1, 0), 0);
	assert_int_equal(recv(idle, &rest, 1, 0), 0);
	assert_true(harness_wait_end(server, CLI_SECONDS));
	cli_expect(server, 0);
	close(idle);
	close(busy);
}

static void test_load_keeps_its_connections_open_and_ends_on_sigterm(void **state)
{
	struct harness_process *load =
		cli_start(NULL, "open 120", "load", cli_number(port), "--connections", "120",
			  "--pause", "20", "--sleep", "20", "--hold", "30", NULL);

	(void)state;
	assert_non_null(harness_wait_line(load, "round 3: 81 answers", CLI_SECONDS));
	harness_end(load);
	cli_ended(load, 0);
	http_alive(port);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_httpd_answers_pipelined_requests_in_order,
						start, stop),
		cmocka_unit_test_setup_teardown(test_httpd_accepts_a_request_byte_by_byte, start,
						stop),
		cmocka_unit_test_setup_teardown(test_httpd_pipelines_more_than_its_buffers_hold,
						start, stop),
		cmocka_unit_test_setup_teardown(test_httpd_refuses_what_it_cannot_serve, start,
						stop),
		cmocka_unit_test_setup_teardown(
			test_httpd_answers_a_few_hundred_connections_at_once, start, stop),
		cmocka_unit_test_setup_teardown(test_httpd_hold_makes_others_wait_for_the_mutex,
						start, stop),
		cmocka_unit_test_setup_teardown(test_httpd_blocks_while_pinned_on_purpose, start,
						stop),
		cmocka_unit_test_setup_teardown(
			test_httpd_ends_on_sigterm_after_the_requests_in_flight, start, stop),
		cmocka_unit_test_setup_teardown(
			test_load_keeps_its_connections_open_and_ends_on_sigterm, start, stop),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
