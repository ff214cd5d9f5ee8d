/* SPDX-License-Identifier: MIT */
/* test_log.c - one log line is one write(2): here stderr keeps each write as a packet */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "tests/harness/watchdog.h"

#define PREFIX	"libfiber: "
#define MOST	(10 + 511 + 1)
#define THREADS 4
#define LINES	500

static int heard, kept; /* the other end of stderr; the real stderr */

static void listen_to_stderr(int type)
{
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, type, 0, ends), 0);
	kept = dup(STDERR_FILENO);
	dup2(ends[1], STDERR_FILENO);
	close(ends[1]);
	heard = ends[0];
}

static void put_stderr_back(void)
{
	dup2(kept, STDERR_FILENO);
	close(kept);
}

/* Call fib_log("%s", text) once. Returns the size of the first write, whose bytes are in ret. */
static size_t log_once(const char *text, char *ret, size_t size, ssize_t *ret_second)
{
	ssize_t n;

	listen_to_stderr(SOCK_SEQPACKET);
	fib_log("%s", text);
	put_stderr_back();
	n = recv(heard, ret, size, MSG_DONTWAIT);
	*ret_second = recv(heard, ret + n, 1, MSG_DONTWAIT);
	close(heard);
	assert_true(n > 0);
	return (size_t)n;
}

static void test_log_writes_a_whole_line_at_once(void **state)
{
	char got[1024];
	ssize_t second;
	size_t n = log_once("fiber 7 waits", got, sizeof got, &second);

	(void)state;
	assert_int_equal(second, 0); /* end of stream, no second packet */
	assert_int_equal(n, strlen(PREFIX "fiber 7 waits\n"));
	assert_memory_equal(got, PREFIX "fiber 7 waits\n", n);
}

static void test_log_cuts_a_long_line_and_still_ends_it(void **state)
{
	size_t lengths[] = {MOST - 12, MOST - 11, MOST - 10, 2000}, i;
	char text[2001], got[1024];
	ssize_t second;

	(void)state;
	for (i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
		size_t whole = strlen(PREFIX) + lengths[i] + 1, n;

		memset(text, 'x', sizeof text);
		text[lengths[i]] = 0;
		n = log_once(text, got, sizeof got, &second);
		assert_int_equal(second, 0);
		assert_int_equal(n, whole < MOST ? whole : MOST);
		assert_memory_equal(got, PREFIX, strlen(PREFIX));
		assert_memory_equal(got + strlen(PREFIX), text, n - strlen(PREFIX) - 1);
		assert_int_equal(got[n - 1], '\n');
	}
}

static void test_log_writes_nothing_that_a_terminal_obeys(void **state)
{
	char got[2048], text[600];
	ssize_t second;
	size_t n = log_once("a\x1b[2J\r\nb\x7f\xc2\x9b\xe2\x80\xae \xff", got, sizeof got, &second);
	const char *want = PREFIX "a\\x1b[2J\\x0d\\x0ab\\x7f\\xc2\\x9b\\xe2\\x80\\xae \\xff\n";

	(void)state;
	assert_int_equal(n, strlen(want));
	assert_memory_equal(got, want, n);
	/* Each byte is escaped to four, and the line is still terminated. */
	memset(text, '\x1b', sizeof text - 1);
	text[sizeof text - 1] = 0;
	n = log_once(text, got, sizeof got, &second);
	assert_int_equal(second, 0);
	assert_int_equal(n, 1024);
	assert_null(memchr(got, '\x1b', n));
	assert_int_equal(got[n - 1], '\n');
}

static void test_log_names_are_quoted_and_bounded(void **state)
{
	char name[32], buf[FIB_LOG_NAME];

	(void)state;
	assert_string_equal(fib_log_name(buf, "a\"b\x1b[2J"), "\"a\\\"b\\x1b[2J\"");
	/* A record's name may be read half written and unterminated. */
	memset(name, '\xff', sizeof name);
	fib_log_name(buf, name);
	assert_int_equal(strlen(buf), 4 * sizeof name + 2);
	assert_int_equal(buf[strlen(buf) - 1], '"');
}

static void *talk(void *arg)
{
	char text[300];
	int i;

	memset(text, *(const char *)arg, sizeof text - 1);
	text[sizeof text - 1] = 0;
	for (i = 0; i < LINES; i++)
		fib_log("%s", text);
	return NULL;
}

static void *hear(void *arg)
{
	FILE *file = fdopen(heard, "r");
	char line[1024];
	int *whole = arg;

	while (fgets(line, sizeof line, file)) {
		size_t n = strlen(PREFIX), all = n + 299;

		if (strlen(line) == all + 1 && !strncmp(line, PREFIX, n) &&
		    strspn(line + n, (char[]){line[n], 0}) == 299 && line[all] == '\n')
			whole[line[n] - 'a']++;
	}
	fclose(file);
	return NULL;
}

static void test_log_keeps_the_lines_of_threads_apart(void **state)
{
	static const char letters[THREADS] = "abcd";
	int i, ends[2], whole[THREADS] = {0};
	pthread_t threads[THREADS], ear;

	(void)state;
	/* A pipe: the common stderr, and the file most likely to mix two writes. */
	assert_int_equal(pipe(ends), 0);
	kept = dup(STDERR_FILENO);
	dup2(ends[1], STDERR_FILENO);
	close(ends[1]);
	heard = ends[0];
	pthread_create(&ear, NULL, hear, whole);
	for (i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, talk, (void *)(uintptr_t)&letters[i]);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	put_stderr_back();
	pthread_join(ear, NULL);
	for (i = 0; i < THREADS; i++)
		assert_int_equal(whole[i], LINES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_log_writes_a_whole_line_at_once),
		cmocka_unit_test(test_log_cuts_a_long_line_and_still_ends_it),
		cmocka_unit_test(test_log_writes_nothing_that_a_terminal_obeys),
		cmocka_unit_test(test_log_names_are_quoted_and_bounded),
		cmocka_unit_test(test_log_keeps_the_lines_of_threads_apart),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
