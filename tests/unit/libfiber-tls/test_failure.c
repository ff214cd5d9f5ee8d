/* SPDX-License-Identifier: MIT */
/* test_failure.c - an error is taken from the thread's queue once, and the first one counts */
#include "pair.h"

#include <openssl/err.h>
#include <openssl/x509_vfy.h>

#include "libfiber-tls/failure.h"

static struct pair p;

static int open_pair(void **state)
{
	(void)state;
	pair_open(&p);
	return 0;
}

static int close_pair(void **state)
{
	(void)state;
	pair_close(&p);
	return 0;
}

static void test_failure_takes_the_oldest_error_and_leaves_none(void **state)
{
	char text[64];

	(void)state;
	ERR_raise(ERR_LIB_SSL, SSL_R_NO_SHARED_CIPHER);
	ERR_raise(ERR_LIB_SSL, SSL_R_BAD_LENGTH);
	fib_tls_queue_text(text, sizeof(text));
	assert_string_equal(text, "no shared cipher");
	assert_int_equal(ERR_peek_error(), 0);
	fib_tls_queue_text(text, sizeof(text));
	assert_string_equal(text, "");
	ERR_raise(ERR_LIB_SYS, ENOENT);
	fib_tls_queue_text(text, sizeof(text));
	assert_string_equal(text, strerror(ENOENT));
	/* A reason without a text has at least its number. */
	ERR_raise(ERR_LIB_USER, 77);
	fib_tls_queue_text(text, sizeof(text));
	assert_non_null(strstr(text, "77"));
}

static void test_failure_of_the_protocol_ends_the_connection(void **state)
{
	(void)state;
	ERR_raise(ERR_LIB_SSL, SSL_R_BAD_LENGTH);
	assert_int_equal(fib_tls_fail(p.client), -EPROTO);
	assert_string_equal(fiber_tls_error(p.client), "bad length");
	assert_int_equal(ERR_peek_error(), 0);
	/* The first one counts. */
	assert_int_equal(fib_tls_fail_with(p.client, -ENOMEM, "another"), -EPROTO);
	assert_string_equal(fiber_tls_error(p.client), "bad length");
}

static void test_failure_of_the_socket_comes_before_what_openssl_says(void **state)
{
	(void)state;
	ERR_raise(ERR_LIB_SSL, SSL_R_BAD_LENGTH);
	p.client->broken = -EHOSTUNREACH;
	assert_int_equal(fib_tls_fail(p.client), -EHOSTUNREACH);
	assert_string_equal(fiber_tls_error(p.client), strerror(EHOSTUNREACH));
	assert_int_equal(ERR_peek_error(), 0);
}

static void test_failure_to_verify_has_the_reason_as_its_text(void **state)
{
	(void)state;
	SSL_set_verify_result(p.client->ssl, X509_V_ERR_CERT_REVOKED);
	ERR_raise(ERR_LIB_SSL, SSL_R_CERTIFICATE_VERIFY_FAILED);
	assert_int_equal(fib_tls_fail(p.client), -EACCES);
	assert_string_equal(fiber_tls_error(p.client), "certificate revoked");
}

static void test_failure_of_memory_has_its_number(void **state)
{
	(void)state;
	ERR_raise(ERR_LIB_SSL, ERR_R_MALLOC_FAILURE);
	assert_int_equal(fib_tls_fail(p.client), -ENOMEM);
}

static void test_failure_without_a_reason_is_one_of_the_protocol(void **state)
{
	(void)state;
	assert_int_equal(fib_tls_fail(p.client), -EPROTO);
	assert_string_equal(fiber_tls_error(p.client), "unknown error of OpenSSL");
}

/* -- errors that other code has left in the thread's queue -- */

struct calls {
	ssize_t results[5];
	bool left; /* an error is in the queue after a call that needs none */
};

static void *call_with_a_full_queue(void *arg)
{
	struct calls *const c = arg;
	char byte;

	ERR_raise(ERR_LIB_SSL, SSL_R_BAD_LENGTH);
	c->results[0] = fiber_tls_handshake(p.client, 0);
	p.server_result = fiber_tls_handshake(p.server, 0);
	ERR_raise(ERR_LIB_SSL, SSL_R_BAD_LENGTH);
	c->results[1] = fiber_tls_handshake(p.client, 0);
	fiber_tls_handshake(p.server, 0);
	ERR_raise(ERR_LIB_SSL, SSL_R_BAD_LENGTH);
	c->results[2] = fiber_tls_read(p.client, &byte, 1, 0);
	ERR_raise(ERR_LIB_SSL, SSL_R_BAD_LENGTH);
	c->results[3] = fiber_tls_write(p.client, "x", 1, 0);
	ERR_raise(ERR_LIB_SSL, SSL_R_BAD_LENGTH);
	c->results[4] = fiber_tls_shutdown(p.client, 0);
	c->left = ERR_peek_error() != 0;
	return NULL;
}

static void test_failure_of_other_code_is_not_taken_for_the_connection_s(void **state)
{
	struct calls c = {.left = true};

	(void)state;
	carriers_run(call_with_a_full_queue, &c);
	assert_int_equal(c.results[0], -ETIMEDOUT);
	assert_int_equal(p.server_result, -ETIMEDOUT);
	assert_int_equal(c.results[1], 0);
	assert_int_equal(c.results[2], -ETIMEDOUT);
	assert_int_equal(c.results[3], 1);
	assert_int_equal(c.results[4], 0);
	assert_false(c.left);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_failure_takes_the_oldest_error_and_leaves_none,
						open_pair, close_pair),
		cmocka_unit_test_setup_teardown(test_failure_of_the_protocol_ends_the_connection,
						open_pair, close_pair),
		cmocka_unit_test_setup_teardown(
			test_failure_of_the_socket_comes_before_what_openssl_says, open_pair,
			close_pair),
		cmocka_unit_test_setup_teardown(test_failure_to_verify_has_the_reason_as_its_text,
						open_pair, close_pair),
		cmocka_unit_test_setup_teardown(
			test_failure_of_other_code_is_not_taken_for_the_connection_s, open_pair,
			close_pair),
		cmocka_unit_test_setup_teardown(test_failure_of_memory_has_its_number, open_pair,
						close_pair),
		cmocka_unit_test_setup_teardown(
			test_failure_without_a_reason_is_one_of_the_protocol, open_pair,
			close_pair),
	};

	harness_watchdog(100);
	return cmocka_run_group_tests(tests, pair_certificates, NULL);
}
