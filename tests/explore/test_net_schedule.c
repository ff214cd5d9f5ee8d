/* SPDX-License-Identifier: MIT */
/* test_net_schedule.c - the network of a schedule: ports, names, and what is left of it */
#include <dirent.h>
#include <netdb.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/un.h>

#include "tests/explore/loopback.h"

static unsigned port_of(int fd)
{
	struct sockaddr_in at;
	socklen_t size = sizeof at;

	fiber_test_assert(getsockname(fd, (struct sockaddr *)&at, &size) == 0);
	return ntohs(at.sin_port);
}

static int listen_on(unsigned p)
{
	const int fd = listen_at("127.0.0.1", p, 10);

	fiber_test_assert(fd >= 0);
	return fd;
}

/* -- ports -- */

static void choose_ports(void *arg)
{
	const int a = listen_on(0), b = listen_on(0), udp = open_socket(AF_INET, SOCK_DGRAM);
	const int taken = open_socket(AF_INET, SOCK_STREAM), c = open_socket(AF_INET, SOCK_STREAM);

	(void)arg;
	fiber_test_assert(port_of(a) == 40000);
	fiber_test_assert(port_of(b) == 40001);
	fiber_test_assert(bind_to(taken, "127.0.0.1", 40002) == 0);
	fiber_test_assert(connect_to(c, "127.0.0.1", 40000) == 0);
	fiber_test_assert(port_of(c) == 40003);
	fiber_test_assert(bind_to(udp, "0.0.0.0", 0) == 0);
	fiber_test_assert(port_of(udp) == 40004);
	/* All are left open: the next schedule has its own ports. */
}

static void test_ports_are_40000_and_up_in_each_schedule(void **state)
{
	(void)state;
	explore(choose_ports, 200);
}

static void listen_on_8080(void *arg)
{
	(void)arg;
	fiber_test_assert(listen_on(8080) >= 0);
	fiber_test_assert(listen_on(80) >= 0); /* no rights are needed */
}

static void test_ports_belong_to_one_schedule(void **state)
{
	const struct fiber_test_options options = {
		.size = sizeof options, .schedules = 200, .jobs = 2};
	struct fiber_test_result result = {.size = sizeof result};
	const int taken = socket(AF_INET, SOCK_STREAM, 0);

	(void)state;
	/* Whether or not it is free on the system. */
	bind_to(taken, "127.0.0.1", 8080);
	fiber_test_explore(listen_on_8080, NULL, &options, &result);
	assert_string_equal(result.message, "");
	close(taken);
}

static void reach_others(void *arg)
{
	const int tcp = open_socket(AF_INET, SOCK_STREAM), udp = open_socket(AF_INET, SOCK_DGRAM);

	(void)arg;
	fiber_test_assert(connect_to(tcp, "192.0.2.1", 80) == -ENETUNREACH);
	fiber_test_assert(connect_to(udp, "192.0.2.1", 80) == -ENETUNREACH);
	fiber_test_assert(socket(AF_INET, SOCK_RAW, IPPROTO_ICMP) == -1 && errno == EPERM);
	fiber_test_assert(socket(AF_INET6, SOCK_RAW, IPPROTO_TCP) == -1 && errno == EPERM);
	fiber_close(tcp);
	fiber_close(udp);
}

static void test_no_other_host_can_be_reached(void **state)
{
	(void)state;
	explore(reach_others, 20);
}

/* -- names -- */

/* The addresses in one text. */
static const char *resolve(const char *name, const char *service, int family, int flags)
{
	const struct addrinfo hints = {
		.ai_family = family, .ai_flags = flags, .ai_socktype = SOCK_STREAM};
	static char text[512];
	struct addrinfo *found, *at;
	char host[64], serv[16];
	const int rc = fiber_getaddrinfo(name, service, &hints, &found, FIBER_FOREVER);

	if (rc < 0)
		return strerrorname_np(-rc);
	text[0] = 0;
	for (at = found; at; at = at->ai_next) {
		getnameinfo(at->ai_addr, at->ai_addrlen, host, sizeof host, serv, sizeof serv,
			    NI_NUMERICHOST | NI_NUMERICSERV);
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s/%s",
			 at == found ? "" : " ", host, serv);
	}
	freeaddrinfo(found);
	return text;
}

static void expect_text(const char *text, const char *wanted)
{
	if (strcmp(text, wanted) != 0)
		fiber_test_fail("'%s' instead of '%s'", text, wanted);
}

