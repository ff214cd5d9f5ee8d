/* SPDX-License-Identifier: MIT */
/* http.c - clients for the HTTP servers among the fixtures, one blocking connection at a time */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "tests/harness/cli/http.h"
#include "tests/harness/clock.h"

struct harness_process *http_start(const struct harness_how *how, const char *first,
				   const char *second, unsigned *ret_port)
{
	static const char says[] = "listening on 127.0.0.1:";
	struct harness_process *p = cli_start(how, says, "httpd", first, second, NULL);

	*ret_port = (unsigned)strtoul(p->line + strlen(says), NULL, 10);
	assert_in_range(*ret_port, 1, 65535);
	return p;
}

void http_start_all(const char *file, const char *patience,
		    struct http_server ret_servers[HTTP_SERVERS])
{
	static const char *const programs[HTTP_SERVERS] = {"httpd", "httpd-threads", "httpd-epoll"};
	static const char says[] = "listening on 127.0.0.1:";

	for (size_t i = 0; i < HTTP_SERVERS; i++) {
		struct harness_process *p = cli_start(NULL, says, programs[i], "--patience",
						      patience, file ? "--file" : NULL, file, NULL);

		ret_servers[i].process = p;
		ret_servers[i].port = (unsigned)strtoul(p->line + strlen(says), NULL, 10);
	}
}

void http_end_all(struct http_server servers[HTTP_SERVERS])
{
	for (size_t i = 0; i < HTTP_SERVERS; i++)
		harness_free(servers[i].process);
}

void http_make_file(const char *name, size_t size, char *buf)
{
	FILE *const file = fopen(harness_file(buf, name), "w");
	uint32_t x = 1;

	assert_non_null(file);
	for (size_t i = 0; i < size; i++) {
		x = x * 1664525 + 1013904223;
		assert_int_not_equal(fputc((int)(x >> 24), file), EOF);
	}
	assert_int_equal(fclose(file), 0);
}

size_t http_rest(int fd, char *bytes, size_t room)
{
	size_t size = 0;
	ssize_t n;

	while (size < room && (n = recv(fd, bytes + size, room - size, 0)) > 0)
		size += (size_t)n;
	assert_true(size < room);
	bytes[size] = '\0';
	return size;
}

int http_connect(unsigned port)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	const struct timeval limit = {.tv_sec = harness_seconds(CLI_SECONDS)};
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	return fd;
}

void http_send(int fd, const char *bytes)
{
	assert_int_equal(send(fd, bytes, strlen(bytes), MSG_NOSIGNAL), strlen(bytes));
}

/* Read the head of an answer. Returns its status, 0 if the connection ended first. */
static int read_head(int fd, char *head, size_t size)
{
	size_t n = 0;
	int status;

	/* Byte by byte: the bytes after the head belong to the next answer. */
	do {
		if (n == size - 1 || recv(fd, head + n, 1, 0) != 1)
			return 0;
		head[++n] = '\0';
	} while (n < 4 || strcmp(head + n - 4, "\r\n\r\n"));
	return sscanf(head, "HTTP/1.1 %d ", &status) == 1 ? status : 0;
}

static size_t length_of(const char *head)
{
	const char *const field = strstr(head, "Content-Length: ");

	assert_non_null(field);
	return strtoul(field + 16, NULL, 10);
}

int http_answer(int fd, char *body, size_t size)
{
	char head[1024];
	const int status = read_head(fd, head, sizeof(head));
	size_t length;

	if (!status)
		return 0;
	length = length_of(head);
	assert_true(length < size);
	if (length && recv(fd, body, length, MSG_WAITALL) != (ssize_t)length)
		return 0;
	body[length] = '\0';
	return status;
}

struct http_reply http_read(int fd, bool without_body)
{
	struct http_reply reply = {.status = 0};

	reply.status = read_head(fd, reply.head, sizeof(reply.head));
	reply.size = reply.status && !without_body ? length_of(reply.head) : 0;
	reply.body = calloc(1, reply.size + 1);
	assert_non_null(reply.body);
	if (reply.size && recv(fd, reply.body, reply.size, MSG_WAITALL) != (ssize_t)reply.size)
		reply.status = 0;
	return reply;
}

void http_drop(struct http_reply *reply)
{
	free(reply->body);
	reply->body = NULL;
}

const char *http_field(const struct http_reply *reply, const char *name, char *buf, size_t size)
{
	const size_t n = strlen(name);
	const char *line = reply->head;

	buf[0] = '\0';
	while ((line = strstr(line, "\r\n"))) {
		line += 2;
		if (!strncasecmp(line, name, n) && !strncmp(line + n, ": ", 2))
			snprintf(buf, size, "%.*s", (int)strcspn(line + n + 2, "\r"), line + n + 2);
	}
	return buf;
}

void http_alive(unsigned port)
{
	const int fd = http_connect(port);
	char body[64];

	http_send(fd, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
	assert_int_equal(http_answer(fd, body, sizeof(body)), 200);
	assert_string_equal(body, "hello\n");
	close(fd);
}
