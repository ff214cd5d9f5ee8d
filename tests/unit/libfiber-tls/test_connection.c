/* SPDX-License-Identifier: MIT */
/* test_connection.c - handshakes: who is accepted, who is refused and why, and what interrupts them */
#include "pair.h"

#include <openssl/ssl.h>
#include <pthread.h>

#include "tests/harness/process.h"

/* The others have keys of elliptic curves. */
static void make_rsa_certificate(void)
{
	const char *const argv[] = {"openssl",	"req",
				    "-x509",	"-newkey",
				    "rsa:2048", "-nodes",
				    "-subj",	"/CN=rsa",
				    "-addext",	"subjectAltName=DNS:localhost",
				    "-CA",	harness_pem("authority"),
				    "-CAkey",	harness_key("authority"),
				    "-keyout",	harness_key("rsa"),
				    "-out",	harness_pem("rsa"),
				    NULL};
	struct harness_process *p = harness_run(argv, NULL, 60);

	assert_int_equal(harness_exit_code(p), 0);
	harness_free(p);
}

static int make_certificates(void **state)
{
	pair_certificates(state);
	harness_authority("stranger");
	harness_certify("expired", "authority", "DNS:localhost", -1);
	harness_certify("elsewhere", "authority", "DNS:elsewhere.example", 1);
	harness_certify("subject", "authority", "email:a@example.org", 1);
	harness_certify("unknown", "stranger", "DNS:localhost", 1);
	make_rsa_certificate();
	harness_certify("client", "authority", "DNS:client.example", 1);
	return 0;
}

/* -- who is accepted -- */

/* Shake hands with a server that has this certificate. */
static void shake_with(struct pair *p, const char *certificate, const char *host)
{
	const struct fiber_tls_options server = pair_server_options(certificate);

	pair_contexts(p, &server, NULL);
	pair_connect(p, host);
	pair_shake(p);
}

static void expect_accepted(const char *certificate, const char *host)
{
	struct pair p;

	shake_with(&p, certificate, host);
	assert_int_equal(p.server_result, 0);
	assert_int_equal(p.client_result, 0);
	assert_string_equal(fiber_tls_error(p.client), "");
	pair_close(&p);
}

static void expect_refused(const char *certificate, const char *host, const char *why)
{
	struct pair p;
	char byte;

	shake_with(&p, certificate, host);
	assert_int_equal(p.client_result, -EACCES);
	assert_string_equal(fiber_tls_error(p.client), why);
	assert_int_equal(p.server_result, -EPROTO);
	assert_non_null(strstr(fiber_tls_error(p.server), "alert"));
	/* The connection has ended: every call says so. */
	assert_int_equal(fiber_tls_handshake(p.client, 0), -EACCES);
	assert_int_equal(fiber_tls_read(p.client, &byte, 1, 0), -EACCES);
	assert_int_equal(fiber_tls_write(p.client, "x", 1, 0), -EACCES);
	assert_int_equal(fiber_tls_shutdown(p.client, 0), -EACCES);
	pair_close(&p);
}

static void test_connection_is_made_when_the_certificate_is_valid_for_the_host(void **state)
{
	(void)state;
	expect_accepted("server", "localhost");
}

static void test_connection_is_made_when_the_certificate_is_valid_for_the_address(void **state)
{
	(void)state;
	expect_accepted("server", "127.0.0.1");
}

static void test_connection_is_refused_for_another_host(void **state)
{
	(void)state;
	expect_refused("elsewhere", "localhost", "hostname mismatch");
	expect_refused("server", "localhost.example", "hostname mismatch");
	/* The subject is "a test". */
	expect_refused("subject", "a test", "hostname mismatch");
	expect_refused("server", "127.0.0.2", "IP address mismatch");
}

static void test_connection_is_refused_for_an_expired_certificate(void **state)
{
	(void)state;
	expect_refused("expired", "localhost", "certificate has expired");
}

