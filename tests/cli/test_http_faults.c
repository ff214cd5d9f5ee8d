/* SPDX-License-Identifier: MIT */
/* test_http_faults.c - slow, non-reading or vanished clients harm neither servers nor clients */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/harness/cli/all_servers.h"
#include "tests/harness/watchdog.h"

#define GET	    HTTP_GET
#define LAST	    HTTP_LAST
#define FILE_SIZE   3000000
#define MOST_OF_TEN (11 * FILE_SIZE)

static int start_impatient(void **state)
{
	(void)state;
	http_start_all(big_file, "200", servers);
	return 0;
}

static void test_servers_serve_others_while_clients_are_slow(void **state)
{
	enum { SLOW = 50 };
	static const char request[] = GET("/sleep?ms=1");
	int fds[SLOW];
	char body[128];

	(void)state;
	for (size_t i = 0; i < HTTP_SERVERS; i++) {
		for (int k = 0; k < SLOW; k++)
			fds[k] = http_connect(servers[i].port);
		for (size_t at = 0; at < sizeof(request) - 1; at++) {
			for (int k = 0; k < SLOW; k++)
				assert_int_equal(send(fds[k], request + at, 1, MSG_NOSIGNAL), 1);
			http_alive(servers[i].port);
		}
		for (int k = 0; k < SLOW; k++) {
			assert_int_equal(http_answer(fds[k], body, sizeof(body)), 200);
			assert_string_equal(body, "slept\n");
			close(fds[k]);
		}
	}
}

/* A client that requests more than the socket's buffers hold and reads nothing. */
static int deaf_client(unsigned port)
{
	const int fd = http_connect(port);

	for (int i = 0; i < 10; i++)
		http_send(fd, GET("/file"));
	return fd;
}

static void test_servers_serve_others_while_a_client_never_reads(void **state)
{
	char *const answer = malloc(MOST_OF_TEN);

	(void)state;
	for (size_t i = 0; i < HTTP_SERVERS; i++) {
		const int deaf = deaf_client(servers[i].port);

		for (int k = 0; k < 20; k++)
			http_alive(servers[i].port);
		/* The deaf client has lost no bytes. */
		http_send(deaf, LAST("/"));
		assert_in_range(http_rest(deaf, answer, MOST_OF_TEN), 10 * FILE_SIZE, MOST_OF_TEN);
		close(deaf);
	}
	free(answer);
}

static void test_a_client_that_never_reads_keeps_no_server_from_ending(void **state)
{
	int deaf[HTTP_SERVERS];
	char byte;

	(void)state;
	for (size_t i = 0; i < HTTP_SERVERS; i++) {
		deaf[i] = deaf_client(servers[i].port);
		/* The answer has begun, so the request is being served. */
		assert_int_equal(recv(deaf[i], &byte, 1, MSG_PEEK), 1);
		kill(servers[i].process->pid, SIGTERM);
	}
	for (size_t i = 0; i < HTTP_SERVERS; i++) {
		assert_true(harness_wait_end(servers[i].process, CLI_SECONDS));
		cli_expect(servers[i].process, 0);
		close(deaf[i]);
	}
}

/* -- clients that leave at any point -- */

static size_t descriptors(pid_t pid)
{
	char path[64];
	size_t count = 0;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	folder = opendir(path);
	assert_non_null(folder);
	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

struct leak {
	pid_t pid;
	size_t before;
};

static bool no_leak(void *arg)
{
	const struct leak *leak = arg;

	return descriptors(leak->pid) <= leak->before;
}

/* Reset the connection instead of closing it. */
static void cut(int fd)
{
	const struct linger at_once = {.l_onoff = 1};

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	close(fd);
}

static void reset_everywhere(unsigned port, const char *request)
{
	const size_t size = strlen(request);

	for (size_t at = 0; at <= size; at++)
		for (int reset = 0; reset < 2; reset++) {
			const int fd = http_connect(port);

			assert_int_equal(send(fd, request, at, MSG_NOSIGNAL), at);
			if (reset)
				cut(fd);
			else
				close(fd);
		}
}

static void test_servers_survive_a_reset_at_every_point(void **state)
{
	char byte;

	(void)state;
	for (size_t i = 0; i < HTTP_SERVERS; i++) {
		const unsigned port = servers[i].port;
		const pid_t pid = servers[i].process->pid;

		http_alive(port);
		/* The connection of http_alive() may still be open. */
		struct leak leak = {pid, descriptors(pid)};

		reset_everywhere(port, GET("/"));
		reset_everywhere(port, GET("/") GET("/sleep?ms=3") GET("/fan?n=3"));
		for (int k = 0; k < 20; k++) {
			const int fd = http_connect(port);

			http_send(fd, GET("/file"));
			if (k % 2)
				assert_int_equal(recv(fd, &byte, 1, 0), 1);
			cut(fd);
		}
		http_alive(port);
		/* Nothing of these clients is left. */
		assert_true(harness_until(no_leak, &leak, CLI_SECONDS));
	}
}

static void test_servers_finish_what_is_under_way_on_sigterm(void **state)
{
	enum { BUSY = 30 };
	int fds[BUSY], half, idle;
	char body[128];

	(void)state;
	for (size_t i = 0; i < HTTP_SERVERS; i++) {
		half = http_connect(servers[i].port);
		idle = http_connect(servers[i].port);
		for (int k = 0; k < BUSY; k++) {
			fds[k] = http_connect(servers[i].port);
			http_send(fds[k], GET("/"));
			assert_int_equal(http_answer(fds[k], body, sizeof(body)), 200);
		}
		/* Wait until the server has accepted: only such a connection is guaranteed an
		 * answer. */
		for (int k = 0; k < BUSY; k++)
			http_send(fds[k], k % 2 ? GET("/sleep?ms=200") GET("/") GET("/fan?n=5")
						: GET("/hold?ms=1") GET("/sleep?ms=1") GET("/"));
		http_send(half, "GET / HT");
		kill(servers[i].process->pid, SIGTERM);
		for (int k = 0; k < BUSY; k++) {
			for (int answer = 0; answer < 3; answer++)
				assert_int_equal(http_answer(fds[k], body, sizeof(body)), 200);
			assert_int_equal(recv(fds[k], body, 1, 0), 0);
			close(fds[k]);
		}
		assert_true(harness_wait_end(servers[i].process, CLI_SECONDS));
		cli_expect(servers[i].process, 0);
		close(half);
		close(idle);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_servers_serve_others_while_clients_are_slow,
						all_servers, all_servers_end),
		cmocka_unit_test_setup_teardown(
			test_servers_serve_others_while_a_client_never_reads, all_servers,
			all_servers_end),
		cmocka_unit_test_setup_teardown(
			test_a_client_that_never_reads_keeps_no_server_from_ending, start_impatient,
			all_servers_end),
		cmocka_unit_test_setup_teardown(test_servers_survive_a_reset_at_every_point,
						all_servers, all_servers_end),
		cmocka_unit_test_setup_teardown(test_servers_finish_what_is_under_way_on_sigterm,
						all_servers, all_servers_end),
	};

	harness_watchdog(110);
	http_make_file("big", FILE_SIZE, big_file);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
