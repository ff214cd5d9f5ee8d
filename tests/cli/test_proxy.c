/* SPDX-License-Identifier: MIT */
/* test_proxy.c - the fixture proxy forwards bytes, ends and resets, each direction independently */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "tests/harness/cli/http.h"
#include "tests/harness/watchdog.h"

#define BIG 30000000

static struct harness_process *proxy;
static int listener; /* of the server behind the proxy, which is this test */
static unsigned port;

static int start_as(const char *how)
{
	static const char says[] = "listening on 127.0.0.1:";
	struct sockaddr_in at = {.sin_family = AF_INET};
	const struct timeval limit = {.tv_sec = CLI_SECONDS};
	socklen_t length = sizeof(at);

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	/* Accepted connections inherit it. */
	setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (bind(listener, (struct sockaddr *)&at, sizeof(at)) || listen(listener, 100) ||
	    getsockname(listener, (struct sockaddr *)&at, &length))
		return -1;
	proxy = cli_start(NULL, says, "proxy", "--carriers", "2", "--to",
			  cli_number(ntohs(at.sin_port)), how, NULL);
	port = (unsigned)strtoul(proxy->line + strlen(says), NULL, 10);
	return 0;
}

static int start(void **state)
{
	(void)state;
	return start_as(NULL);
}

static int start_copying(void **state)
{
	(void)state;
	return start_as("--copy");
}

/* All connections have ended by now, so the proxy exits by itself. */
static int stop(void **state)
{
	(void)state;
	kill(proxy->pid, SIGTERM);
	assert_true(harness_wait_end(proxy, CLI_SECONDS));
	cli_ended(proxy, 0);
	close(listener);
	return 0;
}

static int accepted(void)
{
	const int fd = accept(listener, NULL, NULL);

	assert_true(fd >= 0);
	return fd;
}

static unsigned char byte_at(size_t at, unsigned seed)
{
	return (unsigned char)((at * 2654435761u >> 13) + seed);
}

struct stream {
	int fd;
	unsigned seed;
	bool well;
};

static void *write_big(void *arg)
{
	static __thread unsigned char piece[70001];
	struct stream *stream = arg;

	for (size_t at = 0; at < BIG;) {
		const size_t n = BIG - at < sizeof(piece) ? BIG - at : sizeof(piece);

		for (size_t i = 0; i < n; i++)
			piece[i] = byte_at(at + i, stream->seed);
		if (send(stream->fd, piece, n, MSG_NOSIGNAL) != (ssize_t)n)
			return NULL;
		at += n;
	}
	stream->well = !shutdown(stream->fd, SHUT_WR);
	return NULL;
}

static void *read_big(void *arg)
{
	static __thread unsigned char piece[50021];
	struct stream *stream = arg;
	size_t at = 0;
	ssize_t n;

	while ((n = recv(stream->fd, piece, sizeof(piece), 0)) > 0)
		for (ssize_t i = 0; i < n; i++)
			if (piece[i] != byte_at(at++, stream->seed))
				return NULL;
	stream->well = n == 0 && at == BIG;
	return NULL;
}

static void test_proxy_moves_much_in_both_directions_at_once(void **state)
{
	void *(*const what[4])(void *) = {write_big, read_big, write_big, read_big};
	const int client = http_connect(port), server = accepted();
	struct stream streams[4] = {{client, 1, 0}, {server, 1, 0}, {server, 2, 0}, {client, 2, 0}};
	pthread_t threads[4];

	(void)state;
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, what[i], &streams[i]), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 4; i++)
		assert_true(streams[i].well);
	close(client);
	close(server);
}

static void say(int from, int to, const char *text)
{
	char heard[64];

	http_send(from, text);
	assert_int_equal(recv(to, heard, strlen(text), MSG_WAITALL), strlen(text));
	assert_memory_equal(heard, text, strlen(text));
}

static void end_one_way(int from, int to)
{
	char byte;

	assert_int_equal(shutdown(from, SHUT_WR), 0);
	assert_int_equal(recv(to, &byte, 1, 0), 0);
}

