/* SPDX-License-Identifier: MIT */
/*
 * test_net_datagrams.c - UDP sockets, and options of sockets, of a schedule behave as those of the
 * system on loopback
 */
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/uio.h>

#include "tests/explore/loopback.h"

static void say_datagram(int fd, size_t size, int flags)
{
	struct sockaddr_storage from;
	socklen_t length = sizeof from;
	char bytes[64] = "";
	const ssize_t n = fiber_recvfrom(fd, bytes, size, flags, (struct sockaddr *)&from, &length,
					 FIBER_FOREVER);

	say_fiber("receive", n);
	if (n < 0)
		return;
	say_address("from", &from, length);
	say("bytes %.10s\n", bytes);
}

/* Neither takes a datagram, and neither waits for one. */
static void say_nothing_read(int fd)
{
	char byte;
	const struct iovec none[2] = {{&byte, 0}, {NULL, 0}};

	say_result("read of no bytes", read(fd, &byte, 0));
	say_result("readv of no bytes", readv(fd, none, 2));
	say_fiber("fiber_readv of no bytes", fiber_readv(fd, none, 2, FIBER_FOREVER));
}

static void body_datagrams(void)
{
	const int a = open_socket(AF_INET, SOCK_DGRAM), b = open_socket(AF_INET, SOCK_DGRAM);
	static char large[70000];
	int i, n;
	char byte;

	say_result("bind", bind_to(a, "127.0.0.1", port));
	say_nothing_read(a);
	say_fiber("send", send_text(b, "one", "127.0.0.1", port));
	say_nothing_read(a);
	say_own("sender", b);
	say_fiber("send", send_text(b, "", "127.0.0.1", port));
	say_fiber("send", send_text(b, "three three", "127.0.0.1", port));
	say_fiber("send", send_text(b, "four", "127.0.0.1", port));
	say_result("size", ioctl(a, FIONREAD, &n));
	say("%d bytes\n", n);
	say_datagram(a, 64, MSG_PEEK);
	say_datagram(a, 64, 0);
	say_datagram(a, 64, 0);
	say_datagram(a, 5, MSG_TRUNC);
	say_datagram(a, 64, 0);
	say_result("receive", recv(a, &byte, 1, MSG_DONTWAIT));
	say_fiber("port 0", send_text(b, "x", "127.0.0.1", 0));
	say_result("too large", sendto(b, large, sizeof large, 0,
				       (struct sockaddr *)&(struct sockaddr_in){
					       .sin_family = AF_INET, .sin_port = htons(port)},
				       sizeof(struct sockaddr_in)));
	/* More than the kernel's queue of a UNIX socket has room for, in their order. */
	for (i = n = 0; i < 200; i++)
		n += send_text(b, (char[]){(char)('A' + i % 26), 0}, "127.0.0.1", port) == 1;
	say("%d sent\n", n);
	for (i = n = 0; i < 200; i++)
		n += recv(a, &byte, 1, MSG_DONTWAIT) == 1 && byte == 'A' + i % 26;
	say("%d received in order\n", n);
	fiber_close(a);
	fiber_close(b);
}

static void body_connected_datagrams(void)
{
	const int a = open_socket(AF_INET, SOCK_DGRAM), b = open_socket(AF_INET, SOCK_DGRAM);
	const int c = open_socket(AF_INET, SOCK_DGRAM);
	struct sockaddr_in at;
	socklen_t size = sizeof at;
	char byte;

	say_fiber("connect", connect_to(b, "127.0.0.1", port));
	say_own("own", b);
	say_peer("peer", b);
	say_fiber("send to a free port", fiber_send(b, "x", 1, 0, FIBER_FOREVER));
	say_fiber("receive", fiber_recv(b, &byte, 1, 0, FIBER_FOREVER));
	say_result("receive", recv(b, &byte, 1, MSG_DONTWAIT));
	say_fiber("send to a free port", fiber_send(b, "x", 1, 0, FIBER_FOREVER));
	say_fiber("send to a free port", fiber_send(b, "x", 1, 0, FIBER_FOREVER));
	say_fiber("unconnected: send to a free port", send_text(c, "x", "127.0.0.1", port));
	say_fiber("unconnected: send to a free port", send_text(c, "x", "127.0.0.1", port));
	say_result("bind", bind_to(a, "0.0.0.0", port));
	say_fiber("send", fiber_send(b, "y", 1, 0, FIBER_FOREVER));
	say_datagram(a, 64, 0);
	/* Only the one to which it is connected reaches it. */
	getsockname(b, (struct sockaddr *)&at, &size);
	say_fiber("send", send_text(c, "no", "127.0.0.1", ntohs(at.sin_port)));
	say_fiber("send", send_text(a, "yes", "127.0.0.1", ntohs(at.sin_port)));
	say_datagram(b, 64, 0);
	say_result("receive", recv(b, &byte, 1, MSG_DONTWAIT));
	fiber_close(a);
	fiber_close(b);
	fiber_close(c);
}

