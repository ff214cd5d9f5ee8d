/* SPDX-License-Identifier: MIT */
/* test_peers.c - which peers of the test's own connections owe an answer */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "inspect/process/peers.h"
#include "tests/harness/inspect/head.h"

static struct ins_peers peers;

/* A listener, a client and the accepted socket on the loopback interface. */
static void connect_two(int family, struct sockaddr *address, socklen_t size, int fd[3])
{
	fd[0] = socket(family, SOCK_STREAM, 0);
	assert_int_equal(bind(fd[0], address, size), 0);
	assert_int_equal(listen(fd[0], 1), 0);
	assert_int_equal(getsockname(fd[0], address, &size), 0);
	fd[1] = socket(family, SOCK_STREAM, 0);
	assert_int_equal(connect(fd[1], address, size), 0);
	fd[2] = accept(fd[0], NULL, NULL);
	assert_true(fd[2] >= 0);
}

static void connect_four(int fd[3], struct sockaddr_in *ret)
{
	*ret = (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	connect_two(AF_INET, (struct sockaddr *)ret, sizeof *ret, fd);
}

static int end(void **state)
{
	(void)state;
	ins_peers_free(&peers);
	return 0;
}

static void close_all(const int fd[3])
{
	for (int i = 0; i < 3; i++)
		close(fd[i]);
}

/* Read again. */
static const struct ins_peer *peer_of(int fd)
{
	ins_peers_free(&peers);
	assert_int_equal(ins_peers_read(getpid(), &peers), 0);
	return ins_peers_of(&peers, (uint32_t)fd);
}

static void move_byte(int from, int to)
{
	char byte = 'x';

	assert_int_equal(write(from, &byte, 1), 1);
	assert_int_equal(read(to, &byte, 1), 1);
}

static void test_a_peer_that_got_nothing_owes_nothing(void **state)
{
	struct sockaddr_in address;
	char wanted[64];
	int fd[3];

	(void)state;
	connect_four(fd, &address);
	assert_non_null(peer_of(fd[1]));
	snprintf(wanted, sizeof wanted, "127.0.0.1:%u", ntohs(address.sin_port));
	assert_string_equal(peer_of(fd[1])->address, wanted);
	assert_false(peer_of(fd[1])->owes);
	assert_false(peer_of(fd[2])->owes);
	assert_null(peer_of(fd[0])); /* it listens */
	close_all(fd);
}

static void test_a_peer_owes_the_answer_to_what_was_sent_last(void **state)
{
	struct sockaddr_in address;
	int fd[3], i;

	(void)state;
	connect_four(fd, &address);
	move_byte(fd[1], fd[2]);
	assert_true(peer_of(fd[1])->owes);
	assert_false(peer_of(fd[2])->owes);
	move_byte(fd[2], fd[1]); /* the answer */
	assert_false(peer_of(fd[1])->owes);
	/* What is sent in the tick of the answer does not count. */
	for (i = 0; i < 10000 && !peer_of(fd[1])->owes; i++)
		move_byte(fd[1], fd[2]);
	assert_true(peer_of(fd[1])->owes);
	close_all(fd);
}

static void test_a_peer_of_the_other_family_has_its_address_too(void **state)
{
	struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	char wanted[64];
	int fd[3];

	(void)state;
	connect_two(AF_INET6, (struct sockaddr *)&six, sizeof six, fd);
	snprintf(wanted, sizeof wanted, "[::1]:%u", ntohs(six.sin6_port));
	assert_non_null(peer_of(fd[1]));
	assert_string_equal(peer_of(fd[1])->address, wanted);
	close_all(fd);
}

static void test_other_descriptors_and_processes_have_no_peers(void **state)
{
	struct ins_peers none = {0};
	int ends[2], pair[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_null(peer_of(ends[0]));
	assert_null(peer_of(pair[0]));
	assert_null(peer_of(INT32_MAX));
	assert_int_equal(ins_peers_read(INT32_MAX, &none), -EXDEV);
	assert_int_equal(none.count, 0);
	for (int i = 0; i < 2; i++) {
		close(ends[i]);
		close(pair[i]);
	}
}

#define PEER_TEST(name) cmocka_unit_test_teardown(name, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PEER_TEST(test_a_peer_that_got_nothing_owes_nothing),
		PEER_TEST(test_a_peer_owes_the_answer_to_what_was_sent_last),
		PEER_TEST(test_a_peer_of_the_other_family_has_its_address_too),
		PEER_TEST(test_other_descriptors_and_processes_have_no_peers),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
