/* SPDX-License-Identifier: MIT */
/*
 * test_openssl.c - OpenSSL's queue of errors belongs to the fiber
 *
 * OpenSSL keeps the queue under a key of pthread_key_create(3). Two fibers of a carrier share the
 * thread, but not the queue.
 */
#include <openssl/err.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>

#include "tests/posix/hundred.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "tests/posix/waiting.h"

/* -- the queue -- */

static void *leaves_errors(void *arg)
{
	const int reason = 100 + (int)(intptr_t)arg;

	must(ERR_peek_error() == 0);
	for (int i = 0; i < 5; i++) {
		ERR_put_error(ERR_LIB_USER, 0, reason + i, __FILE__, __LINE__);
		fiber_yield();
		usleep(10);
		must(ERR_GET_REASON(ERR_peek_error()) == reason);
		must(ERR_GET_REASON(ERR_peek_last_error()) == reason + i);
	}
	for (int i = 0; i < 5; i++)
		must(ERR_GET_REASON(ERR_get_error()) == reason + i);
	must(ERR_get_error() == 0);
	ERR_put_error(ERR_LIB_USER, 0, reason, __FILE__, __LINE__);
	return arg;
}

static void test_errors_of_a_hundred_fibers_are_apart(void **state)
{
	(void)state;
	hundred_run_well(leaves_errors);
}

/* -- a connection -- */

struct connection {
	SSL_CTX *context;
	int ends[2];
};

/* The other end says nothing until SO_RCVTIMEO. */
static void *connects(void *arg)
{
	struct connection *c = arg;
	SSL *ssl = SSL_new(c->context);
	int rc;

	must(ssl && SSL_set_fd(ssl, c->ends[0]) == 1);
	rc = SSL_connect(ssl);
	must(rc == -1 && SSL_get_error(ssl, rc) == SSL_ERROR_WANT_READ);
	must(ERR_peek_error() == 0);
	SSL_free(ssl);
	return NULL;
}

/* What the other fiber has in its queue once made SSL_get_error() say SSL_ERROR_SSL. */
static void *connects_beside_an_error(void *arg)
{
	struct connection c = {.context = arg};
	const struct timeval limit = {0, 100000};
	struct fiber *fiber;

	must(socketpair(AF_UNIX, SOCK_STREAM, 0, c.ends) == 0);
	must(setsockopt(c.ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
	if (fiber_spawn(connects, &c, &fiber) < 0)
		abort();
	while (fiber_state(fiber) != FIBER_DEAD) {
		ERR_put_error(ERR_LIB_USER, 0, 7, __FILE__, __LINE__);
		fiber_sleep(MS);
	}
	fiber_join(fiber, NULL, FIBER_FOREVER);
	ERR_clear_error();
	close(c.ends[0]);
	close(c.ends[1]);
	return NULL;
}

static void test_error_of_a_connection_is_its_own(void **state)
{
	SSL_CTX *context = SSL_CTX_new(TLS_client_method());

	(void)state;
	assert_non_null(context);
	carriers_run_well(connects_beside_an_error, context);
	SSL_CTX_free(context);
}

/* -- random numbers: each fiber has a generator, which ends with it -- */

static void *draws(void *arg)
{
	unsigned char first[32], second[32];

	must(RAND_bytes(first, sizeof first) == 1);
	fiber_yield();
	must(RAND_bytes(second, sizeof second) == 1);
	must(memcmp(first, second, sizeof first) != 0);
	return arg;
}

static void test_hundred_fibers_draw_random_numbers(void **state)
{
	(void)state;
	hundred_run_well(draws);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errors_of_a_hundred_fibers_are_apart),
		cmocka_unit_test(test_error_of_a_connection_is_its_own),
		cmocka_unit_test(test_hundred_fibers_draw_random_numbers),
	};

	/* The names for values are not taken where a sanitizer keeps its own data under a key. */
	if (*harness_sanitizer())
		return puts("1..0 # SKIP a sanitizer keeps its data of a thread under a key") < 0;
	harness_watchdog(100);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