static void test_connection_is_refused_for_an_unknown_authority(void **state)
{
	(void)state;
	expect_refused("unknown", "localhost", "unable to get local issuer certificate");
}

static void test_connection_without_verification_accepts_any_certificate(void **state)
{
	const struct fiber_tls_options server = pair_server_options("expired");
	const struct fiber_tls_options client = {.size = sizeof(client),
						 .flags = FIBER_TLS_NO_VERIFY};
	struct pair p;

	(void)state;
	pair_contexts(&p, &server, &client);
	pair_connect(&p, NULL);
	pair_shake(&p);
	assert_int_equal(p.client_result, 0);
	assert_int_equal(p.server_result, 0);
	pair_close(&p);
}

static void test_connection_needs_a_host_to_verify_and_no_host_for_a_server(void **state)
{
	struct fiber_tls *tls = (void *)&tls;
	struct pair p;

	(void)state;
	pair_contexts(&p, NULL, NULL);
	assert_int_equal(fiber_tls_new(p.client_context, 0, NULL, &tls), -EINVAL);
	assert_null(tls);
	assert_int_equal(fiber_tls_new(p.client_context, 0, "", &tls), -EINVAL);
	assert_int_equal(fiber_tls_new(p.server_context, 0, "localhost", &tls), -EINVAL);
	fiber_tls_free(NULL);
	fiber_tls_context_unref(p.server_context);
	fiber_tls_context_unref(p.client_context);
}

/* -- certificates of clients -- */

static void *client_shakes_and_reads(void *arg)
{
	struct pair *const p = arg;
	char byte;

	/* In TLS 1.3 the client is ready before the server has looked at its certificate. */
	p->client_result = fiber_tls_handshake(p->client, fiber_after(20 * SECOND));
	if (!p->client_result)
		p->client_result =
			(int)fiber_tls_read(p->client, &byte, 1, fiber_after(20 * SECOND));
	return NULL;
}

static void shake_with_client(struct pair *p, const char *certificate)
{
	struct fiber_tls_options server = pair_server_options("server");
	struct fiber_tls_options client = pair_client_options();

	server.flags = FIBER_TLS_NEED_CERT;
	server.ca = harness_pem("authority");
	client.certificate = certificate ? harness_pem(certificate) : NULL;
	client.key = certificate ? harness_key(certificate) : NULL;
	pair_contexts(p, &server, &client);
	pair_connect(p, "localhost");
	pair_run(pair_server_shakes, client_shakes_and_reads, p);
}

static void *server_shakes_and_says_goodbye(void *arg)
{
	struct pair *const p = arg;

	pair_server_shakes(p);
	fiber_tls_shutdown(p->server, fiber_after(20 * SECOND));
	return NULL;
}

static void test_connection_is_made_when_the_client_has_the_demanded_certificate(void **state)
{
	struct fiber_tls_options server = pair_server_options("server");
	struct fiber_tls_options client = pair_client_options();
	struct pair p;

	(void)state;
	server.flags = FIBER_TLS_NEED_CERT;
	server.ca = harness_pem("authority");
	client.certificate = harness_pem("client");
	client.key = harness_key("client");
	pair_contexts(&p, &server, &client);
	pair_connect(&p, "localhost");
	pair_run(server_shakes_and_says_goodbye, client_shakes_and_reads, &p);
	assert_int_equal(p.server_result, 0);
	assert_int_equal(p.client_result, 0);
	pair_close(&p);
}

static void test_connection_is_refused_without_the_demanded_certificate(void **state)
{
	struct pair p;

	(void)state;
	shake_with_client(&p, NULL);
	assert_int_equal(p.server_result, -EACCES);
	assert_string_equal(fiber_tls_error(p.server), "peer did not return a certificate");
	assert_int_equal(p.client_result, -EPROTO);
	pair_close(&p);
}

