/* SPDX-License-Identifier: MIT */
/*
 * test_name_server.c - the system's resolver with a name server that receives and never answers
 *
 * Runs in a child with its own network and mount namespaces, if permitted: there /etc/resolv.conf
 * names a server on the loopback, a socket of this test that is not read for a long time.
 */
#include "carriers.h"

#include <errno.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness/child.h"

#define NOT_ALLOWED 77

/* Replace the file at path by this text, in this namespace. */
static bool replace(const char *path, const char *text)
{
	char name[] = "/tmp/fiber-name-server-XXXXXX";
	int fd = mkstemp(name);
	bool done;

	if (fd < 0)
		return false;
	done = write(fd, text, strlen(text)) == (ssize_t)strlen(text) && fchmod(fd, 0644) == 0 &&
	       mount(name, path, NULL, MS_BIND, NULL) == 0;
	close(fd);
	unlink(name);
	return done;
}

static bool loopback_up(void)
{
	struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	bool done = fd >= 0 && ioctl(fd, SIOCSIFFLAGS, &request) == 0;

	close(fd);
	return done;
}

static bool alone(void)
{
	const int spaces = CLONE_NEWNS | CLONE_NEWNET;

	if (unshare(spaces) < 0 && unshare(spaces | CLONE_NEWUSER) < 0)
		return false;
	return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 && loopback_up() &&
	       replace("/etc/resolv.conf",
		       "nameserver 127.0.0.1\noptions attempts:5 timeout:30\n") &&
	       replace("/etc/nsswitch.conf", "hosts: dns\n");
}

static int silent_server(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons(53),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

static void *neighbour(void *arg)
{
	unsigned *turns = arg;

	while (!fiber_cancelled()) {
		++*turns;
		fiber_sleep(MS / 4);
	}
	return NULL;
}

/* Returns the number of the failed check, or 0. */
static void *ask(void *arg)
{
	int server = *(int *)arg, rc;
	int64_t limit = 50 * MS, deadline;
	unsigned turns = 0;
	struct fiber *other;
	char query[512];

	if (fiber_spawn(neighbour, &turns, &other) < 0)
		return (void *)1;
	/* Repeat until the server was asked: on a busy machine the resolver may not get that far in
	 * time. */
	do {
		deadline = fiber_after(limit);
		if (fiber_getaddrinfo("silent.example", "80", NULL, NULL, deadline) != -ETIMEDOUT)
			return (void *)2;
		if (fiber_now() < deadline)
			return (void *)3;
		limit *= 2;
	} while (fiber_wait_fd(server, POLLIN, fiber_after(limit)) < 0 && limit < 20000 * MS);
	fiber_cancel(other);
	fiber_join(other, NULL, FIBER_FOREVER);
	if (!turns)
		return (void *)4;
	if (fiber_read(server, query, sizeof query, fiber_after(30000 * MS)) <= 0)
		return (void *)5;
	if (!memmem(query, sizeof query, "\6silent\7example", 15))
		return (void *)6;
	/* Without a server the system reports an error at once, not the deadline. */
	fiber_close(server);
	rc = fiber_getaddrinfo("silent.example", "80", NULL, NULL, FIBER_FOREVER);
	return (void *)(intptr_t)(rc == -EAGAIN ? 0 : 7);
}

static int with_silent_server(void *arg)
{
	const struct fiber_runtime_options options = carriers_options();
	struct fiber_result result = {(void *)8, 0};
	int server, rc;

	(void)arg;
	if (!alone())
		return NOT_ALLOWED;
	server = silent_server();
	if (server < 0)
		return NOT_ALLOWED;
	rc = fiber_run(ask, &server, &options, &result);
	if (rc < 0 || result.error) {
		fprintf(stderr, "fiber_run: %d, its fiber: %d\n", rc, result.error);
		return 9;
	}
	return (int)(intptr_t)result.value;
}

static void test_name_server_that_never_answers_holds_nobody_past_the_deadline(void **state)
{
	struct harness_child child;

	(void)state;
#ifdef __SANITIZE_THREAD__
	skip(); /* no threads in a forked child */
#endif
	harness_child(with_silent_server, NULL, 100, &child);
	if (child.code == NOT_ALLOWED)
		skip();
	if (child.signal || child.code)
		print_message("# the child said: %s\n", child.text);
	assert_int_equal(child.signal, 0);
	assert_int_equal(child.code, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_name_server_that_never_answers_holds_nobody_past_the_deadline),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
