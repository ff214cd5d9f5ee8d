/* SPDX-License-Identifier: MIT */
/*
 * pairs.c - compare the CPU time of a request to several servers, on a machine with neighbours
 *
 * Usage: pairs CONNECTIONS ROUNDS PORT:PID PORT:PID ...
 *
 * Neighbours take the caches, and a virtual machine is not always as fast: two runs of one server
 * differ by a fifth. What lasts longer than a window hits all servers alike, if each has a window in
 * each round. In its window of 20 ms one request is kept under way on each connection of one server,
 * in one thread with epoll. At the end of the window all answers are awaited. The connections to each
 * server are those of a process of their own, so there may be as many as it may have descriptors.
 *
 * A server's ratio in a round is its CPU time of a request divided by that of the first server. The
 * output is a line for each server: the median of its CPU times in ns, and the median of its ratios.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
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
#define WINDOW	  20000000 /* ns */
#define ADDRESSES 16
#define SERVERS	  8

struct server {
	unsigned long port, pid, under_way;
	int epoll;
	int *fds;
	int client;	     /* the parent's end, to the process that has the connections */
	double *ns, *ratios; /* the parent's: one for each round */
};

static unsigned long connections, rounds;

static void die(const char *what)
{
	fprintf(stderr, "pairs: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* CPU time of all threads of a process, in ns. */
static uint64_t cpu_ns(unsigned long pid)
{
	char path[300];
	unsigned long long ns;
	struct dirent *entry;
	uint64_t sum = 0;
	FILE *file;
	DIR *threads;

	snprintf(path, sizeof(path), "/proc/%lu/task", pid);
	threads = opendir(path);
	if (!threads)
		die(path);
	while ((entry = readdir(threads))) {
		snprintf(path, sizeof(path), "/proc/%lu/task/%s/schedstat", pid, entry->d_name);
		file = entry->d_name[0] == '.' ? NULL : fopen(path, "r");
		if (!file)
			continue;
		if (fscanf(file, "%llu", &ns) == 1)
			sum += ns;
		fclose(file);
	}
	closedir(threads);
	return sum;
}

static void ask(struct server *s, int fd)
{
	if (send(fd, REQUEST, sizeof(REQUEST) - 1, MSG_NOSIGNAL) != sizeof(REQUEST) - 1)
		die("send");
	s->under_way++;
}

/* An answer is short enough to arrive in one piece. Returns the number of answers. */
static unsigned long look(struct server *s, int again)
{
	struct epoll_event events[BATCH];
	const int n = epoll_wait(s->epoll, events, BATCH, 0);
	unsigned long answers = 0;
	char bytes[1024];

	for (int i = 0; i < n; i++) {
		const ssize_t got = recv(events[i].data.fd, bytes, sizeof(bytes), 0);

		if (got < 0 && errno == EAGAIN)
			continue;
		if (got <= 0 || strncmp(bytes, "HTTP/1.1 200", 12))
			die("no answer");
		answers++;
		s->under_way--;
		if (again)
			ask(s, events[i].data.fd);
	}
	return answers;
}

static int open_one(struct server *s, unsigned long number)
{
	struct sockaddr_in from = {.sin_family = AF_INET};
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)s->port)};
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
	struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.fd = fd};

	from.sin_addr.s_addr = htonl((uint32_t)(INADDR_LOOPBACK + number % ADDRESSES));
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0)
		die("socket");
	setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&from, sizeof(from)) ||
	    connect(fd, (struct sockaddr *)&to, sizeof(to)))
		die("connect");
	fcntl(fd, F_SETFL, O_NONBLOCK);
	if (epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &event))
		die("epoll_ctl");
	return fd;
}

static void start(struct server *s, const char *place)
{
	if (sscanf(place, "%lu:%lu", &s->port, &s->pid) != 2) {
		fprintf(stderr, "pairs: '%s' is not PORT:PID\n", place);
		exit(64);
	}
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	s->fds = calloc(connections, sizeof(*s->fds));
	if (s->epoll < 0 || !s->fds)
		die("memory");
	for (unsigned long i = 0; i < connections; i++) {
		s->fds[i] = open_one(s, i);
		ask(s, s->fds[i]);
		while (s->under_way)
			look(s, 0);
	}
}

/* CPU ns of a request in one window. */
static double run_window(struct server *s)
{
	const uint64_t cpu = cpu_ns(s->pid);
	const int64_t end = now() + WINDOW;
	unsigned long answers = 0;

	for (unsigned long i = 0; i < connections; i++)
		ask(s, s->fds[i]);
	while (now() < end)
		answers += look(s, 1);
	while (s->under_way)
		answers += look(s, 0);
	return (double)(cpu_ns(s->pid) - cpu) / (double)answers;
}

/* The process that has the connections: a window for each byte, until the parent closes its end. */
static _Noreturn void run_client(struct server *s, const char *place, int parent)
{
	double ns = 0;
	char go;

	start(s, place);
	do {
		if (write(parent, &ns, sizeof(ns)) != sizeof(ns))
			die("write");
		if (read(parent, &go, 1) != 1)
			exit(0);
		ns = run_window(s);
	} while (1);
}

/* What a client process has to say; it has said itself what went wrong. */
static double hear(const struct server *s)
{
	double ns;

	if (read(s->client, &ns, sizeof(ns)) != sizeof(ns))
		exit(1);
	return ns;
}

/* Returns when all connections are open. */
static void start_client(struct server *s, const char *place)
{
	int ends[2];

	s->ns = calloc(rounds, sizeof(*s->ns));
	s->ratios = calloc(rounds, sizeof(*s->ratios));
	if (!s->ns || !s->ratios || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		die("client");
	switch (fork()) {
	case -1:
		die("fork");
		break;
	case 0:
		close(ends[0]);
		run_client(s, place, ends[1]);
	default:
		close(ends[1]);
		s->client = ends[0];
		hear(s);
	}
}

static double ask_for_window(const struct server *s)
{
	if (write(s->client, "", 1) != 1)
		die("write");
	return hear(s);
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values)
{
	qsort(values, rounds, sizeof(*values), compare);
	return values[rounds / 2];
}

int main(int argc, char **argv)
{
	static struct server servers[SERVERS];
	const int n = argc - 3;
	struct rlimit files;

	if (n < 1 || n > SERVERS || !(connections = strtoul(argv[1], NULL, 10)) ||
	    !(rounds = strtoul(argv[2], NULL, 10))) {
		fprintf(stderr, "usage: pairs CONNECTIONS ROUNDS PORT:PID ...\n");
		return 64;
	}
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	for (int i = 0; i < n; i++)
		start_client(&servers[i], argv[3 + i]);
	for (unsigned long round = 0; round < rounds; round++)
		for (int i = 0; i < n; i++) {
			/* Each round begins with another server. */
			struct server *s = &servers[(round + (unsigned long)i) % (unsigned long)n];

			s->ns[round] = ask_for_window(s);
		}
	for (unsigned long round = 0; round < rounds; round++)
		for (int i = 0; i < n; i++)
			servers[i].ratios[round] = servers[i].ns[round] / servers[0].ns[round];
	for (int i = 0; i < n; i++)
		printf("%.0f %.4f\n", median(servers[i].ns), median(servers[i].ratios));
	return 0;
}