static void test_connection_is_refused_for_a_client_of_an_unknown_authority(void **state)
{
	struct pair p;

	(void)state;
	shake_with_client(&p, "unknown");
	assert_int_equal(p.server_result, -EACCES);
	assert_string_equal(fiber_tls_error(p.server), "unable to get local issuer certificate");
	assert_int_equal(p.client_result, -EPROTO);
	pair_close(&p);
}

/* The client is ready, the server refuses it and closes, the client writes. */
static void *client_writes_to_a_server_that_has_refused(void *arg)
{
	struct pair *const p = arg;
	const int64_t deadline = fiber_after(20 * SECOND);
	char byte;

	while (fiber_tls_handshake(p->client, 0))
		fiber_tls_handshake(p->server, 0);
	p->server_result = fiber_tls_handshake(p->server, deadline);
	shutdown(p->fds[0], SHUT_RDWR);
	if (fiber_tls_write(p->client, "x", 1, deadline) == -EPIPE)
		p->client_result = (int)fiber_tls_read(p->client, &byte, 1, deadline);
	return NULL;
}

static void test_connection_that_is_refused_has_the_alert_also_after_a_failed_write(void **state)
{
	struct fiber_tls_options server = pair_server_options("server");
	struct pair p;

	(void)state;
	server.flags = FIBER_TLS_NEED_CERT;
	server.ca = harness_pem("authority");
	pair_contexts(&p, &server, NULL);
	pair_connect(&p, "localhost");
	p.client_result = 0;
	carriers_run(client_writes_to_a_server_that_has_refused, &p);
	assert_int_equal(p.server_result, -EACCES);
	assert_int_equal(p.client_result, -EPROTO);
	assert_non_null(strstr(fiber_tls_error(p.client), "alert certificate required"));
	pair_close(&p);
}

/* -- interruptions -- */

static void *client_waits_in_vain(void *arg)
{
	struct pair *const p = arg;

	p->client_result = fiber_tls_handshake(p->client, fiber_after(10 * MS));
	return NULL;
}

static void test_connection_continues_a_handshake_after_its_deadline(void **state)
{
	struct pair p;

	(void)state;
	pair_open(&p);
	carriers_run(client_waits_in_vain, &p);
	assert_int_equal(p.client_result, -ETIMEDOUT);
	assert_string_equal(fiber_tls_error(p.client), "");
	pair_shake(&p);
	assert_int_equal(p.server_result, 0);
	assert_int_equal(p.client_result, 0);
	pair_close(&p);
}

/* The server has sent its flight and waits: its deadline is in the middle of the handshake. */
static void *server_waits_in_vain(void *arg)
{
	struct pair *const p = arg;
	char hello[1];

	if (fiber_tls_handshake(p->client, fiber_after(10 * MS)) != -ETIMEDOUT)
		return NULL;
	p->server_result = fiber_tls_handshake(p->server, fiber_after(10 * MS));
	/* Its flight is there. */
	p->client_result = (int)fiber_recv(p->fds[1], hello, 1, MSG_PEEK, fiber_after(20 * SECOND));
	return NULL;
}

static void test_connection_is_freed_in_the_middle_of_a_handshake(void **state)
{
	struct pair p;

	(void)state;
	pair_open(&p);
	carriers_run(server_waits_in_vain, &p);
	assert_int_equal(p.server_result, -ETIMEDOUT);
	assert_int_equal(p.client_result, 1);
	pair_close(&p);
}

static void *cancel_client(void *arg)
{
	struct pair *const p = arg;
	struct fiber *client;

	if (fiber_spawn(pair_client_shakes, p, &client))
		abort();
	carriers_await_suspended(client);
	fiber_cancel(client);
	fiber_join(client, NULL, FIBER_FOREVER);
	return NULL;
}

static void test_connection_handshake_of_a_cancelled_fiber_ends(void **state)
{
	struct pair p;

	(void)state;
	pair_open(&p);
	carriers_run(cancel_client, &p);
	assert_int_equal(p.client_result, -ECANCELED);
	assert_string_equal(fiber_tls_error(p.client), "");
	pair_close(&p);
}