static void say_option(int fd, int level, int name)
{
	int value = -1;
	socklen_t size = sizeof value;
	const int rc = getsockopt(fd, level, name, &value, &size);

	say("option %d.%d: ", level, name);
	say_result("get", rc);
	say("%d (%u bytes)\n", value, (unsigned)size);
}

static void body_options(void)
{
	static const struct {
		int level, name, value;
	} options[] = {
		{SOL_SOCKET, SO_REUSEADDR, 5},	 {SOL_SOCKET, SO_REUSEPORT, 1},
		{SOL_SOCKET, SO_KEEPALIVE, 1},	 {SOL_SOCKET, SO_RCVBUF, 5000},
		{SOL_SOCKET, SO_SNDBUF, 100000}, {SOL_SOCKET, SO_BROADCAST, 1},
		{SOL_SOCKET, SO_PRIORITY, 3},	 {IPPROTO_TCP, TCP_NODELAY, 1},
		{IPPROTO_TCP, TCP_KEEPIDLE, 11}, {IPPROTO_TCP, TCP_KEEPINTVL, 12},
		{IPPROTO_TCP, TCP_CORK, 1},	 {IPPROTO_TCP, TCP_USER_TIMEOUT, 13},
		{IPPROTO_TCP, TCP_KEEPIDLE, -1}, {IPPROTO_IP, IP_TTL, 9},
		{IPPROTO_IP, IP_TOS, 16},	 {IPPROTO_IPV6, IPV6_V6ONLY, 1},
		{SOL_SOCKET, 9999, 1},		 {9999, 1, 1},
		{SOL_SOCKET, SO_ACCEPTCONN, 1},
	};
	static const int read_only[] = {SO_TYPE, SO_DOMAIN, SO_PROTOCOL, SO_ACCEPTCONN, SO_ERROR};
	const int types[] = {SOCK_STREAM, SOCK_DGRAM};
	unsigned i, t;
	int fd;

	for (t = 0; t < 2; t++) {
		fd = open_socket(AF_INET, types[t]);
		for (i = 0; i < sizeof read_only / sizeof *read_only; i++)
			say_option(fd, SOL_SOCKET, read_only[i]);
		for (i = 0; i < sizeof options / sizeof *options; i++) {
			say_option(fd, options[i].level, options[i].name);
			set(fd, options[i].level, options[i].name, options[i].value);
			say_option(fd, options[i].level, options[i].name);
		}
		fiber_close(fd);
	}
	fd = open_socket(AF_INET, SOCK_STREAM);
	say_result("short value", setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &fd, 2));
	fiber_close(fd);
}

static void body_inherited_options(void)
{
	const int listener = listen_at("127.0.0.1", port, 1);
	const int fd = open_socket(AF_INET, SOCK_STREAM);
	int n;

	set(listener, IPPROTO_TCP, TCP_NODELAY, 1);
	say_option(listener, SOL_SOCKET, SO_ACCEPTCONN);
	say_fiber("connect", connect_to(fd, "127.0.0.1", port));
	n = fiber_accept(listener, NULL, NULL, FIBER_FOREVER);
	say_option(n, IPPROTO_TCP, TCP_NODELAY);
	say_option(n, SOL_SOCKET, SO_REUSEADDR);
	say_option(n, SOL_SOCKET, SO_ACCEPTCONN);
	say_option(n, SOL_SOCKET, SO_PROTOCOL);
	say_option(fd, IPPROTO_TCP, TCP_NODELAY);
	fiber_close(n);
	fiber_close(fd);
	fiber_close(listener);
}

COMPARED(datagrams)
COMPARED(connected_datagrams)
COMPARED(options)
COMPARED(inherited_options)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_datagrams_as_loopback),
		cmocka_unit_test(test_connected_datagrams_as_loopback),
		cmocka_unit_test(test_options_as_loopback),
		cmocka_unit_test(test_inherited_options_as_loopback),
	};

	return cmocka_run_group_tests(tests, find_port, NULL);
}
