/* SPDX-License-Identifier: MIT */
/*
 * test_hiredis.c - hiredis, which blocks in read(2), write(2) and poll(2), on fibers
 *
 * The server is Debian's redis. Fibers use hiredis as a thread would. That they overlap is shown by
 * a state, not by a time: all of them wait for a descriptor at one moment.
 */
#include <errno.h>
#include <hiredis/hiredis.h>

#include <fiber/posix.h>

#include "tests/posix/server.h"
#include "tests/posix/thousand.h"
#include "tests/posix/waiting.h"

#define ROUNDS 50

static struct harness_process *server;
static int port;
static char socket_path[HARNESS_PATH];

static int start_server(void **state)
{
	char number[16];

	(void)state;
	thousand_allow(2 * MANY); /* the server has this limit too */
	port = server_port();
	snprintf(number, sizeof number, "%d", port);
	harness_file(socket_path, "redis.sock");
	server = harness_start((const char *[]){"redis-server", "--port", number, "--unixsocket",
						socket_path, "--save", "", "--dir",
						harness_folder(), NULL},
			       NULL);
	return harness_until(server_listens, &port, 30) ? 0 : -1;
}

static int stop_server(void **state)
{
	(void)state;
	harness_free(server);
	return 0;
}

/*
 * hiredis connects without blocking. By TCP it polls then; by a UNIX socket it fails if the server's backlog
 * of 511 is full, on threads too.
 */
static redisContext *connected(long i)
{
	return i % 2 ? redisConnect("127.0.0.1", port) : redisConnectUnix(socket_path);
}

/* Whether the command gives this text, or this element of an array. */
static bool gives(redisContext *c, const char *text, size_t element, const char *command, long i)
{
	redisReply *r = redisCommand(c, command, i), *part = r;
	bool same;

	if (r && r->type == REDIS_REPLY_ARRAY)
		part = element < r->elements ? r->element[element] : NULL;
	same = part && part->str && strcmp(part->str, text) == 0;
	if (r)
		freeReplyObject(r);
	return same;
}

/* Wait until the server has this many clients in BLPOP, and their fibers are suspended. */
static void all_wait(redisContext *c)
{
	unsigned blocked = 0;

	while (blocked < FIBERS) {
		redisReply *r = redisCommand(c, "INFO clients");
		const char *at = r && r->str ? strstr(r->str, "blocked_clients:") : NULL;

		if (!at || sscanf(at, "blocked_clients:%u", &blocked) != 1)
			abort();
		freeReplyObject(r);
	}
	waiting_until("fd", FIBERS);
}

/* -- all wait at once -- */

static void *waits_then_works(void *arg)
{
	const long i = (intptr_t)arg;
	redisContext *c = connected(i);
	char number[16];

	must(c && !c->err);
	must(gives(c, "x", 1, "BLPOP list%ld 0", i));
	for (int k = 0; k < ROUNDS; k++) {
		redisReply *r = redisCommand(c, "SET key%ld %d", i, k);

		snprintf(number, sizeof number, "%d", k);
		must(r && strcmp(r->str, "OK") == 0);
		freeReplyObject(r);
		must(gives(c, number, 0, "GET key%ld", i));
	}
	redisFree(c);
	return arg;
}

static void *pushes_when_all_wait(void *arg)
{
	redisContext *c = redisConnect("127.0.0.1", port);
	struct fiber *f[FIBERS];

	spawn_all(waits_then_works, f);
	all_wait(c);
	for (long i = 0; i < FIBERS; i++)
		freeReplyObject(redisCommand(c, "RPUSH list%ld x", i));
	join_all(f);
	redisFree(c);
	return arg;
}

static void test_hundred_fibers_wait_for_redis_at_once_and_each_gets_its_answers(void **state)
{
	(void)state;
	carriers_run_well(pushes_when_all_wait, NULL);
}

/* -- a thousand -- */

static void *works(void *arg)
{
	const long i = (intptr_t)arg;
	redisContext *c = connected(i);
	char number[16];

	must(c && !c->err);
	for (int k = 0; k < 5; k++) {
		redisReply *r = redisCommand(c, "SET many%ld %ld", i, i + k);

		must(r && r->str && strcmp(r->str, "OK") == 0);
		freeReplyObject(r);
		snprintf(number, sizeof number, "%ld", i + k);
		must(gives(c, number, 0, "GET many%ld", i));
	}
	redisFree(c);
	return arg;
}

static void test_thousand_fibers_have_a_connection_each(void **state)
{
	(void)state;
	thousand_run_well(works);
}

/* -- killed connections -- */

static atomic_uint broken;

static void *loses_its_connection(void *arg)
{
	const long i = (intptr_t)arg;
	redisContext *c = connected(i);

	must(redisCommand(c, "BLPOP none%ld 0", i) == NULL);
	must(c->err == REDIS_ERR_EOF || c->err == REDIS_ERR_IO);
	broken++;
	must(redisReconnect(c) == REDIS_OK);
	must(gives(c, "PONG", 0, "PING", i));
	redisFree(c);
	return arg;
}

static void *kills_all(void *arg)
{
	redisContext *c = redisConnect("127.0.0.1", port);
	struct fiber *f[FIBERS];

	spawn_all(loses_its_connection, f);
	all_wait(c);
	freeReplyObject(redisCommand(c, "CLIENT KILL TYPE normal SKIPME yes"));
	join_all(f);
	redisFree(c);
	return arg;
}

static void test_killed_connections_are_errors_and_connect_again(void **state)
{
	(void)state;
	broken = 0;
	carriers_run_well(kills_all, NULL);
	assert_int_equal(broken, FIBERS);
}

/* -- a server that does not answer -- */

static void *times_out(void *arg)
{
	redisContext *c = connected((intptr_t)arg);

	must(redisSetTimeout(c, (struct timeval){0, 50000}) == REDIS_OK);
	must(redisCommand(c, "PING") == NULL);
	/* hiredis reports the errno of its read(2). */
	must(c->err == REDIS_ERR_IO && strstr(c->errstr, strerror(EAGAIN)));
	redisFree(c);
	return arg;
}

static void test_slow_server_is_left_at_the_time_out_of_the_socket(void **state)
{
	(void)state;
	/* Its backlog is still accepted by the kernel. */
	assert_true(server_stop(server));
	hundred_run_well(times_out);
	assert_int_equal(kill(server->pid, SIGCONT), 0);
}

/* -- a plain thread beside them -- */

static void test_plain_thread_uses_redis_as_without_the_library(void **state)
{
	redisContext *c = redisConnect("127.0.0.1", port);

	(void)state;
	assert_non_null(c);
	assert_int_equal(c->err, 0);
	assert_true(gives(c, "PONG", 0, "PING", 0));
	redisFree(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_hundred_fibers_wait_for_redis_at_once_and_each_gets_its_answers),
		cmocka_unit_test(test_thousand_fibers_have_a_connection_each),
		cmocka_unit_test(test_killed_connections_are_errors_and_connect_again),
		cmocka_unit_test(test_slow_server_is_left_at_the_time_out_of_the_socket),
		cmocka_unit_test(test_plain_thread_uses_redis_as_without_the_library),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, start_server, stop_server);
}
