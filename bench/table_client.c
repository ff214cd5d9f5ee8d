/* SPDX-License-Identifier: MIT */
/*
 * table_client.c - load a server that shares a table, and measure what a request costs it
 *
 * Usage: table_client PORT CONNECTIONS REQUESTS PID
 *
 * One thread keeps one request under way on each connection. Every 20th request of a connection
 * writes, the others read. Each connection has had an answer before the clock starts, so opening is
 * not measured. The client polls and never sleeps, so no server has to wake it.
 *
 * Output are "name value" lines: ns, wall-clock time per request; rate, requests per second; cpu,
 * ns of CPU that process PID used per request.
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/work.h"

#define BATCH  128
#define WRITES 20
#define KEYS   1024
#define ENTRY  64

struct connection {
	int fd;
	uint32_t count; /* of requests */
	uint32_t random;
};

static long asked, answered, most;

static void ask(struct connection *c)
{
	char request[128];
	int n;

	c->random = c->random * 1664525u + 1013904223u;
	n = snprintf(request, sizeof(request), "%s /%u HTTP/1.1\r\nHost: localhost\r\n\r\n",
		     c->count++ % WRITES == WRITES - 1 ? "POST" : "GET",
		     c->random >> 8 & (KEYS - 1));
	if (send(c->fd, request, (size_t)n, MSG_NOSIGNAL) != n)
		work_die("send");
	asked++;
}

static void start(struct connection *c, int epoll, unsigned number, unsigned long port)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.ptr = c};
	const int on = 1;

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&to, sizeof(to)))
		work_die("connect");
	setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	c->random = number * 2654435761u + 1u;
	/* Connections write at different times. */
	c->count = number;
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd, &event))
		work_die("epoll_ctl");
	ask(c);
}

/* An answer is whole if its entry has 64 equal letters: then no write overlapped its read. */
static bool whole(const char *bytes, ssize_t n)
{
	const char *entry = bytes + n - ENTRY;

	return n > ENTRY && !strncmp(bytes, "HTTP/1.1 200", 12) && entry[0] >= 'a' &&
	       !memcmp(entry, entry + 1, ENTRY - 1);
}

/* An answer is short enough to arrive in one piece. Without `again` the connection stays silent. */
static void hear(struct connection *c, bool again)
{
	char bytes[1024];
	const ssize_t n = recv(c->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	if (n < 0)
		return;
	if (!whole(bytes, n))
		work_die("the answer");
	answered++;
	if (again && asked < most)
		ask(c);
}

static void look(int epoll, bool again)
{
	struct epoll_event events[BATCH];
	const int n = epoll_wait(epoll, events, BATCH, again ? 0 : -1);

	for (int i = 0; i < n; i++)
		hear((struct connection *)events[i].data.ptr, again);
}

int main(int argc, char **argv)
{
	const int epoll = epoll_create1(EPOLL_CLOEXEC);
	struct connection *connections;
	double began, cpu;
	clockid_t server;
	unsigned n;

	if (argc != 5) {
		fprintf(stderr, "usage: table_client PORT CONNECTIONS REQUESTS PID\n");
		return 64;
	}
	n = (unsigned)strtoul(argv[2], NULL, 10);
	connections = calloc(n, sizeof(*connections));
	if (!n || !connections || epoll < 0)
		work_die("calloc");
	if (clock_getcpuclockid((pid_t)strtol(argv[4], NULL, 10), &server))
		work_die("clock_getcpuclockid");
	for (unsigned i = 0; i < n; i++)
		start(&connections[i], epoll, i, strtoul(argv[1], NULL, 10));
	while (answered < (long)n)
		look(epoll, false);
	asked = answered = 0;
	most = strtol(argv[3], NULL, 10);
	began = work_now();
	cpu = work_clock(server);
	for (unsigned i = 0; i < n; i++)
		ask(&connections[i]);
	while (answered < asked)
		look(epoll, true);
	began = work_now() - began;
	work_report("ns", began / (double)answered);
	work_report("rate", (double)answered / began * 1e9);
	work_report("cpu", (work_clock(server) - cpu) / (double)answered);
	free(connections);
	return 0;
}