static void *close_under_client(void *arg)
{
	struct pair *const p = arg;
	struct fiber *client;

	if (fiber_spawn(pair_client_shakes, p, &client))
		abort();
	carriers_await_suspended(client);
	fiber_close(p->fds[1]);
	fiber_join(client, NULL, FIBER_FOREVER);
	p->fds[1] = -1;
	return NULL;
}

static void test_connection_whose_socket_is_closed_has_ended(void **state)
{
	struct pair p;

	(void)state;
	pair_open(&p);
	carriers_run(close_under_client, &p);
	assert_int_equal(p.client_result, -EBADF);
	assert_int_equal(fiber_tls_handshake(p.client, FIBER_FOREVER), -EBADF);
	assert_string_equal(fiber_tls_error(p.client), strerror(EBADF));
	pair_close(&p);
}

static void *shake_twice(void *arg)
{
	struct pair *const p = arg;
	struct fiber *client;
	char byte;

	if (fiber_spawn(pair_client_shakes, p, &client))
		abort();
	carriers_await_suspended(client);
	p->server_result = fiber_tls_handshake(p->client, 0) == -EBUSY &&
			   fiber_tls_read(p->client, &byte, 1, 0) == -EBUSY &&
			   fiber_tls_write(p->client, "x", 1, 0) == -EBUSY;
	fiber_cancel(client);
	fiber_join(client, NULL, FIBER_FOREVER);
	return NULL;
}

static void test_connection_has_one_handshake_at_a_time(void **state)
{
	struct pair p;

	(void)state;
	pair_open(&p);
	carriers_run(shake_twice, &p);
	assert_true(p.server_result);
	pair_close(&p);
}

/* -- a peer that does not speak TLS -- */

static void *server_sends_garbage(void *arg)
{
	struct pair *const p = arg;
	static const char garbage[] = "220 mail.example ESMTP; this is no TLS\r\n";

	fiber_write_full(p->fds[0], garbage, sizeof(garbage), FIBER_FOREVER);
	return NULL;
}

static void test_connection_to_a_peer_without_tls_is_a_protocol_error(void **state)
{
	struct pair p;

	(void)state;
	pair_open(&p);
	pair_run(server_sends_garbage, pair_client_shakes, &p);
	assert_int_equal(p.client_result, -EPROTO);
	assert_string_equal(fiber_tls_error(p.client), "wrong version number");
	pair_close(&p);
}

static void *server_ends(void *arg)
{
	struct pair *const p = arg;

	shutdown(p->fds[0], SHUT_WR);
	return NULL;
}

static void test_connection_to_a_peer_that_leaves_is_aborted(void **state)
{
	struct pair p;

	(void)state;
	pair_open(&p);
	pair_run(server_ends, pair_client_shakes, &p);
	assert_int_equal(p.client_result, -ECONNABORTED);
	pair_close(&p);
}

static void *server_says_goodbye_at_once(void *arg)
{
	static const unsigned char alert[] = {21, 3, 3, 0, 2, 1, 0}; /* warning, close_notify */
	struct pair *const p = arg;

	fiber_write_full(p->fds[0], alert, sizeof(alert), FIBER_FOREVER);
	return NULL;
}

static void test_connection_to_a_peer_that_closes_at_once_is_aborted(void **state)
{
	struct pair p;

	(void)state;
	pair_open(&p);
	pair_run(server_says_goodbye_at_once, pair_client_shakes, &p);
	assert_int_equal(p.client_result, -ECONNABORTED);
	assert_string_equal(fiber_tls_error(p.client), "the peer closed during the handshake");
	pair_close(&p);
}

/* -- threads, and the descriptor -- */

static void *thread_main(void *arg)
{
	return pair_client_shakes(arg);
}

