/* SPDX-License-Identifier: MIT */
/*
 * client.c - measure how evenly a server serves its connections, which wrk does not
 *
 * Usage: client PORT CONNECTIONS SECONDS [PID]
 *
 * It opens the connections in batches, each with one request, in one thread with epoll. Connections
 * that have had an answer stay silent while others are opened: a server that serves the open ones
 * first would never get to the others. When all have had an answer, one request is kept under way
 * on each.
 *
 * For SECONDS each answer is counted for its connection, with its latency; opening is not counted.
 * Output are "name value" lines: requests, seconds, least and mean answers of a connection, p50_us,
 * p99_us, and cpu_us, the CPU time that process PID used meanwhile.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define REQUEST	  "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
#define BATCH	  512
#define UNIT	  10000	  /* ns of one latency step */
#define STEPS	  1000000 /* 10 s */
#define ADDRESSES 16
#define OPENING \
	512 /* unanswered connections while more are opened: what a listener's backlog takes */

struct connection {
	int fd;
	bool answered;
	uint32_t count;
	int64_t asked;
};

static struct connection *connections;
static uint32_t steps[STEPS];
static bool counting;
static unsigned long first_answers;

static void die(const char *what)
{
	fprintf(stderr, "client: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* CPU time that a process has used, in us; 0 without a process. */
static double cpu_us(const char *pid)
{
	char path[64], line[1024];
	unsigned long long user, system;
	FILE *file;
	size_t n;

	if (!pid)
		return 0;
	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	file = fopen(path, "r");
	if (!file)
		die(path);
	n = fread(line, 1, sizeof(line) - 1, file);
	fclose(file);
	line[n] = '\0';
	if (sscanf(strrchr(line, ')') + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu",
		   &user, &system) != 2)
		die(path);
	return (double)(user + system) * 1e6 / (double)sysconf(_SC_CLK_TCK);
}

static void ask(struct connection *c)
{
	c->asked = now();
	if (send(c->fd, REQUEST, sizeof(REQUEST) - 1, MSG_NOSIGNAL) != sizeof(REQUEST) - 1)
		die("send");
}

static void start(struct connection *c, int epoll, unsigned long number, unsigned long port)
{
	struct sockaddr_in from = {.sin_family = AF_INET};
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.ptr = c};
	const int on = 1;

	from.sin_addr.s_addr = htonl((uint32_t)(INADDR_LOOPBACK + number % ADDRESSES));
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (c->fd < 0)
		die("socket");
	setsockopt(c->fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
	setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (bind(c->fd, (struct sockaddr *)&from, sizeof(from)) ||
	    connect(c->fd, (struct sockaddr *)&to, sizeof(to)))
		die("connect");
	fcntl(c->fd, F_SETFL, O_NONBLOCK);
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd, &event))
		die("epoll_ctl");
	ask(c);
}

/* An answer is short enough to arrive in one piece. */
static void hear(struct connection *c)
{
	char bytes[1024];
	const ssize_t n = recv(c->fd, bytes, sizeof(bytes), 0);
	int64_t step;

	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0 || strncmp(bytes, "HTTP/1.1 200", 12))
		die("no answer");
	if (!c->answered) {
		first_answers++;
		c->answered = true;
		return;
	}
	if (counting) {
		step = (now() - c->asked) / UNIT;
		steps[step < STEPS ? step : STEPS - 1]++;
		c->count++;
	}
	ask(c);
}

static void look(int epoll, int ms)
{
	struct epoll_event events[BATCH];
	const int n = epoll_wait(epoll, events, BATCH, ms);

	for (int i = 0; i < n; i++)
		hear(events[i].data.ptr);
}

static double percentile(uint64_t requests, double share)
{
	uint64_t seen = 0;
	size_t i = 0;

	while (i < STEPS - 1 && (double)(seen += steps[i]) < (double)requests * share)
		i++;
	return ((double)i + 0.5) * UNIT / 1000;
}

static void report(unsigned long n, double seconds, double cpu)
{
	uint64_t requests = 0, least = UINT64_MAX;

	for (unsigned long i = 0; i < n; i++) {
		requests += connections[i].count;
		least = connections[i].count < least ? connections[i].count : least;
	}
	printf("requests %llu\nseconds %.3f\nleast %llu\nmean %.3f\n", (unsigned long long)requests,
	       seconds, (unsigned long long)least, (double)requests / (double)n);
	printf("p50_us %.0f\np99_us %.0f\ncpu_us %.3f\n", percentile(requests, 0.5),
	       percentile(requests, 0.99), requests ? cpu / (double)requests : 0);
}

int main(int argc, char **argv)
{
	const int epoll = epoll_create1(EPOLL_CLOEXEC);
	struct rlimit files;
	unsigned long n;
	int64_t began, end;
	double cpu;

	if (argc < 4 || epoll < 0) {
		fprintf(stderr, "usage: client PORT CONNECTIONS SECONDS [PID]\n");
		return 64;
	}
	n = strtoul(argv[2], NULL, 10);
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	connections = calloc(n, sizeof(*connections));
	if (!n || !connections)
		die("memory");
	for (unsigned long i = 0; i < n; i++) {
		start(&connections[i], epoll, i, strtoul(argv[1], NULL, 10));
		if (i % 64 == 0)
			look(epoll, 0);
		while (i - first_answers > OPENING && i > first_answers)
			look(epoll, -1);
	}
	while (first_answers < n)
		look(epoll, -1);
	for (unsigned long i = 0; i < n; i++)
		ask(&connections[i]);
	counting = true;
	cpu = cpu_us(argv[4]);
	began = now();
	end = began + (int64_t)(strtod(argv[3], NULL) * 1e9);
	while (now() < end)
		look(epoll, 0);
	report(n, (double)(now() - began) / 1e9, cpu_us(argv[4]) - cpu);
	return 0;
}
