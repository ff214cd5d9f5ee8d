/* SPDX-License-Identifier: MIT */
/*
 * test_hostile_program.c - fiberctl with programs that send arbitrary answers
 *
 * None of their bytes moves the cursor of a terminal, and missing data leads to an exit code.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/harness/cli/cli.h"
#include "tests/harness/watchdog.h"
#include "wire/wire.h"

#define EVIL                            \
	"\033[2J\033]0;owned\a\r\n\x9b" \
	"31m"

static char path[HARNESS_PATH];
static int listener;
static struct {
	pthread_mutex_t lock;
	unsigned char bytes[4096];
	size_t size;
} said = {.lock = PTHREAD_MUTEX_INITIALIZER}; /* sent to each connection, whatever the request */

static void *serve(void *arg)
{
	int fd, before = -1;

	(void)arg;
	while ((fd = accept(listener, NULL, NULL)) >= 0) {
		pthread_mutex_lock(&said.lock);
		send(fd, said.bytes, said.size, MSG_NOSIGNAL);
		pthread_mutex_unlock(&said.lock);
		shutdown(fd, SHUT_WR);
		/* A command may have two connections at a time. */
		if (before >= 0)
			close(before);
		before = fd;
	}
	return NULL;
}

static int start(void **state)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	pthread_t thread;

	(void)state;
	harness_file(path, "evil.sock");
	if (strlen(path) >= sizeof(at.sun_path))
		return -1;
	strcpy(at.sun_path, path);
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(listener, (struct sockaddr *)&at, sizeof(at)) || listen(listener, 8))
		return -1;
	return pthread_create(&thread, NULL, serve, NULL);
}

static void say(uint16_t type, const void *payload, size_t length)
{
	const struct fib_wire_header h = {FIB_WIRE_MAGIC, FIB_WIRE_VERSION, type, (uint32_t)length};

	pthread_mutex_lock(&said.lock);
	memcpy(said.bytes + said.size, &h, sizeof(h));
	memcpy(said.bytes + said.size + sizeof(h), payload, length);
	said.size += sizeof(h) + length;
	pthread_mutex_unlock(&said.lock);
}

static void say_who(void)
{
	struct fib_wire_process p = {.pid = 1, .fibers = 1, .name = EVIL};

	pthread_mutex_lock(&said.lock);
	said.size = 0;
	pthread_mutex_unlock(&said.lock);
	say(FIB_WIRE_PROCESS, &p, sizeof(p));
}

/* Neither output has a terminal control character. */
static void assert_plain(const struct harness_process *p)
{
	const struct harness_text *both[] = {&p->out, &p->err};

	for (int i = 0; i < 2; i++)
		for (size_t k = 0; k < both[i]->size; k++)
			if (both[i]->bytes[k] != '\n')
				assert_true((unsigned char)both[i]->bytes[k] >= ' ' &&
					    both[i]->bytes[k] != 127 &&
					    (unsigned char)both[i]->bytes[k] != 0x9b);
}

static const char *const calls[][3] = {
	{"list"},     {"show", "7"},   {"bt", "7"},   {"policy"},
	{"carriers"}, {"cancel", "7"}, {"wake", "7"}, {"audit"},
};
#define CALLS (sizeof(calls) / sizeof(calls[0]))

static void test_refusal_in_words_of_its_own_is_made_harmless(void **state)
{
	struct fib_wire_error error = {.error = -1, .text = EVIL "no"};

	(void)state;
	say_who();
	say(FIB_WIRE_ERROR, &error, sizeof(error));
	for (size_t i = 0; i < CALLS; i++) {
		struct harness_process *p =
			cli_run("fiberctl", calls[i][0], path, calls[i][1], NULL);

		cli_expect(p, 2);
		assert_plain(p);
		cli_contains(p->err.bytes, "\\x1b[2J");
		harness_free(p);
	}
}

static void test_names_of_a_fiber_that_was_acted_on_are_made_harmless(void **state)
{
	struct fib_wire_acted acted = {.id = 7, .ended_wait = 1, .name = EVIL};
	struct fib_wire_end end = {.total = 1};
	struct harness_process *p;

	(void)state;
	say_who();
	say(FIB_WIRE_ACTED, &acted, sizeof(acted));
	say(FIB_WIRE_END, &end, sizeof(end));
	for (int json = 0; json < 2; json++) {
		p = cli_run("fiberctl", "cancel", path, "7", json ? "--json" : NULL, NULL);
		cli_expect(p, 0);
		assert_plain(p);
		harness_free(p);
	}
}

static void test_answers_that_end_too_early_are_2_for_every_command(void **state)
{
	struct fib_wire_end end = {.total = 1};

	(void)state;
	for (int round = 0; round < 2; round++) {
		say_who();
		if (round)
			say(FIB_WIRE_END, &end, 8);
		for (size_t i = 0; i < CALLS; i++) {
			struct harness_process *p =
				cli_run("fiberctl", calls[i][0], path, calls[i][1], NULL);

			cli_expect(p, 2);
			assert_plain(p);
			harness_free(p);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refusal_in_words_of_its_own_is_made_harmless),
		cmocka_unit_test(test_names_of_a_fiber_that_was_acted_on_are_made_harmless),
		cmocka_unit_test(test_answers_that_end_too_early_are_2_for_every_command),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, start, NULL);
}
