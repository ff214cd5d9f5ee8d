/* SPDX-License-Identifier: MIT */
/*
 * test_hostile_client.c - the control socket with clients that send garbage, half a request, or
 * nothing
 *
 * The server goes on, and a later fiberctl gets its answer.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/harness/cli/json.h"
#include "tests/harness/cli/one_server.h"
#include "tests/harness/watchdog.h"
#include "wire/wire.h"

static void all_is_well(void)
{
	struct harness_process *p = cli_run("fiberctl", "list", pid, NULL);

	cli_expect(p, 0);
	cli_contains(p->out.bytes, "acceptor");
	harness_free(p);
	http_alive(port);
}

/* Read until the other end closes. False if it does not within the time. */
static bool closes(int fd)
{
	struct pollfd one = {fd, POLLIN, 0};
	char rest[4096];

	while (poll(&one, 1, CLI_SECONDS * 1000) == 1)
		if (recv(fd, rest, sizeof(rest), 0) <= 0)
			return true;
	return false;
}

static void test_garbage_ends_the_connection_and_nothing_else(void **state)
{
	unsigned char noise[4096];

	(void)state;
	srand(1);
	for (int round = 0; round < 20; round++) {
		const int fd = cli_attach(server->pid);

		for (size_t i = 0; i < sizeof(noise); i++)
			noise[i] = (unsigned char)rand();
		send(fd, noise, sizeof(noise), MSG_NOSIGNAL);
		assert_true(closes(fd));
		close(fd);
	}
	all_is_well();
}

static void test_well_formed_headers_with_wrong_contents_are_refused(void **state)
{
	const struct fib_wire_header wrong[] = {
		{FIB_WIRE_MAGIC, FIB_WIRE_VERSION + 1, FIB_WIRE_LIST, 0},
		{FIB_WIRE_MAGIC, FIB_WIRE_VERSION, 0x7f, 0},
		{FIB_WIRE_MAGIC, FIB_WIRE_VERSION, FIB_WIRE_END, 0},
		{FIB_WIRE_MAGIC, FIB_WIRE_VERSION, FIB_WIRE_LIST, 0xffffffff},
		{FIB_WIRE_MAGIC, FIB_WIRE_VERSION, FIB_WIRE_LIST, FIB_WIRE_REQUEST_MAX + 1},
		{FIB_WIRE_MAGIC, FIB_WIRE_VERSION, FIB_WIRE_SHOW, 0},
		{FIB_WIRE_MAGIC, FIB_WIRE_VERSION, FIB_WIRE_POLICY, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		const int fd = cli_attach(server->pid);

		assert_int_equal(send(fd, &wrong[i], sizeof(wrong[i]), MSG_NOSIGNAL),
				 sizeof(wrong[i]));
		assert_true(closes(fd));
		close(fd);
	}
	all_is_well();
}

static void test_silent_clients_do_not_keep_others_from_an_answer(void **state)
{
	enum { MANY = 40 };
	int fds[MANY];

	(void)state;
	for (int i = 0; i < MANY; i++)
		fds[i] = cli_attach(server->pid);
	all_is_well();
	for (int i = 0; i < MANY; i++)
		close(fds[i]);
	all_is_well();
}

static void test_half_a_request_does_not_keep_others_from_an_answer(void **state)
{
	const struct fib_wire_header list = {FIB_WIRE_MAGIC, FIB_WIRE_VERSION, FIB_WIRE_LIST, 0};
	int fds[8];

	(void)state;
	for (int i = 0; i < 8; i++) {
		fds[i] = cli_attach(server->pid);
		assert_int_equal(send(fds[i], &list, sizeof(list) / 2, MSG_NOSIGNAL),
				 sizeof(list) / 2);
	}
	all_is_well();
	for (int i = 0; i < 8; i++)
		close(fds[i]);
}

static void test_a_client_that_asks_and_never_reads_is_dropped(void **state)
{
	const struct fib_wire_header all[] = {
		{FIB_WIRE_MAGIC, FIB_WIRE_VERSION, FIB_WIRE_STACK, sizeof(struct fib_wire_id)},
		{0},
	};
	enum { MANY = 200 };
	int fds[MANY], deaf;

	(void)state;
	for (int i = 0; i < MANY; i++)
		fds[i] = http_connect(port);
	http_alive(port);
	deaf = cli_attach(server->pid);
	for (int i = 0; i < 50; i++)
		send(deaf, all, sizeof(all[0]) + sizeof(struct fib_wire_id),
		     MSG_NOSIGNAL | MSG_DONTWAIT);
	all_is_well();
	close(deaf);
	for (int i = 0; i < MANY; i++)
		close(fds[i]);
	all_is_well();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_garbage_ends_the_connection_and_nothing_else),
		cmocka_unit_test(test_well_formed_headers_with_wrong_contents_are_refused),
		cmocka_unit_test(test_silent_clients_do_not_keep_others_from_an_answer),
		cmocka_unit_test(test_half_a_request_does_not_keep_others_from_an_answer),
		cmocka_unit_test(test_a_client_that_asks_and_never_reads_is_dropped),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, one_server, one_server_end);
}
