/* SPDX-License-Identifier: MIT */
/* test_net.c - TCP sockets of a schedule behave as those of the system on loopback */
#include "tests/explore/loopback.h"

/* Its notes come after those of the client, in any order of the two. */
static char aside[ROOM];

static void *echo(void *arg)
{
	const int listener = (int)(intptr_t)arg;
	struct sockaddr_storage from;
	socklen_t size = sizeof from;
	char bytes[1024], *before = notes;
	int fd;

	fd = fiber_accept(listener, (struct sockaddr *)&from, &size, FIBER_FOREVER);
	notes = aside;
	notes[0] = 0;
	say_address("accepted from", &from, size);
	say_own("accepted own", fd);
	say_peer("accepted peer", fd);
	notes = before;
	while (fiber_read_full(fd, bytes, sizeof bytes, FIBER_FOREVER) == (ssize_t)sizeof bytes)
		fiber_write_full(fd, bytes, sizeof bytes, FIBER_FOREVER);
	fiber_close(fd);
	return NULL;
}

static void converse_at(const char *own, const char *to, int family)
{
	const int listener = listen_at(own, port, 10);
	const int fd = open_socket(family, SOCK_STREAM);
	struct fiber *server;
	char bytes[1024];

	fiber_spawn(echo, (void *)(intptr_t)listener, &server);
	say_own("fresh own", fd);
	say_peer("fresh peer", fd);
	say_fiber("connect", connect_to(fd, to, port));
	say_own("client own", fd);
	say_peer("client peer", fd);
	say_own("listener own", listener);
	say_peer("listener peer", listener);
	memset(bytes, 'x', sizeof bytes);
	say_fiber("write", fiber_write_full(fd, bytes, sizeof bytes, FIBER_FOREVER));
	memset(bytes, 0, sizeof bytes);
	say_fiber("read", fiber_read_full(fd, bytes, sizeof bytes, FIBER_FOREVER));
	say("bytes %c%c\n", bytes[0], bytes[1023]);
	fiber_close(fd);
	fiber_join(server, NULL, FIBER_FOREVER);
	say("%s", aside);
	fiber_close(listener);
}

static void body_echo(void)
{
	converse_at("127.0.0.1", "127.0.0.1", AF_INET);
	converse_at("0.0.0.0", "127.0.0.2", AF_INET);
	converse_at("0.0.0.0", "0.0.0.0", AF_INET);
}

static void body_echo_v6(void)
{
	converse_at("::1", "::1", AF_INET6);
	converse_at("::", "127.0.0.1", AF_INET);
	converse_at("::", "::ffff:127.0.0.1", AF_INET6);
}

static void body_errors(void)
{
	const int fresh = open_socket(AF_INET, SOCK_STREAM);
	const int tcp = open_socket(AF_INET, SOCK_STREAM), udp = open_socket(AF_INET, SOCK_DGRAM);
	const struct sockaddr_storage v6 = address("::1", 80), v4 = address("127.0.0.1", port);
	int listener;
	char byte = 0;

	say_fiber("refused", connect_to(tcp, "127.0.0.1", port));
	say_result("accept of no listener", accept(tcp, NULL, NULL));
	say_result("listen of datagrams", listen(udp, 1));
	say_result("accept of datagrams", accept(udp, NULL, NULL));
	say_result("send unconnected", send(fresh, &byte, 1, MSG_NOSIGNAL));
	say_result("recv unconnected", recv(fresh, &byte, 1, MSG_DONTWAIT));
	say_result("shutdown unconnected", shutdown(fresh, SHUT_RDWR));
	say_result("datagrams: shutdown unconnected", shutdown(udp, SHUT_RDWR));
	say_result("datagrams: send without address", send(udp, &byte, 1, 0));
	say_result("bind of the other family", bind(tcp, (const struct sockaddr *)&v6, sizeof v6));
	say_result("bind with a short address", bind(tcp, (const struct sockaddr *)&v4, 4));
	say_result("connect with a short address", connect(fresh, (const struct sockaddr *)&v4, 4));
	say_result("bind to an address of others", bind_to(tcp, "203.0.113.1", 0));
	say_result("bind", bind_to(tcp, "127.0.0.1", port));
	say_result("bind twice", bind_to(tcp, "127.0.0.1", 0));
	listener = open_socket(AF_INET, SOCK_STREAM);
	say_result("listen unbound", listen(listener, 1));
	say_own("listen unbound", listener);
	say_fiber("connect a listener", connect_to(listener, "127.0.0.1", port));
	say_result("shutdown for an unknown end", shutdown(listener, 7));
	say_result("raw", socket(AF_INET, SOCK_STREAM, IPPROTO_UDP));
	say_result("sequence of packets", socket(AF_INET, SOCK_SEQPACKET, 0));
	say_result("listener: recv", recv(listener, &byte, 1, MSG_DONTWAIT));
	say_result("listener: send", send(listener, &byte, 1, MSG_NOSIGNAL));
	fiber_close(fresh);
	fiber_close(tcp);
	fiber_close(udp);
	fiber_close(listener);
}

