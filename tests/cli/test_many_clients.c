/* SPDX-License-Identifier: MIT */
/*
 * test_many_clients.c - many clients at once, and clients that disconnect at any byte
 *
 * A client may be killed during its request and during the answer. The other clients' answers are
 * complete, and the program loses nothing and leaks no descriptor.
 */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/harness/cli/http.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"
#include "wire/wire.h"

#define CONNECTIONS 40 /* fibers besides the server's own */

static struct harness_process *server;
static unsigned port;
static char pid[16];
static int connections[CONNECTIONS];
static size_t descriptors; /* open descriptors of the server without clients */

static size_t count_descriptors(void)
{
	struct dirent *entry;
	char path[64];
	size_t n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	dir = opendir(path);
	assert_non_null(dir);
	while ((entry = readdir(dir)))
		n += entry->d_name[0] != '.';
	closedir(dir);
	return n;
}

static int start(void **state)
{
	(void)state;
	server = http_start(NULL, NULL, NULL, &port);
	snprintf(pid, sizeof(pid), "%d", server->pid);
	for (size_t i = 0; i < CONNECTIONS; i++) {
		char body[128];

		connections[i] = http_connect(port);
		http_send(connections[i], HTTP_GET("/"));
		assert_int_equal(http_answer(connections[i], body, sizeof(body)), 200);
	}
	descriptors = count_descriptors();
	return 0;
}

static int stop(void **state)
{
	(void)state;
	for (size_t i = 0; i < CONNECTIONS; i++)
		close(connections[i]);
	harness_free(server);
	return 0;
}

static bool nothing_is_kept(void *arg)
{
	(void)arg;
	return count_descriptors() <= descriptors;
}

static void assert_whole(struct harness_process *p)
{
	json_t *answer;

	cli_expect(p, 0);
	answer = json_answer(p);
	assert_true(json_is_true(json_object_get(answer, "complete")));
	assert_true(json_int(answer, "shown") >= CONNECTIONS);
	json_decref(answer);
}

/* Whether the last connection is finished: a running fiber has no stack to show. */
static bool nobody_runs(void *arg)
{
	struct harness_process *p =
		cli_run("fiberctl", "list", pid, "--where", "state=running", "--json", NULL);
	json_t *answer = json_well(p);
	const bool none = json_int(answer, "matched") == 0;

	(void)arg;
	json_decref(answer);
	return none;
}

/* The program works, the next client is served, and nothing of the clients is left. */
static int all_is_well(void **state)
{
	struct harness_process *p;

	(void)state;
	assert_true(harness_until(nobody_runs, NULL, CLI_SECONDS));
	p = cli_run("fiberctl", "bt", pid, "--all", "--json", NULL);
	assert_whole(p);
	harness_free(p);
	http_alive(port);
	assert_true(harness_until(nothing_is_kept, NULL, CLI_SECONDS));
	return 0;
}

static struct harness_process *begin(const char *command, const char *option)
{
	char path[HARNESS_PATH];
	const char *const argv[] = {
		harness_program(path, "fiberctl"), command, pid, "--json", option, NULL};

	return harness_start(argv, NULL);
}

/* Assert that all fibers are shown, and all stacks except those of running fibers. */
static void assert_whole_but_running(struct harness_process *p)
{
	json_t *answer = json_answer(p), *fiber;
	size_t i, running = 0;

	json_array_foreach (json_object_get(answer, "fibers"), i, fiber)
		running += strcmp(json_text(fiber, "state"), "running") == 0;
	cli_expect(p, running ? 1 : 0);
	assert_true(json_int(answer, "shown") >= CONNECTIONS);
	json_decref(answer);
}

static void test_ten_clients_at_once_get_whole_answers_again_and_again(void **state)
{
	enum { TEN = 10, ROUNDS = 10 };
	struct harness_process *p[TEN];

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < TEN; i++)
			p[i] = i % 2 ? begin("bt", "--all") : begin("list", NULL);
		http_alive(port);
		for (int i = 0; i < TEN; i++) {
			assert_true(harness_wait_end(p[i], CLI_SECONDS));
			if (i % 2)
				assert_whole_but_running(p[i]);
			else
				assert_whole(p[i]);
			harness_free(p[i]);
		}
	}
}

