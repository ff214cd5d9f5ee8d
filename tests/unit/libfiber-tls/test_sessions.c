/* SPDX-License-Identifier: MIT */
/* test_sessions.c - a later connection to the same host resumes, and no other one */
#include "pair.h"

#include <openssl/ssl.h>
#include <time.h>

#include "libfiber-tls/context.h"

static void *server_answers(void *arg)
{
	struct pair *const p = arg;

	pair_server_shakes(p);
	fiber_tls_write(p->server, "x", 1, FIBER_FOREVER);
	return NULL;
}

/* Tickets of TLS 1.3 arrive before the first byte. */
static void *client_reads(void *arg)
{
	struct pair *const p = arg;
	char byte;

	pair_client_shakes(p);
	if (fiber_tls_read(p->client, &byte, 1, fiber_after(20 * SECOND)) != 1)
		p->client_result = -EIO;
	return NULL;
}

/* Connect once. Returns whether both sides say that they resumed. */
static bool connect_once(struct pair *p, const char *host)
{
	struct fiber_tls_info server, client;

	pair_connect(p, host);
	pair_run(server_answers, client_reads, p);
	assert_int_equal(p->server_result, 0);
	assert_int_equal(p->client_result, 0);
	assert_int_equal(fiber_tls_info(p->server, &server), 0);
	assert_int_equal(fiber_tls_info(p->client, &client), 0);
	assert_int_equal(server.resumed, client.resumed);
	pair_disconnect(p);
	return client.resumed;
}

static void expect_resumption(int version)
{
	struct pair p;

	pair_contexts(&p, NULL, NULL);
	SSL_CTX_set_max_proto_version(fiber_tls_context_openssl(p.client_context), version);
	assert_false(connect_once(&p, "localhost"));
	assert_true(connect_once(&p, "localhost"));
	assert_true(connect_once(&p, "localhost"));
	/* Another host has no session. */
	assert_false(connect_once(&p, "127.0.0.1"));
	assert_true(connect_once(&p, "127.0.0.1"));
	/* The clients have them; the server keeps none. */
	assert_int_equal(SSL_CTX_sess_number(fiber_tls_context_openssl(p.server_context)), 0);
	fiber_tls_context_unref(p.server_context);
	fiber_tls_context_unref(p.client_context);
}

static void test_sessions_are_resumed_with_version_1_3(void **state)
{
	(void)state;
	expect_resumption(TLS1_3_VERSION);
}

static void test_sessions_are_resumed_with_version_1_2(void **state)
{
	(void)state;
	expect_resumption(TLS1_2_VERSION);
}

static void expect_no_resumption(unsigned server_flags, unsigned client_flags)
{
	struct fiber_tls_options server = pair_server_options("server");
	struct fiber_tls_options client = pair_client_options();
	struct pair p;

	server.flags = server_flags;
	client.flags = client_flags;
	pair_contexts(&p, &server, &client);
	for (int version = TLS1_2_VERSION; version <= TLS1_3_VERSION; version++) {
		SSL_CTX_set_max_proto_version(fiber_tls_context_openssl(p.client_context), version);
		assert_false(connect_once(&p, "localhost"));
		assert_false(connect_once(&p, "localhost"));
	}
	assert_int_equal(p.client_context->saved.count, 0);
	fiber_tls_context_unref(p.server_context);
	fiber_tls_context_unref(p.client_context);
}

static void test_sessions_are_not_resumed_where_one_side_does_not_want_it(void **state)
{
	(void)state;
	expect_no_resumption(FIBER_TLS_NO_RESUME, 0);
	expect_no_resumption(0, FIBER_TLS_NO_RESUME);
}

/* With certificates of clients a session is valid only where it was made: its id says so. */
static void test_sessions_of_clients_with_certificates_are_resumed(void **state)
{
	struct fiber_tls_options server = pair_server_options("server");
	struct fiber_tls_options client = pair_client_options();
	struct pair p;

	(void)state;
	server.flags = FIBER_TLS_NEED_CERT;
	server.ca = harness_pem("authority");
	client.certificate = harness_pem("server");
	client.key = harness_key("server");
	pair_contexts(&p, &server, &client);
	assert_false(connect_once(&p, "localhost"));
	assert_true(connect_once(&p, "localhost"));
	fiber_tls_context_unref(p.server_context);
	fiber_tls_context_unref(p.client_context);
}

static int make_certificates(void **state)
{
	pair_certificates(state);
	harness_certify("expired", "authority", "DNS:localhost", -1);
	return 0;
}

/* A resumed connection would not be verified. */
static void test_sessions_of_a_peer_that_was_not_verified_are_not_kept(void **state)
{
	const struct fiber_tls_options server = pair_server_options("expired");
	struct pair p;

	(void)state;
	pair_contexts(&p, &server, NULL);
	pair_connect(&p, "localhost");
	SSL_set_verify(fiber_tls_openssl(p.client), SSL_VERIFY_NONE, NULL);
	pair_run(server_answers, client_reads, &p);
	assert_int_equal(p.client_result, 0);
	assert_int_equal(p.client_context->saved.count, 0);
	pair_close(&p);
}