static void resolve_names(void *arg)
{
	const struct sockaddr_storage v4 = address("10.1.2.3", 5432), more = address("10.1.2.4", 0);
	const struct sockaddr_storage v6 = address("fd00::1", 0);
	const struct sockaddr_un path = {.sun_family = AF_UNIX};
	char host[64];
	char endless[400];

	(void)arg;
	expect_text(resolve("127.0.0.9", "80", AF_UNSPEC, 0), "127.0.0.9/80");
	expect_text(resolve("::1", "80", AF_UNSPEC, 0), "::1/80");
	expect_text(resolve("localhost", "80", AF_UNSPEC, 0), "127.0.0.1/80 ::1/80");
	expect_text(resolve("localhost", "80", AF_INET, 0), "127.0.0.1/80");
	expect_text(resolve("localhost", "80", AF_INET6, 0), "::1/80");
	expect_text(resolve(NULL, "80", AF_INET, AI_PASSIVE), "0.0.0.0/80");
	expect_text(resolve("db.example", "80", AF_UNSPEC, 0), "ENOENT");
	expect_text(resolve("localhost", "80", AF_UNSPEC, AI_NUMERICHOST), "ENOENT");
	fiber_test_assert(fiber_test_host("db.example", (const struct sockaddr *)&v4,
					  sizeof(struct sockaddr_in)) == 0);
	expect_text(resolve("db.example", NULL, AF_UNSPEC, 0), "10.1.2.3/5432");
	expect_text(resolve("DB.example", "80", AF_UNSPEC, 0), "10.1.2.3/80");
	expect_text(resolve("db.example", "80", AF_INET6, 0), "ENOENT");
	expect_text(resolve("db.example", "80", AF_INET6, AI_V4MAPPED), "::ffff:10.1.2.3/80");
	fiber_test_host("db.example", (const struct sockaddr *)&more, sizeof(struct sockaddr_in));
	fiber_test_host("db.example", (const struct sockaddr *)&v6, sizeof(struct sockaddr_in6));
	expect_text(resolve("db.example", "80", AF_UNSPEC, 0),
		    "10.1.2.3/80 10.1.2.4/80 fd00::1/80");
	expect_text(resolve("db.example", "80", AF_INET6, AI_V4MAPPED), "fd00::1/80");
	fiber_test_assert(getnameinfo((const struct sockaddr *)&more, sizeof(struct sockaddr_in),
				      host, sizeof host, NULL, 0, 0) == 0);
	expect_text(host, "db.example");
	memset(endless, 'a', sizeof endless);
	endless[sizeof endless - 1] = 0;
	fiber_test_assert(fiber_test_host(NULL, (const struct sockaddr *)&v4, sizeof v4) ==
			  -EINVAL);
	fiber_test_assert(fiber_test_host("", (const struct sockaddr *)&v4, sizeof v4) == -EINVAL);
	fiber_test_assert(fiber_test_host(endless, (const struct sockaddr *)&v4, sizeof v4) ==
			  -EINVAL);
	fiber_test_assert(fiber_test_host("x", (const struct sockaddr *)&v4, 3) == -EINVAL);
	fiber_test_assert(fiber_test_host("x", (const struct sockaddr *)&path, sizeof path) ==
			  -EINVAL);
}

static void test_names_are_those_of_the_test(void **state)
{
	const struct sockaddr_storage v4 = address("10.1.2.3", 5432);

	(void)state;
	explore(resolve_names, 20);
	assert_int_equal(fiber_test_host("x", (const struct sockaddr *)&v4, sizeof v4), -EPERM);
}

/* A host that the test has named is played by the test. */
static void play_host(void *arg)
{
	const struct sockaddr_storage v4 = address("10.1.2.3", 0);
	const int stranger = open_socket(AF_INET, SOCK_STREAM);
	int listener, fd;

	(void)arg;
	fiber_test_assert(bind_to(stranger, "10.1.2.3", 5432) == -1 && errno == EADDRNOTAVAIL);
	fiber_test_host("db.example", (const struct sockaddr *)&v4, sizeof v4);
	listener = listen_at("10.1.2.3", 5432, 1);
	fd = open_socket(AF_INET, SOCK_STREAM);
	fiber_test_assert(connect_to(fd, "10.1.2.3", 5432) == 0);
	fiber_close(fd);
	fiber_close(listener);
	fiber_close(stranger);
}

static void test_a_named_host_can_be_played(void **state)
{
	(void)state;
	explore(play_host, 20);
}

/* -- the queue of a listener -- */