static void test_proxy_passes_on_the_end_of_one_direction(void **state)
{
	(void)state;
	for (int first = 0; first < 2; first++) {
		int fds[2];

		fds[0] = http_connect(port);
		fds[1] = accepted();
		say(fds[0], fds[1], "ping");
		say(fds[1], fds[0], "pong");
		end_one_way(fds[first], fds[!first]);
		/* The other direction is unaffected. */
		for (int i = 0; i < 100; i++)
			say(fds[!first], fds[first], "still here");
		end_one_way(fds[!first], fds[first]);
		close(fds[0]);
		close(fds[1]);
	}
	/* Also before the first byte. */
	const int client = http_connect(port), server = accepted();

	end_one_way(client, server);
	say(server, client, "too late?");
	end_one_way(server, client);
	close(client);
	close(server);
}

/* Reset the connection instead of closing it. */
static void cut(int fd)
{
	const struct linger at_once = {.l_onoff = 1};

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	close(fd);
}

static void test_proxy_passes_on_a_reset_as_a_reset(void **state)
{
	char byte;

	(void)state;
	for (int who = 0; who < 2; who++)
		for (int ended = 0; ended < 2; ended++) {
			int fds[2];

			fds[0] = http_connect(port);
			fds[1] = accepted();
			say(fds[0], fds[1], "hello");
			if (ended)
				end_one_way(fds[!who], fds[who]);
			cut(fds[who]);
			assert_int_equal(recv(fds[!who], &byte, 1, 0), -1);
			assert_int_equal(errno, ECONNRESET);
			close(fds[!who]);
		}
}

/* Both peers write and neither reads, so both fibers wait for room; then one peer resets. */
static void test_proxy_ends_both_directions_when_a_peer_resets_that_never_read(void **state)
{
	static char bytes[1000000];

	(void)state;
	for (int who = 0; who < 2; who++) {
		int fds[2];

		fds[0] = http_connect(port);
		fds[1] = accepted();
		for (int i = 0; i < 2; i++)
			while (send(fds[i], bytes, sizeof(bytes), MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
				continue;
		cut(fds[who]);
		while (recv(fds[!who], bytes, sizeof(bytes), 0) > 0)
			continue;
		assert_int_equal(errno, ECONNRESET);
		close(fds[!who]);
	}
}

static void test_proxy_resets_a_client_whose_server_is_not_there(void **state)
{
	char byte;

	(void)state;
	close(listener);
	const int client = http_connect(port);

	assert_int_equal(recv(client, &byte, 1, 0), -1);
	assert_int_equal(errno, ECONNRESET);
	close(client);
	listener = -1;
}

static void test_proxy_finishes_its_connections_after_sigterm(void **state)
{
	const int client = http_connect(port), server = accepted();

	(void)state;
	say(client, server, "before");
	kill(proxy->pid, SIGTERM);
	for (int i = 0; i < 100; i++)
		say(server, client, "after");
	end_one_way(client, server);
	end_one_way(server, client);
	assert_true(harness_wait_end(proxy, CLI_SECONDS));
	close(client);
	close(server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_proxy_moves_much_in_both_directions_at_once,
						start, stop),
		{"test_proxy_copies_much_in_both_directions_at_once",
		 test_proxy_moves_much_in_both_directions_at_once, start_copying, stop, NULL},
		cmocka_unit_test_setup_teardown(test_proxy_passes_on_the_end_of_one_direction,
						start, stop),
		{"test_proxy_passes_on_the_end_of_one_direction_when_it_copies",
		 test_proxy_passes_on_the_end_of_one_direction, start_copying, stop, NULL},
		cmocka_unit_test_setup_teardown(test_proxy_passes_on_a_reset_as_a_reset, start,
						stop),
		{"test_proxy_passes_on_a_reset_as_a_reset_when_it_copies",
		 test_proxy_passes_on_a_reset_as_a_reset, start_copying, stop, NULL},
		cmocka_unit_test_setup_teardown(
			test_proxy_ends_both_directions_when_a_peer_resets_that_never_read, start,
			stop),
		cmocka_unit_test_setup_teardown(
			test_proxy_resets_a_client_whose_server_is_not_there, start, stop),
		cmocka_unit_test_setup_teardown(test_proxy_finishes_its_connections_after_sigterm,
						start, stop),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