/* Bind two sockets, and listen on both. */
static void bind_two(int type, int option, const char *first, const char *second)
{
	const int a = open_socket(strchr(first, ':') ? AF_INET6 : AF_INET, type);
	const int b = open_socket(strchr(second, ':') ? AF_INET6 : AF_INET, type);
	char what[64];

	if (option) {
		set(a, SOL_SOCKET, option, 1);
		set(b, SOL_SOCKET, option, 1);
	}
	snprintf(what, sizeof what, "%s and %s, option %d", first, second, option);
	say("%s\n", what);
	say_result("bind", bind_to(a, first, port));
	say_result("bind", bind_to(b, second, port));
	if (type == SOCK_STREAM) {
		say_result("listen", listen(a, 1));
		say_result("listen", listen(b, 1));
	}
	fiber_close(a);
	fiber_close(b);
}

static void body_ports(void)
{
	static const int options[] = {0, SO_REUSEADDR, SO_REUSEPORT};
	int i, fd, other;

	for (i = 0; i < 3; i++) {
		bind_two(SOCK_STREAM, options[i], "127.0.0.1", "127.0.0.1");
		bind_two(SOCK_STREAM, options[i], "127.0.0.1", "127.0.0.2");
		bind_two(SOCK_STREAM, options[i], "127.0.0.1", "0.0.0.0");
		bind_two(SOCK_STREAM, options[i], "0.0.0.0", "127.0.0.1");
		bind_two(SOCK_DGRAM, options[i], "127.0.0.1", "127.0.0.1");
		bind_two(SOCK_DGRAM, options[i], "0.0.0.0", "127.0.0.1");
	}
	/* A port is free again when all descriptors of its socket are closed. */
	fd = open_socket(AF_INET, SOCK_STREAM);
	say_result("bind", bind_to(fd, "127.0.0.1", port));
	other = dup(fd);
	fiber_close(fd);
	fd = open_socket(AF_INET, SOCK_STREAM);
	say_result("bind beside a duplicate", bind_to(fd, "127.0.0.1", port));
	dup2(fd, other);
	say_result("bind after dup2", bind_to(fd, "127.0.0.1", port));
	fclose(fdopen(fd, "r+"));
	say_result("a duplicate has the port", bind_to(other, "127.0.0.1", 0));
	fclose(fdopen(other, "r+"));
	fd = open_socket(AF_INET, SOCK_STREAM);
	say_result("bind after fclose", bind_to(fd, "127.0.0.1", port));
	fiber_close(fd);
}