static void *connect_beyond(void *arg)
{
	const int fd = open_socket(AF_INET, SOCK_STREAM);

	fiber_test_assert(connect_to(fd, "127.0.0.1", 80) == 0);
	fiber_test_assert(fiber_write(fd, "hello", 5, FIBER_FOREVER) == 5);
	fiber_close(fd);
	return arg;
}

static void fill_backlog(void *arg)
{
	const int listener = listen_at("127.0.0.1", 80, 1);
	struct fiber *clients[5];
	char bytes[8];
	int i, fd;

	(void)arg;
	for (i = 0; i < 5; i++)
		fiber_spawn(connect_beyond, NULL, &clients[i]);
	fiber_test_settle();
	for (i = 0; i < 5; i++) {
		fd = fiber_accept(listener, NULL, NULL, FIBER_FOREVER);
		fiber_test_assert(fiber_read_full(fd, bytes, sizeof bytes, FIBER_FOREVER) == 5);
		fiber_test_assert(memcmp(bytes, "hello", 5) == 0);
		fiber_close(fd);
	}
	for (i = 0; i < 5; i++)
		fiber_join(clients[i], NULL, FIBER_FOREVER);
	fiber_close(listener);
}

static void test_connections_beyond_the_backlog_wait(void **state)
{
	(void)state;
	explore(fill_backlog, 100);
}

static void *refuse_beyond(void *arg)
{
	const int fd = open_socket(AF_INET, SOCK_STREAM);
	const int rc = connect_to(fd, "127.0.0.1", 80);

	fiber_test_assert(rc == (int)(intptr_t)arg);
	fiber_close(fd);
	return NULL;
}

static void close_full_listener(void *arg)
{
	const int listener = listen_at("127.0.0.1", 80, 0);
	struct fiber *queued, *beyond;

	(void)arg;
	fiber_spawn(refuse_beyond, NULL, &queued);
	fiber_test_settle();
	fiber_spawn(refuse_beyond, (void *)(intptr_t)-ECONNREFUSED, &beyond);
	fiber_test_settle();
	fiber_close(listener);
	fiber_join(queued, NULL, FIBER_FOREVER);
	fiber_join(beyond, NULL, FIBER_FOREVER);
}

static void test_connections_beyond_the_backlog_are_refused_at_its_end(void **state)
{
	(void)state;
	explore(close_full_listener, 20);
}

/* -- nothing is left, and nothing differs -- */

static unsigned count_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned n = 0;

	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static void *serve(void *arg)
{
	const int fd = fiber_accept((int)(intptr_t)arg, NULL, NULL, FIBER_FOREVER);
	char bytes[16];
	ssize_t n;

	while ((n = fiber_read(fd, bytes, sizeof bytes, FIBER_FOREVER)) > 0)
		fiber_write_full(fd, bytes, (size_t)n, FIBER_FOREVER);
	fiber_close(fd);
	return NULL;
}

/* The unread bytes, the datagram and most descriptors are left on purpose. */
static void leave_everything(void *arg)
{
	static unsigned descriptors, schedules;
	const int listener = listen_on(8080), udp = open_socket(AF_INET, SOCK_DGRAM);
	const int fd = open_socket(AF_INET, SOCK_STREAM);
	struct fiber *server;
	char bytes[4];

	(void)arg;
	fiber_spawn(serve, (void *)(intptr_t)listener, &server);
	fiber_test_assert(connect_to(fd, "127.0.0.1", 8080) == 0);
	fiber_test_assert(fiber_write(fd, "1234", 4, FIBER_FOREVER) == 4);
	fiber_test_assert(fiber_read(fd, bytes, 4, FIBER_FOREVER) > 0);
	fiber_test_assert(bind_to(udp, "127.0.0.1", 8080) == 0);
	send_text(udp, "to itself", "127.0.0.1", 8080);
	dup(udp);
	shutdown(fd, SHUT_WR);
	fiber_join(server, NULL, FIBER_FOREVER);
	/* The first schedules make what the process keeps. */
	if (++schedules == 3)
		descriptors = count_descriptors();
	else if (schedules > 3)
		fiber_test_assert(count_descriptors() == descriptors);
}

static void test_no_descriptor_is_left_after_10000_schedules(void **state)
{
	(void)state;
	explore(leave_everything, 10000);
}

static void *note_order(void *arg)
{
	const int fd = (int)(intptr_t)arg;
	char byte;

	while (fiber_read(fd, &byte, 1, FIBER_FOREVER) == 1)
		if (strlen(heard) < 200)
			strncat(heard, &(char){byte}, 1);
	return NULL;
}

#define SHOWN 50
static char (*shown)[ROOM]; /* shared: what the schedules of a run have heard */

