/* SPDX-License-Identifier: MIT */
/*
 * test_fiberctl_serve_turns.c - the load on a program does not depend on the number of viewers
 *
 * The program is a listener that counts the requests at its control socket. All questions together
 * cost a number of requests in a turn, and there is at most one turn a second. So the requests of any
 * number of clients are bounded by the time that has passed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/harness/cli/hostile.h"
#include "tests/harness/cli/serve.h"
#include "tests/harness/clock.h"
#include "tests/harness/watchdog.h"

#define CLIENTS 20
#define SECOND	INT64_C(1000000000)
#define TIME	(5 * SECOND)

static const char *const questions[] = {"list?limit=1", "list?limit=2",	 "top?limit=1",
					"top?limit=2",	"top?sort=name", "carriers",
					"metrics",	"tree"};
#define QUESTIONS (sizeof(questions) / sizeof(questions[0]))

static struct serve server;
static struct hostile listener;
static struct hostile_log *counted;
static int client[CLIENTS];	/* connected from the question to the answer */
static unsigned long look;	/* the last one that an answer was of */
static unsigned answers, stale; /* 200, and 200 of no later look than was asked for */

static int begin(void **state)
{
	struct hostile_how how = {.kind = HOSTILE_PROPER};

	(void)state;
	counted = mmap(NULL, sizeof(*counted), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	assert_true(counted != MAP_FAILED);
	how.log = counted;
	hostile_start(&listener, &how);
	server = serve_start(cli_number((uint64_t)listener.pid), NULL);
	return 0;
}

static int finish(void **state)
{
	(void)state;
	serve_end(&server);
	hostile_end(&listener);
	return 0;
}

/* The server closes a connection that is idle for long, so each question has one of its own. */
static void ask(int i, const char *question, bool later)
{
	char path[256];
	int n = snprintf(path, sizeof(path), "/api/v1/processes/%d/%s", (int)listener.pid,
			 question);

	if (later)
		snprintf(path + n, sizeof(path) - (size_t)n, "%cafter=%lu",
			 strchr(question, '?') ? '&' : '?', look);
	client[i] = serve_connect(&server);
	serve_send(&server, client[i], "GET", path, NULL);
}

/* Read the answer of a client, which asked for a later look than this (0: for any). */
static void read_answer(int i, unsigned long after)
{
	struct http_reply reply = http_read(client[i], false);
	char number[32];
	unsigned long of;

	close(client[i]);
	/* The listener cannot answer everything, but nobody waits in vain. */
	if (reply.status != 200 && reply.status != 502)
		fail_msg("%d: %s", reply.status, reply.body);
	of = strtoul(http_field(&reply, "X-Fiber-Look", number, sizeof(number)), NULL, 10);
	if (reply.status == 200) {
		answers++;
		stale += of <= after;
		look = of > look ? of : look;
	}
	http_drop(&reply);
}

/* Wait until the requests do not become more for two seconds. Returns their number. */
static unsigned settled(void)
{
	unsigned before, now = counted->requests;

	do {
		before = now;
		sleep(2);
		now = counted->requests;
	} while (now != before);
	return now;
}

static void test_requests_are_bounded_by_turns_and_not_by_clients(void **state)
{
	unsigned each, before, rounds = 0;
	unsigned long after, first;
	int64_t began, passed;

	(void)state;
	before = settled();
	for (size_t i = 0; i < QUESTIONS; i++)
		ask((int)i, questions[i], false);
	for (size_t i = 0; i < QUESTIONS; i++)
		read_answer((int)i, 0);
	each = settled() - before;
	assert_true(each >= QUESTIONS);
	before = counted->requests;
	first = look;
	began = harness_now();
	do {
		const bool later = rounds++ % 8 == 0;

		after = later ? look : 0;
		for (int i = 0; i < CLIENTS; i++)
			ask(i, questions[(unsigned)i % QUESTIONS], later);
		for (int i = 0; i < CLIENTS; i++)
			read_answer(i, after);
	} while (harness_now() - began < TIME);
	passed = (harness_now() - began) / SECOND + 1;
	print_message("# %u rounds in %d s: %u requests, %u for all questions, %lu turns\n", rounds,
		      (int)passed, counted->requests - before, each, look - first);
	assert_true(counted->requests - before <= (unsigned)(passed + 1) * each);
	assert_true(look - first <= (unsigned long)passed + 1);
	/* There were turns: it was not a silent server that was measured. */
	assert_true(look > first && answers > CLIENTS);
	assert_int_equal(stale, 0);
}

static void test_nobody_asks_a_program_when_there_are_no_clients(void **state)
{
	(void)state;
	/* It does not return otherwise. */
	settled();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requests_are_bounded_by_turns_and_not_by_clients),
		cmocka_unit_test(test_nobody_asks_a_program_when_there_are_no_clients),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, begin, finish);
}