/* Write a request of this type with a zeroed payload; returns its size. */
static size_t request(unsigned char *bytes, uint16_t type, size_t payload)
{
	const struct fib_wire_header h = {FIB_WIRE_MAGIC, FIB_WIRE_VERSION, type,
					  (uint32_t)payload};

	memset(bytes, 0, sizeof(h) + payload);
	memcpy(bytes, &h, sizeof(h));
	return sizeof(h) + payload;
}

static void test_client_that_ends_after_any_byte_of_its_request_harms_nobody(void **state)
{
	unsigned char bytes[64];
	const size_t size = request(bytes, FIB_WIRE_STACK, sizeof(struct fib_wire_id));

	(void)state;
	for (int round = 0; round < 20; round++) {
		for (size_t n = 0; n <= size; n++) {
			const int fd = cli_attach(server->pid);

			assert_int_equal(send(fd, bytes, n, MSG_NOSIGNAL), n);
			close(fd);
		}
	}
}

/* Send the request, read n bytes of the answer and disconnect. False if the answer is shorter. */
static bool take(const unsigned char *bytes, size_t size, size_t n)
{
	const int fd = cli_attach(server->pid);
	char got[4096];
	size_t done = 0;
	ssize_t now = 1;

	assert_int_equal(send(fd, bytes, size, MSG_NOSIGNAL), size);
	/* The connection stays open after an answer: end our side, so that reading past it does not
	 * hang. */
	shutdown(fd, SHUT_WR);
	while (done < n && now > 0) {
		now = recv(fd, got, n - done < sizeof(got) ? n - done : sizeof(got), 0);
		done += now > 0 ? (size_t)now : 0;
	}
	close(fd);
	return done == n;
}

static void test_client_that_ends_after_any_byte_of_its_answer_harms_nobody(void **state)
{
	unsigned char bytes[64];
	size_t n, size = request(bytes, FIB_WIRE_STACK, sizeof(struct fib_wire_id));

	(void)state;
	/* Every byte of the first frames and the first rows, and some of the later ones. */
	for (n = 0; take(bytes, size, n); n += n < 600 ? 1 : 997)
		;
	assert_true(n > 10000);
}

static void test_client_that_is_killed_at_any_moment_harms_nobody(void **state)
{
	(void)state;
	for (int i = 0; i < 60; i++) {
		struct harness_process *p = begin(i % 2 ? "bt" : "list", i % 2 ? "--all" : NULL);

		usleep((useconds_t)(i * 150));
		kill(p->pid, SIGKILL);
		assert_true(harness_wait_end(p, CLI_SECONDS));
		harness_free(p);
	}
}

static void test_client_that_stops_reading_does_not_hold_up_the_others(void **state)
{
	unsigned char bytes[64];
	size_t size = request(bytes, FIB_WIRE_STACK, sizeof(struct fib_wire_id));
	int deaf[8];

	(void)state;
	for (int i = 0; i < 8; i++) {
		deaf[i] = cli_attach(server->pid);
		for (int k = 0; k < 20; k++)
			send(deaf[i], bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
	}
	for (int i = 0; i < 5; i++) {
		struct harness_process *p = cli_run("fiberctl", "list", pid, "--json", NULL);

		assert_whole(p);
		harness_free(p);
		http_alive(port);
	}
	for (int i = 0; i < 8; i++)
		close(deaf[i]);
}

static void test_ten_thousand_connections_one_after_another_leave_nothing(void **state)
{
	(void)state;
	for (int i = 0; i < 10000; i++) {
		const int fd = cli_attach(server->pid);

		if (i % 1000 == 0)
			http_alive(port);
		close(fd);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(
			test_ten_clients_at_once_get_whole_answers_again_and_again, all_is_well),
		cmocka_unit_test_teardown(
			test_client_that_ends_after_any_byte_of_its_request_harms_nobody,
			all_is_well),
		cmocka_unit_test_teardown(
			test_client_that_ends_after_any_byte_of_its_answer_harms_nobody,
			all_is_well),
		cmocka_unit_test_teardown(test_client_that_is_killed_at_any_moment_harms_nobody,
					  all_is_well),
		cmocka_unit_test_teardown(
			test_client_that_stops_reading_does_not_hold_up_the_others, all_is_well),
		cmocka_unit_test_teardown(
			test_ten_thousand_connections_one_after_another_leave_nothing, all_is_well),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, start, stop);
}
