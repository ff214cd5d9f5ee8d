/* SPDX-License-Identifier: MIT */
/* test_http_servers.c - three servers that wait in three ways give the same answers */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/harness/cli/all_servers.h"
#include "tests/harness/watchdog.h"

#define GET	  HTTP_GET
#define LAST	  HTTP_LAST
#define FILE_SIZE 3000000
#define MOST	  (3 * FILE_SIZE) /* bytes of a dialogue */

/* A server's answer to bytes sent in pieces of this size, up to the end of the connection. */
static size_t converse(size_t server, const char *bytes, size_t piece, char *answer, size_t room)
{
	const int fd = http_connect(servers[server].port);
	const size_t size = strlen(bytes);

	for (size_t at = 0; at < size; at += piece) {
		const size_t n = size - at < piece ? size - at : piece;

		/* The server may close before it has read everything. */
		if (send(fd, bytes + at, n, MSG_NOSIGNAL) != (ssize_t)n)
			break;
	}
	const size_t heard = http_rest(fd, answer, room);

	close(fd);
	return heard;
}

/* Assert that all servers give the same answer to these bytes, starting with `begin`. */
static void same(const char *bytes, size_t piece, const char *begin)
{
	char *const first = malloc(MOST), *const other = malloc(MOST);
	const size_t size = converse(0, bytes, piece, first, MOST);

	assert_true(size >= strlen(begin));
	assert_memory_equal(first, begin, strlen(begin));
	for (size_t i = 1; i < HTTP_SERVERS; i++) {
		assert_int_equal(converse(i, bytes, piece, other, MOST), size);
		assert_memory_equal(other, first, size);
	}
	free(first);
	free(other);
}

#define HELLO                                             \
	"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n" \
	"Content-Length: 6\r\nConnection: keep-alive\r\n" \
	"\r\nhello\n"

static void test_servers_say_the_same_to_a_pipeline(void **state)
{
	static const char pipeline[] =
		GET("/") GET("/") GET("/sleep?ms=5") GET("/nowhere") GET("/fan?n=7") GET("/") GET(
			"/block?ms=1") GET("/hold?ms=1") "HEAD / HTTP/1.1\r\n\r\n" GET("/sleep")
			GET("/fan?n=x") "HEAD /file HTTP/1.1\r\n\r\n" GET(
				"/fan?n=0") "POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nabcde"
					    "GET /%20 HTTP/1.1\r\nA: b\r\n\r\n" GET("/sleep?ms=0")
						    LAST("/") GET("/unheard");

	(void)state;
	same(pipeline, sizeof(pipeline), HELLO HELLO "HTTP/1.1 200 OK");
	same(pipeline, 1, HELLO HELLO "HTTP/1.1 200 OK");
	same(pipeline, 7, HELLO HELLO "HTTP/1.1 200 OK");
	/* HTTP/1.0 closes the connection unless told otherwise. */
	same("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET / HTTP/1.0\r\n\r\n", 1000, HELLO);
}

static void test_servers_say_the_same_to_more_than_their_buffers_hold(void **state)
{
	enum { MANY = 3000 };
	char *const pipeline = malloc(MANY * sizeof(GET("/nowhere")) + 100);
	char *end = pipeline;

	(void)state;
	for (int i = 0; i < MANY; i++)
		end = stpcpy(end, i % 5 ? GET("/") : GET("/nowhere"));
	strcpy(end, LAST("/"));
	same(pipeline, 50000, "HTTP/1.1 404 Not Found\r\n");
	same(pipeline, 777, "HTTP/1.1 404 Not Found\r\n");
	free(pipeline);
}

static void test_servers_give_a_file_as_it_is(void **state)
{
	char *const answer = malloc(MOST), *const file = malloc(FILE_SIZE);
	const int fd = open(big_file, O_RDONLY);

	(void)state;
	assert_int_equal(read(fd, file, FILE_SIZE), FILE_SIZE);
	close(fd);
	for (size_t i = 0; i < HTTP_SERVERS; i++) {
		const size_t size = converse(i, GET("/") LAST("/file"), 1000, answer, MOST);
		const char *body = strstr(answer + strlen(HELLO), "\r\n\r\n");

		assert_non_null(body);
		assert_int_equal(answer + size - (body + 4), FILE_SIZE);
		assert_memory_equal(body + 4, file, FILE_SIZE);
	}
	same(GET("/file") GET("/") GET("/file") LAST("/nowhere"), 1000, "HTTP/1.1 200 OK\r\n");
	free(answer);
	free(file);
}

static void test_servers_have_children_for_a_fan(void **state)
{
	char body[128];

	(void)state;
	for (size_t i = 0; i < HTTP_SERVERS; i++) {
		const int fd = http_connect(servers[i].port);

		http_send(fd, GET("/fan?n=500"));
		assert_int_equal(http_answer(fd, body, sizeof(body)), 200);
		assert_string_equal(body, "500 children, sum 500\n");
		http_send(fd, GET("/fan?n=10001") GET("/stats"));
		assert_int_equal(http_answer(fd, body, sizeof(body)), 400);
		assert_int_equal(http_answer(fd, body, sizeof(body)), 200);
		assert_string_equal(body, "requests 2\nfailures 1\n");
		close(fd);
	}
}

static void test_servers_refuse_what_is_no_http(void **state)
{
	static const char *const wrong[] = {
		"this is no request\r\n\r\n",
		"\x01\x02\x03\r\n\r\n",
		"GET / HTTP/9.9\r\n\r\n",
		"GET\r\n\r\n",
		"GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
		"GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
		"FETCH / HTTP/1.1\r\n\r\n",
		"GET / HTTP/1.1\r\nbad header\r\n\r\n",
	};
	char *const url = malloc(700);
	char *const head = malloc(200000);

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		same(wrong[i], 100, "HTTP/1.1 400 Bad Request\r\n");
	sprintf(url, "GET /%0600d HTTP/1.1\r\n\r\n", 0);
	same(url, 1000, "HTTP/1.1 400 Bad Request\r\n");
	/* An endless head: the error may be lost, because more bytes are sent meanwhile. */
	sprintf(head, "GET / HTTP/1.1\r\nA: %0190000d", 0);
	for (size_t i = 0; i < HTTP_SERVERS; i++) {
		char answer[1000];

		converse(i, head, 10000, answer, sizeof(answer));
		http_alive(servers[i].port);
	}
	free(url);
	free(head);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_servers_say_the_same_to_a_pipeline,
						all_servers, all_servers_end),
		cmocka_unit_test_setup_teardown(
			test_servers_say_the_same_to_more_than_their_buffers_hold, all_servers,
			all_servers_end),
		cmocka_unit_test_setup_teardown(test_servers_give_a_file_as_it_is, all_servers,
						all_servers_end),
		cmocka_unit_test_setup_teardown(test_servers_have_children_for_a_fan, all_servers,
						all_servers_end),
		cmocka_unit_test_setup_teardown(test_servers_refuse_what_is_no_http, all_servers,
						all_servers_end),
	};

	harness_watchdog(110);
	http_make_file("big", FILE_SIZE, big_file);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