static void test_connection_works_in_plain_threads(void **state)
{
	pthread_t thread;
	struct pair p;

	(void)state;
	pair_open(&p);
	assert_int_equal(pthread_create(&thread, NULL, thread_main, &p), 0);
	pair_server_shakes(&p);
	pthread_join(thread, NULL);
	assert_int_equal(p.server_result, 0);
	assert_int_equal(p.client_result, 0);
	pair_close(&p);
}

/* The stack that <fiber/tls.h> names, with a key of RSA and a chain that must be verified. */
static void test_connection_needs_no_more_stack_than_32_kib(void **state)
{
	struct fiber_runtime_options small = carriers_options();
	struct pair_sides sides = {pair_server_shakes, pair_client_shakes, NULL};
	const struct fiber_tls_options server = pair_server_options("rsa");
	struct pair p;

	(void)state;
	if (*harness_sanitizer())
		skip(); /* frames are larger */
	small.stack_size = 32 << 10;
	for (int version = TLS1_2_VERSION; version <= TLS1_3_VERSION; version++) {
		pair_contexts(&p, &server, NULL);
		SSL_CTX_set_max_proto_version(fiber_tls_context_openssl(p.client_context), version);
		pair_connect(&p, "localhost");
		sides.arg = &p;
		assert_int_equal(fiber_run(pair_both, &sides, &small, NULL), 0);
		assert_int_equal(p.server_result, 0);
		assert_int_equal(p.client_result, 0);
		pair_close(&p);
	}
}

static void test_connection_leaves_the_flags_of_its_sockets(void **state)
{
	struct pair p;

	(void)state;
	pair_open(&p);
	fcntl(p.fds[0], F_SETFL, fcntl(p.fds[0], F_GETFL) | O_NONBLOCK);
	pair_shake(&p);
	assert_int_equal(p.server_result | p.client_result, 0);
	assert_int_equal(fcntl(p.fds[0], F_GETFL), O_RDWR | O_NONBLOCK);
	assert_int_equal(fcntl(p.fds[1], F_GETFL), O_RDWR);
	pair_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_connection_is_made_when_the_certificate_is_valid_for_the_host),
		cmocka_unit_test(
			test_connection_is_made_when_the_certificate_is_valid_for_the_address),
		cmocka_unit_test(test_connection_is_refused_for_another_host),
		cmocka_unit_test(test_connection_is_refused_for_an_expired_certificate),
		cmocka_unit_test(test_connection_is_refused_for_an_unknown_authority),
		cmocka_unit_test(test_connection_without_verification_accepts_any_certificate),
		cmocka_unit_test(test_connection_needs_a_host_to_verify_and_no_host_for_a_server),
		cmocka_unit_test(
			test_connection_is_made_when_the_client_has_the_demanded_certificate),
		cmocka_unit_test(test_connection_is_refused_without_the_demanded_certificate),
		cmocka_unit_test(test_connection_is_refused_for_a_client_of_an_unknown_authority),
		cmocka_unit_test(
			test_connection_that_is_refused_has_the_alert_also_after_a_failed_write),
		cmocka_unit_test(test_connection_continues_a_handshake_after_its_deadline),
		cmocka_unit_test(test_connection_is_freed_in_the_middle_of_a_handshake),
		cmocka_unit_test(test_connection_handshake_of_a_cancelled_fiber_ends),
		cmocka_unit_test(test_connection_whose_socket_is_closed_has_ended),
		cmocka_unit_test(test_connection_has_one_handshake_at_a_time),
		cmocka_unit_test(test_connection_to_a_peer_without_tls_is_a_protocol_error),
		cmocka_unit_test(test_connection_to_a_peer_that_leaves_is_aborted),
		cmocka_unit_test(test_connection_to_a_peer_that_closes_at_once_is_aborted),
		cmocka_unit_test(test_connection_works_in_plain_threads),
		cmocka_unit_test(test_connection_needs_no_more_stack_than_32_kib),
		cmocka_unit_test(test_connection_leaves_the_flags_of_its_sockets),
	};

	harness_watchdog(100);
	return cmocka_run_group_tests(tests, make_certificates, NULL);
}
