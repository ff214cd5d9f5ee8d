/* SPDX-License-Identifier: MIT */
/*
 * test_fiberctl_serve_load.c - clients that send nothing, half a request, or read nothing
 *
 * The server answers others meanwhile, and its processes together stay below 100 MB. Clients that
 * read nothing hold answers of megabytes; each of these is of another question.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/harness/cli/crowd.h"
#include "tests/harness/cli/prom.h"
#include "tests/harness/cli/serve.h"
#include "tests/harness/watchdog.h"

#define MOST	 (100u << 20)
#define SILENT	 600
#define HALVES	 200
#define READERS	 200
#define PROGRAMS 2 /* each is asked for a limited time, so there are more answers of two */

/* Big answers that differ. With a sanitizer each takes seconds of a CPU, and memory is not compared. */
static int kinds(void)
{
	return *harness_sanitizer() ? 6 : 30;
}

static struct serve server;
static struct crowd crowds[PROGRAMS];
static int fds[1000];
static unsigned open_fds;

static int begin(void **state)
{
	struct rlimit files;

	(void)state;
	if (getrlimit(RLIMIT_NOFILE, &files) < 0 || files.rlim_max < 1100)
		return -1;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	for (int i = 0; i < PROGRAMS; i++)
		crowds[i] = crowd_start(NULL, "crowd", "12000", NULL);
	server = serve_start(cli_number((uint64_t)crowds[0].process->pid),
			     cli_number((uint64_t)crowds[1].process->pid), NULL);
	return 0;
}

static int finish(void **state)
{
	(void)state;
	serve_end(&server);
	for (int i = 0; i < PROGRAMS; i++)
		crowd_end(&crowds[i]);
	return 0;
}

static void connect_one(void)
{
	fds[open_fds++] = serve_connect(&server);
}

static void close_all(void)
{
	while (open_fds)
		close(fds[--open_fds]);
}

static void stays_small(const char *when)
{
	const size_t bytes = serve_memory(&server);

	/* A sanitizer has its own memory. */
	if (!*harness_sanitizer() && bytes >= MOST)
		fail_msg("%s: %zu MB", when, bytes >> 20);
}

static void answers_others(void)
{
	serve_alive(&server);
	assert_int_equal(
		serve_answered(serve_ask_about(&server, crowds[0].process->pid, "top?limit=5")),
		200);
}

static void test_a_thousand_clients_that_say_nothing_or_half_keep_nobody_out(void **state)
{
	(void)state;
	for (int i = 0; i < SILENT; i++)
		connect_one();
	for (int i = 0; i < HALVES; i++) {
		connect_one();
		http_send(fds[open_fds - 1], i % 2 ? "GET /metrics HTTP/1.1\r\nHost: 127"
						   : "POST /api/v1/processes/1/policy HTTP/1.1\r\n"
						     "Content-Length: 1000000\r\n");
	}
	for (int i = 0; i < READERS; i++) {
		connect_one();
		serve_send(&server, fds[open_fds - 1], "GET", "/metrics", NULL);
	}
	answers_others();
	stays_small("a thousand clients");
	close_all();
	answers_others();
}

static int ask_big(int kind)
{
	char question[64];

	snprintf(question, sizeof(question), "list?limit=%d", 10000 - kind);
	return serve_ask_about(&server, crowds[kind % PROGRAMS].process->pid, question);
}

/* Ask with a small window, so that the system does not take the answer either. */
static void hold_big(int kind)
{
	const int room = 4096;

	fds[open_fds] = ask_big(kind);
	setsockopt(fds[open_fds++], SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
}

static void test_one_who_reads_later_gets_all_of_the_answer(void **state)
{
	const int fd = ask_big(0);
	char byte;

	(void)state;
	assert_int_equal(recv(fd, &byte, 1, MSG_PEEK), 1);
	serve_alive(&server);
	assert_int_equal(serve_answered(fd), 200);
}

/* Whether an answer or the end of the connection has reached every client. */
static bool all_have_some(void *arg)
{
	struct pollfd slot = {.events = POLLIN};

	(void)arg;
	stays_small("while big answers are made");
	for (unsigned i = 0; i < open_fds; i++) {
		slot.fd = fds[i];
		if (poll(&slot, 1, 0) != 1)
			return false;
	}
	return true;
}

static void test_clients_that_read_nothing_hold_little_memory(void **state)
{
	(void)state;
	for (int i = 0; i < READERS; i++)
		hold_big(i % kinds());
	assert_true(harness_until(all_have_some, NULL, CLI_SECONDS));
	answers_others();
	stays_small("when all have begun to read");
	close_all();
	answers_others();
}

/* The expensive questions of the test before have used up their share of time. */
static void test_expensive_questions_do_not_keep_metrics_from_their_turns(void **state)
{
	struct http_reply reply;
	char up[64];

	(void)state;
	for (int i = 0; i < kinds(); i++)
		fds[open_fds++] = ask_big(i);
	reply = serve_get(&server, "/metrics");
	prom_check(reply.body);
	for (int i = 0; i < PROGRAMS; i++) {
		snprintf(up, sizeof(up), "libfiber_up{pid=\"%d\"}", crowds[i].process->pid);
		assert_true(prom_value(reply.body, up) == 1);
	}
	http_drop(&reply);
	close_all();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_thousand_clients_that_say_nothing_or_half_keep_nobody_out),
		cmocka_unit_test(test_one_who_reads_later_gets_all_of_the_answer),
		cmocka_unit_test(test_clients_that_read_nothing_hold_little_memory),
		cmocka_unit_test(test_expensive_questions_do_not_keep_metrics_from_their_turns),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, begin, finish);
}
