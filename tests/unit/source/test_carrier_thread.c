/* SPDX-License-Identifier: MIT */
/*
 * test_carrier_thread.c - which thread runs a fiber, from good answers and hostile ones
 *
 * The test is the other end. It writes the whole answer into the socket before the request.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "inspect/source/carrier_thread.h"
#include "tests/harness/inspect/head.h"
#include "tests/harness/paths.h"
#include "wire/client.h"

#define TIMEOUT INT64_C(2000000000)

static struct {
	unsigned char at[4096];
	size_t size;
} answer;
static uint64_t tid;

static void put(uint16_t type, const void *bytes, size_t size)
{
	const struct fib_wire_header h = {FIB_WIRE_MAGIC, FIB_WIRE_VERSION, type, (uint32_t)size};

	memcpy(answer.at + answer.size, &h, sizeof h);
	memcpy(answer.at + answer.size + sizeof h, bytes, size);
	answer.size += sizeof h + size;
}

/* Two carriers of a process that knows `size` bytes of a carrier, and sends `sent` of them. */
static void put_carriers(uint32_t size, uint32_t count, size_t sent)
{
	const struct fib_wire_runtime runtime = {.carriers = count, .carrier_size = size};
	const struct fib_wire_carrier carriers[2] = {
		{.fiber = 7, .tid = 4711},
		{.index = 1, .fiber = 8, .tid = 4712},
	};
	unsigned char bytes[2048] = {0};
	size_t i;

	assert_true(sizeof runtime + sent <= sizeof bytes && size <= 512);
	memcpy(bytes, &runtime, sizeof runtime);
	for (i = 0; i < 2; i++)
		memcpy(bytes + sizeof runtime + i * size, &carriers[i],
		       size < sizeof carriers[i] ? size : sizeof carriers[i]);
	put(FIB_WIRE_RUNTIME, bytes, sizeof runtime + sent);
}

static void put_end(void)
{
	const struct fib_wire_end end = {0};

	put(FIB_WIRE_END, &end, sizeof end);
}

static int ask(uint64_t id)
{
	const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct fib_wire_client client;
	char path[HARNESS_PATH];
	int fd, rc;

	harness_file(path, "carrier_thread.sock");
	unlink(path);
	assert_true(strlen(path) < sizeof address.sun_path);
	strcpy(address.sun_path, path);
	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(fib_wire_connect(&client, path, TIMEOUT), 0);
	fd = accept(listener, NULL, NULL);
	assert_true(fd >= 0);
	assert_int_equal(send(fd, answer.at, answer.size, MSG_NOSIGNAL), answer.size);
	close(fd);
	rc = ins_carrier_thread(&client, id, &tid);
	fib_wire_disconnect(&client);
	close(listener);
	unlink(path);
	answer.size = 0;
	return rc;
}

#define ALL ((uint32_t)sizeof(struct fib_wire_carrier))

static void test_the_carrier_that_runs_the_fiber_has_the_thread(void **state)
{
	(void)state;
	put_carriers(ALL, 2, 2 * (size_t)ALL);
	put_end();
	assert_int_equal(ask(8), 0);
	assert_int_equal(tid, 4712);
}

static void test_a_newer_process_sends_more(void **state)
{
	(void)state;
	put(0x7777, "of a later version", 18);
	put_carriers(ALL + 64, 2, 2 * ((size_t)ALL + 64));
	put_end();
	assert_int_equal(ask(8), 0);
	assert_int_equal(tid, 4712);
}

static void test_an_older_process_has_no_thread(void **state)
{
	const uint32_t older = offsetof(struct fib_wire_carrier, tid);

	(void)state;
	put_carriers(older, 2, 2 * (size_t)older);
	put_end();
	assert_int_equal(ask(8), 0);
	assert_int_equal(tid, 0);
}

static void test_a_fiber_that_no_carrier_runs_has_no_thread(void **state)
{
	(void)state;
	put_carriers(ALL, 2, 2 * (size_t)ALL);
	put_end();
	assert_int_equal(ask(9), 0);
	assert_int_equal(tid, 0);
}

static void test_answers_that_lie_are_refused(void **state)
{
	(void)state;
	put_carriers(ALL, 3, 2 * (size_t)ALL);
	put_end();
	assert_int_equal(ask(8), -EPROTO);
	put_carriers(0, 2, 64);
	put_end();
	assert_int_equal(ask(8), -EPROTO);
	put(FIB_WIRE_RUNTIME, "short", 5);
	put_end();
	assert_int_equal(ask(8), -EPROTO);
	put_carriers(ALL, 2, 2 * (size_t)ALL);
	assert_true(ask(8) < 0); /* no end */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_carrier_that_runs_the_fiber_has_the_thread),
		cmocka_unit_test(test_a_newer_process_sends_more),
		cmocka_unit_test(test_an_older_process_has_no_thread),
		cmocka_unit_test(test_a_fiber_that_no_carrier_runs_has_no_thread),
		cmocka_unit_test(test_answers_that_lie_are_refused),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