static void body_ports_v6(void)
{
	const int v4 = open_socket(AF_INET, SOCK_STREAM), v6 = open_socket(AF_INET6, SOCK_STREAM);

	bind_two(SOCK_STREAM, 0, "::", "0.0.0.0");
	bind_two(SOCK_STREAM, 0, "::1", "127.0.0.1");
	bind_two(SOCK_STREAM, 0, "::", "::1");
	set(v6, IPPROTO_IPV6, IPV6_V6ONLY, 1);
	say_result("only 6", bind_to(v6, "::", port));
	say_result("4 beside only 6", bind_to(v4, "0.0.0.0", port));
	set(v6, IPPROTO_IPV6, IPV6_V6ONLY, 0);
	fiber_close(v4);
	fiber_close(v6);
}

static void body_half_close(void)
{
	struct pair p = connect_pair();
	char bytes[8];

	say_ready("open", p.client);
	say_fiber("write", fiber_write(p.client, "abc", 3, FIBER_FOREVER));
	say_result("shutdown", shutdown(p.client, SHUT_WR));
	say_ready("client", p.client);
	say_ready("server", p.server);
	say_result("send after shutdown", send(p.client, "x", 1, MSG_NOSIGNAL));
	say_fiber("read", fiber_read(p.server, bytes, sizeof bytes, FIBER_FOREVER));
	say_fiber("read", fiber_read(p.server, bytes, sizeof bytes, FIBER_FOREVER));
	say_fiber("write", fiber_write(p.server, "defg", 4, FIBER_FOREVER));
	say_fiber("read", fiber_read(p.client, bytes, sizeof bytes, FIBER_FOREVER));
	say_result("shutdown", shutdown(p.server, SHUT_WR));
	say_fiber("read", fiber_read(p.client, bytes, sizeof bytes, FIBER_FOREVER));
	say_ready("client", p.client);
	close_pair(p);
}

/* The peer closes, and everything was read. */
static void body_close(void)
{
	struct pair p = connect_pair();
	char bytes[8];
	int error = 7;
	socklen_t size = sizeof error;

	say_fiber("write", fiber_write(p.client, "abc", 3, FIBER_FOREVER));
	fiber_close(p.client);
	say_ready("peer is closed", p.server);
	say_fiber("read", fiber_read(p.server, bytes, sizeof bytes, FIBER_FOREVER));
	say_fiber("read", fiber_read(p.server, bytes, sizeof bytes, FIBER_FOREVER));
	say_peer("peer", p.server);
	say_fiber("first write", fiber_write(p.server, "abc", 3, FIBER_FOREVER));
	say_fiber("second write", fiber_write(p.server, "abc", 3, FIBER_FOREVER));
	say_fiber("read", fiber_read(p.server, bytes, sizeof bytes, FIBER_FOREVER));
	getsockopt(p.server, SOL_SOCKET, SO_ERROR, &error, &size);
	say("error %d\n", error);
	fiber_close(p.server);
}

/* The peer closes and has not read everything. */
static void body_reset(void)
{
	struct pair p = connect_pair();
	char bytes[8];

	say_fiber("write", fiber_write(p.client, "abc", 3, FIBER_FOREVER));
	say_fiber("write", fiber_write(p.server, "def", 3, FIBER_FOREVER));
	fiber_close(p.server);
	say_fiber("read", fiber_read(p.client, bytes, sizeof bytes, FIBER_FOREVER));
	say_fiber("read", fiber_read(p.client, bytes, sizeof bytes, FIBER_FOREVER));
	say_fiber("read", fiber_read(p.client, bytes, sizeof bytes, FIBER_FOREVER));
	say_fiber("write", fiber_write(p.client, "abc", 3, FIBER_FOREVER));
	fiber_close(p.client);
	p = connect_pair();
	say_fiber("write", fiber_write(p.client, "abc", 3, FIBER_FOREVER));
	fiber_close(p.server);
	say_fiber("write", fiber_write(p.client, "abc", 3, FIBER_FOREVER));
	say_fiber("write", fiber_write(p.client, "abc", 3, FIBER_FOREVER));
	fiber_close(p.client);
}

