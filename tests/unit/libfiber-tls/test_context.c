/* SPDX-License-Identifier: MIT */
/* test_context.c - a context with a bad setting is not made, and the text names the setting */
#include "pair.h"

#include <openssl/ssl.h>

static void expect_error(bool server, struct fiber_tls_options options, int error, const char *text)
{
	struct fiber_tls_context *context = (void *)&context;
	char said[256] = "";
	int rc;

	rc = server ? fiber_tls_server_new(&options, &context, said, sizeof(said))
		    : fiber_tls_client_new(&options, &context, said, sizeof(said));
	assert_string_equal(said, text);
	assert_int_equal(rc, error);
	assert_null(context);
	/* The text is optional. */
	rc = server ? fiber_tls_server_new(&options, &context, NULL, 0)
		    : fiber_tls_client_new(&options, &context, NULL, 0);
	assert_int_equal(rc, error);
}

static void test_context_of_a_server_needs_a_certificate(void **state)
{
	struct fiber_tls_options o = {.size = sizeof(o)};

	(void)state;
	expect_error(true, o, -EINVAL, "a server without a certificate: Invalid argument");
}

static void test_context_refuses_options_that_it_does_not_know(void **state)
{
	struct fiber_tls_options o = {.size = sizeof(o), .flags = 1u << 20};

	(void)state;
	expect_error(false, o, -EINVAL, "options: Invalid argument");
	o.flags = 0;
	o.size++;
	expect_error(false, o, -EINVAL, "options: Invalid argument");
}

static void test_context_refuses_flags_that_would_not_do_what_they_say(void **state)
{
	struct fiber_tls_options server = pair_server_options("server");
	struct fiber_tls_options client = pair_client_options();

	(void)state;
	server.flags = FIBER_TLS_NEED_CERT;
	expect_error(true, server, -EINVAL, "FIBER_TLS_NEED_CERT without ca: Invalid argument");
	server.flags = FIBER_TLS_NO_VERIFY;
	expect_error(true, server, -EINVAL, "FIBER_TLS_NO_VERIFY for a server: Invalid argument");
	client.flags = FIBER_TLS_NEED_CERT;
	expect_error(false, client, -EINVAL, "FIBER_TLS_NEED_CERT for a client: Invalid argument");
}

static void test_context_names_a_bad_list(void **state)
{
	struct fiber_tls_options o = pair_server_options("server");

	(void)state;
	o.ciphers = "NO-SUCH-CIPHER";
	expect_error(true, o, -EINVAL, "NO-SUCH-CIPHER: no cipher match");
	o.ciphers = NULL;
	o.suites = "TLS_NO_SUCH";
	expect_error(true, o, -EINVAL, "TLS_NO_SUCH: no cipher match");
	o.suites = NULL;
	o.alpn = "h2,,http/1.1";
	expect_error(true, o, -EINVAL, "h2,,http/1.1: Invalid argument");
}

static void test_context_takes_options_of_an_older_program(void **state)
{
	/* They end after the authorities. */
	struct fiber_tls_options o = {.size = offsetof(struct fiber_tls_options, alpn),
				      .ca = harness_pem("authority"),
				      .alpn = (const char *)1,
				      .flags = ~0u};
	struct fiber_tls_context *context;

	(void)state;
	assert_int_equal(fiber_tls_client_new(&o, &context, NULL, 0), 0);
	fiber_tls_context_unref(context);
}

static void test_context_speaks_nothing_older_than_version_1_2(void **state)
{
	struct pair p;

	(void)state;
	pair_contexts(&p, NULL, NULL);
	SSL_CTX_set_min_proto_version(fiber_tls_context_openssl(p.client_context), TLS1_VERSION);
	SSL_CTX_set_max_proto_version(fiber_tls_context_openssl(p.client_context), TLS1_1_VERSION);
	SSL_CTX_set_cipher_list(fiber_tls_context_openssl(p.client_context), "ALL:@SECLEVEL=0");
	pair_connect(&p, "localhost");
	pair_shake(&p);
	assert_int_equal(p.server_result, -EPROTO);
	assert_string_equal(fiber_tls_error(p.server), "unsupported protocol");
	assert_int_equal(p.client_result, -EPROTO);
	pair_close(&p);
}

static void test_context_lives_as_long_as_its_connections(void **state)
{
	struct pair p;

	(void)state;
	pair_open(&p);
	assert_ptr_equal(fiber_tls_context_ref(p.server_context), p.server_context);
	fiber_tls_context_unref(p.server_context);
	fiber_tls_context_unref(p.server_context);
	fiber_tls_context_unref(p.client_context);
	pair_shake(&p);
	assert_int_equal(p.server_result | p.client_result, 0);
	pair_disconnect(&p);
	fiber_tls_context_unref(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_context_of_a_server_needs_a_certificate),
		cmocka_unit_test(test_context_refuses_options_that_it_does_not_know),
		cmocka_unit_test(test_context_refuses_flags_that_would_not_do_what_they_say),
		cmocka_unit_test(test_context_names_a_bad_list),
		cmocka_unit_test(test_context_takes_options_of_an_older_program),
		cmocka_unit_test(test_context_speaks_nothing_older_than_version_1_2),
		cmocka_unit_test(test_context_lives_as_long_as_its_connections),
	};

	harness_watchdog(100);
	return cmocka_run_group_tests(tests, pair_certificates, NULL);
}