static void test_sessions_of_an_expired_certificate_are_not_resumed(void **state)
{
	const struct fiber_tls_options server = pair_server_options("expired");
	const struct fiber_tls_options client = {.size = sizeof(client),
						 .flags = FIBER_TLS_NO_VERIFY};
	struct pair p;

	(void)state;
	pair_contexts(&p, &server, &client);
	assert_false(connect_once(&p, "localhost"));
	assert_true(p.client_context->saved.count > 0);
	assert_false(connect_once(&p, "localhost"));
	fiber_tls_context_unref(p.server_context);
	fiber_tls_context_unref(p.client_context);
}

/* -- the list itself -- */

static SSL_SESSION *session(int version)
{
	SSL_SESSION *const s = SSL_SESSION_new();

	SSL_SESSION_set_protocol_version(s, version);
	SSL_SESSION_set_timeout(s, 60);
	return s;
}

static void test_sessions_are_bounded_and_the_newest_is_taken_first(void **state)
{
	SSL_SESSION *sessions[10], *taken;
	struct fib_tls_sessions list;

	(void)state;
	fib_tls_sessions_init(&list);
	fib_tls_sessions_put(&list, "other", session(TLS1_3_VERSION));
	for (int i = 0; i < 10; i++) {
		sessions[i] = session(TLS1_3_VERSION);
		fib_tls_sessions_put(&list, "host", sessions[i]);
	}
	assert_int_equal(list.count, 5);
	for (int i = 9; i >= 6; i--) {
		taken = fib_tls_sessions_take(&list, "host");
		assert_ptr_equal(taken, sessions[i]);
		SSL_SESSION_free(taken);
	}
	assert_null(fib_tls_sessions_take(&list, "host"));
	taken = fib_tls_sessions_take(&list, "other");
	assert_non_null(taken);
	SSL_SESSION_free(taken);
	fib_tls_sessions_free(&list);
}

static void test_sessions_of_many_hosts_are_bounded(void **state)
{
	struct fib_tls_sessions list;
	SSL_SESSION *taken;
	char host[16];

	(void)state;
	fib_tls_sessions_init(&list);
	for (int i = 0; i < 300; i++) {
		snprintf(host, sizeof(host), "host%d", i);
		fib_tls_sessions_put(&list, host, session(TLS1_3_VERSION));
	}
	assert_int_equal(list.count, 256);
	assert_null(fib_tls_sessions_take(&list, "host43"));
	taken = fib_tls_sessions_take(&list, "host44");
	assert_non_null(taken);
	SSL_SESSION_free(taken);
	fib_tls_sessions_free(&list);
}

static void test_sessions_that_are_too_old_are_dropped(void **state)
{
	SSL_SESSION *const fresh = session(TLS1_3_VERSION), *taken;
	struct fib_tls_sessions list;

	(void)state;
	fib_tls_sessions_init(&list);
	fib_tls_sessions_put(&list, "host", fresh);
	for (int version = TLS1_2_VERSION; version <= TLS1_3_VERSION; version++) {
		SSL_SESSION *const old = session(version);

		SSL_SESSION_set_time(old, time(NULL) - 62);
		fib_tls_sessions_put(&list, "host", old);
	}
	taken = fib_tls_sessions_take(&list, "host");
	assert_ptr_equal(taken, fresh);
	assert_int_equal(list.count, 0);
	SSL_SESSION_free(taken);
	fib_tls_sessions_free(&list);
}

static void test_sessions_of_version_1_2_are_taken_again(void **state)
{
	struct fib_tls_sessions list;
	SSL_SESSION *first, *second;

	(void)state;
	fib_tls_sessions_init(&list);
	fib_tls_sessions_put(&list, "host", session(TLS1_2_VERSION));
	first = fib_tls_sessions_take(&list, "host");
	second = fib_tls_sessions_take(&list, "host");
	assert_non_null(first);
	assert_ptr_equal(first, second);
	assert_null(fib_tls_sessions_take(&list, "another"));
	fib_tls_sessions_free(&list);
	SSL_SESSION_free(first);
	SSL_SESSION_free(second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sessions_are_resumed_with_version_1_3),
		cmocka_unit_test(test_sessions_are_resumed_with_version_1_2),
		cmocka_unit_test(test_sessions_are_not_resumed_where_one_side_does_not_want_it),
		cmocka_unit_test(test_sessions_of_clients_with_certificates_are_resumed),
		cmocka_unit_test(test_sessions_of_a_peer_that_was_not_verified_are_not_kept),
		cmocka_unit_test(test_sessions_of_an_expired_certificate_are_not_resumed),
		cmocka_unit_test(test_sessions_that_are_too_old_are_dropped),
		cmocka_unit_test(test_sessions_are_bounded_and_the_newest_is_taken_first),
		cmocka_unit_test(test_sessions_of_many_hosts_are_bounded),
		cmocka_unit_test(test_sessions_of_version_1_2_are_taken_again),
	};

	harness_watchdog(100);
	return cmocka_run_group_tests(tests, make_certificates, NULL);
}