static void body_shut_reading(void)
{
	struct pair p = connect_pair();
	char bytes[8];

	say_fiber("write", fiber_write(p.client, "abc", 3, FIBER_FOREVER));
	say_result("shutdown", shutdown(p.server, SHUT_RD));
	say_ready("server", p.server);
	say_fiber("read", fiber_read(p.server, bytes, sizeof bytes, FIBER_FOREVER));
	say_fiber("read", fiber_read(p.server, bytes, sizeof bytes, FIBER_FOREVER));
	say_fiber("write", fiber_write(p.client, "abc", 3, FIBER_FOREVER));
	say_fiber("write", fiber_write(p.server, "defg", 4, FIBER_FOREVER));
	say_fiber("read", fiber_read(p.client, bytes, sizeof bytes, FIBER_FOREVER));
	close_pair(p);
}

static void *accept_one(void *arg)
{
	const int listener = (int)(intptr_t)arg;

	say_fiber("accept", fiber_accept(listener, NULL, NULL, FIBER_FOREVER));
	return NULL;
}

static void body_listener(void)
{
	int listener = listen_at("127.0.0.1", port, 10);
	int fd = open_socket(AF_INET, SOCK_STREAM);
	struct fiber *f;
	char byte;

	fiber_spawn(accept_one, (void *)(intptr_t)listener, &f);
	fiber_yield();
	say_result("shutdown", shutdown(listener, SHUT_RDWR));
	fiber_join(f, NULL, FIBER_FOREVER);
	say_fiber("connect", connect_to(fd, "127.0.0.1", port));
	fiber_close(fd);
	fiber_close(listener);
	listener = listen_at("127.0.0.1", port, 10);
	fd = open_socket(AF_INET, SOCK_STREAM);
	say_fiber("connect", connect_to(fd, "127.0.0.1", port));
	say_fiber("write before accept", fiber_write(fd, "abc", 3, FIBER_FOREVER));
	fiber_close(listener);
	say_fiber("read", fiber_read(fd, &byte, 1, FIBER_FOREVER));
	fiber_close(fd);
}

static int connect_within(int fd, int64_t ns)
{
	const struct sockaddr_storage ss = address("127.0.0.1", port);

	return fiber_connect(fd, (const struct sockaddr *)&ss, size_of(&ss), fiber_after(ns));
}

static void body_backlog(void)
{
	const int listener = listen_at("127.0.0.1", port, 0);
	const int a = open_socket(AF_INET, SOCK_STREAM), b = open_socket(AF_INET, SOCK_STREAM);
	char byte;

	say_fiber("connect", connect_within(a, 10000000));
	say_fiber("connect beyond the backlog", connect_within(b, 10000000));
	say_ready("waiting", b);
	say_result("send", send(b, "x", 1, MSG_DONTWAIT | MSG_NOSIGNAL));
	say_result("receive", recv(b, &byte, 1, MSG_DONTWAIT));
	say_peer("peer", b);
	say_fiber("connect again", connect_within(b, 10000000));
	fiber_close(a);
	fiber_close(b);
	fiber_close(listener);
}

COMPARED(echo)
COMPARED_V6(echo_v6)
COMPARED(errors)
COMPARED(ports)
COMPARED_V6(ports_v6)
COMPARED(half_close)
COMPARED(close)
COMPARED(reset)
COMPARED(shut_reading)
COMPARED(listener)
COMPARED(backlog)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_echo_as_loopback),
		cmocka_unit_test(test_echo_v6_as_loopback),
		cmocka_unit_test(test_errors_as_loopback),
		cmocka_unit_test(test_ports_as_loopback),
		cmocka_unit_test(test_ports_v6_as_loopback),
		cmocka_unit_test(test_half_close_as_loopback),
		cmocka_unit_test(test_close_as_loopback),
		cmocka_unit_test(test_reset_as_loopback),
		cmocka_unit_test(test_shut_reading_as_loopback),
		cmocka_unit_test(test_listener_as_loopback),
		cmocka_unit_test(test_backlog_as_loopback),
	};

	return cmocka_run_group_tests(tests, find_port, NULL);
}