/* Three connections whose bytes arrive at the same time. */
static void order_of_events(void *arg)
{
	static unsigned schedule;
	struct pair p[3];
	struct fiber *readers[3];
	int i;

	(void)arg;
	heard[0] = 0;
	for (i = 0; i < 3; i++) {
		p[i] = connect_pair();
		fiber_spawn(note_order, (void *)(intptr_t)p[i].server, &readers[i]);
	}
	fiber_test_settle();
	for (i = 2; i >= 0; i--)
		fiber_test_assert(send(p[i].client, (char[]){(char)('a' + i)}, 1, 0) == 1);
	for (i = 2; i >= 0; i--)
		shutdown(p[i].client, SHUT_WR);
	for (i = 0; i < 3; i++) {
		fiber_join(readers[i], NULL, FIBER_FOREVER);
		close_pair(p[i]);
	}
	if (schedule < SHOWN)
		strcpy(shown[schedule++], heard);
}

static void test_schedules_are_the_same_each_time(void **state)
{
	static char first[SHOWN][ROOM];
	unsigned i, kinds = 0;

	(void)state;
	shown = mmap(NULL, sizeof first, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(shown != MAP_FAILED);
	assert_int_equal(explore_with(order_of_events, 1000, NULL).verdict, FIBER_TEST_PASSED);
	memcpy(first, shown, sizeof first);
	memset(shown, 0, sizeof first);
	assert_int_equal(explore_with(order_of_events, 1000, NULL).verdict, FIBER_TEST_PASSED);
	for (i = 0; i < SHOWN; i++) {
		assert_int_equal(strlen(shown[i]), 3);
		assert_string_equal(shown[i], first[i]);
		kinds += strcmp(shown[i], shown[0]) != 0;
	}
	/* The order of the kernel's events is not the only one. */
	assert_true(kinds > 5);
	munmap(shown, sizeof first);
}

static void exchange(void *arg)
{
	const int listener = listen_on(80), fd = open_socket(AF_INET, SOCK_STREAM);
	struct fiber *server;
	char bytes[2];

	(void)arg;
	fiber_spawn(serve, (void *)(intptr_t)listener, &server);
	fiber_test_assert(connect_to(fd, "127.0.0.1", 80) == 0);
	fiber_test_assert(fiber_write(fd, "12", 2, FIBER_FOREVER) == 2);
	fiber_test_assert(fiber_read(fd, bytes, 2, FIBER_FOREVER) == 2);
	fiber_close(fd);
	fiber_join(server, NULL, FIBER_FOREVER);
	fiber_close(listener);
}

static void test_exhaustive_ends_with_the_same_number(void **state)
{
	const struct fiber_test_result a = explore_with(exchange, 0, "exhaustive");
	const struct fiber_test_result b = explore_with(exchange, 0, "exhaustive");

	(void)state;
	assert_string_equal(a.message, "");
	assert_int_equal(a.verdict, FIBER_TEST_COMPLETE);
	assert_true(a.schedules > 10);
	assert_int_equal(a.schedules, b.schedules);
}

/* FIBER_POLLER=uring would hand the descriptors to the kernel. */
static void find_ring(void *arg)
{
	char path[64], target[64];
	ssize_t n;
	int fd;

	exchange(arg);
	for (fd = 0; fd < 64; fd++) {
		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		n = readlink(path, target, sizeof target - 1);
		target[n > 0 ? n : 0] = 0;
		fiber_test_assert(!strstr(target, "io_uring"));
	}
}

static void test_io_uring_is_not_used(void **state)
{
	(void)state;
	setenv("FIBER_POLLER", "uring", 1);
	explore(find_ring, 10);
	unsetenv("FIBER_POLLER");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ports_are_40000_and_up_in_each_schedule),
		cmocka_unit_test(test_ports_belong_to_one_schedule),
		cmocka_unit_test(test_no_other_host_can_be_reached),
		cmocka_unit_test(test_names_are_those_of_the_test),
		cmocka_unit_test(test_a_named_host_can_be_played),
		cmocka_unit_test(test_connections_beyond_the_backlog_wait),
		cmocka_unit_test(test_connections_beyond_the_backlog_are_refused_at_its_end),
		cmocka_unit_test(test_no_descriptor_is_left_after_10000_schedules),
		cmocka_unit_test(test_schedules_are_the_same_each_time),
		cmocka_unit_test(test_exhaustive_ends_with_the_same_number),
		cmocka_unit_test(test_io_uring_is_not_used),
	};

	return cmocka_run_group_tests(tests, find_port, NULL);
}
