/* SPDX-License-Identifier: MIT */
/* test_descriptors.c - what the descriptors of the test itself are */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "inspect/process/descriptors.h"
#include "tests/harness/inspect/head.h"
#include "tests/harness/paths.h"

static struct ins_descriptors descriptors;
static char name[INS_DESCRIPTOR_NAME];

static const char *name_of(int fd)
{
	descriptors.pid = getpid();
	return ins_descriptor_name(&descriptors, (uint32_t)fd, name);
}

/* Sockets are looked up again. */
static const char *new_name_of(int fd)
{
	ins_descriptors_free(&descriptors);
	return name_of(fd);
}

static void test_pipes_files_and_epoll_are_named(void **state)
{
	char path[HARNESS_PATH];
	int ends[2], fd;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_string_equal(name_of(ends[0]), "pipe");
	close(ends[0]);
	close(ends[1]);
	fd = epoll_create1(0);
	assert_string_equal(name_of(fd), "eventpoll");
	close(fd);
	fd = open(harness_file(path, "a-file"), O_CREAT | O_RDWR, 0600);
	assert_true(fd >= 0);
	assert_string_equal(name_of(fd), "a-file");
	close(fd);
	assert_string_equal(name_of(fd), "");
}

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

static void close_all(const int fd[3])
{
	for (int i = 0; i < 3; i++)
		close(fd[i]);
}

static void test_a_socket_is_named_by_its_peer_or_the_address_it_listens_on(void **state)
{
	struct sockaddr_in four = {.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	char wanted[64];
	int fd[3];

	(void)state;
	connect_two(AF_INET, (struct sockaddr *)&four, sizeof four, fd);
	snprintf(wanted, sizeof wanted, "127.0.0.1:%u", ntohs(four.sin_port));
	assert_string_equal(new_name_of(fd[1]), wanted);
	snprintf(wanted, sizeof wanted, "listening 127.0.0.1:%u", ntohs(four.sin_port));
	assert_string_equal(name_of(fd[0]), wanted);
	close_all(fd);
	connect_two(AF_INET6, (struct sockaddr *)&six, sizeof six, fd);
	snprintf(wanted, sizeof wanted, "[::1]:%u", ntohs(six.sin6_port));
	assert_string_equal(new_name_of(fd[1]), wanted);
	close_all(fd);
}

static void test_a_local_socket_is_named_by_its_path(void **state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "\0a-name"};
	const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	int pair[2];

	(void)state;
	assert_int_equal(bind(fd, (struct sockaddr *)&address,
			      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 7)),
			 0);
	assert_string_equal(new_name_of(fd), "unix @a-name");
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	/* It came after the tables were read. */
	assert_string_equal(name_of(pair[0]), "socket");
	assert_string_equal(new_name_of(pair[0]), "unix");
	close(fd);
	close(pair[0]);
	close(pair[1]);
}

static void test_a_process_that_does_not_exist_has_no_names(void **state)
{
	struct ins_descriptors none = {.pid = INT32_MAX};

	(void)state;
	assert_string_equal(ins_descriptor_name(&none, 0, name), "");
	ins_descriptors_free(&none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pipes_files_and_epoll_are_named),
		cmocka_unit_test(test_a_socket_is_named_by_its_peer_or_the_address_it_listens_on),
		cmocka_unit_test(test_a_local_socket_is_named_by_its_path),
		cmocka_unit_test(test_a_process_that_does_not_exist_has_no_names),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
