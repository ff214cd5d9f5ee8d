/* SPDX-License-Identifier: MIT */
/* test_names.c - a server shows the certificate for the name that a client asks for */
#include "pair.h"

#include <openssl/ssl.h>

static int make_certificates(void **state)
{
	pair_certificates(state);
	harness_certify("other", "authority", "DNS:other.example,DNS:*.wild.example", 1);
	harness_certify("client", "authority", "DNS:client.example", 1);
	harness_certify("third", "authority", "DNS:third.example", 1);
	return 0;
}

static void open_contexts(struct pair *p)
{
	struct fiber_tls_options o = pair_server_options("server");

	o.alpn = "h2";
	pair_contexts(p, &o, NULL);
	assert_int_equal(fiber_tls_add_certificate(p->server_context, harness_pem("other"),
						   harness_key("other"), NULL, 0),
			 0);
	assert_int_equal(fiber_tls_add_certificate(p->server_context, harness_pem("third"),
						   harness_key("third"), NULL, 0),
			 0);
}

static void test_names_select_the_certificate_that_is_valid_for_the_host(void **state)
{
	static const char *const hosts[] = {"localhost", "other.example", "a.wild.example",
					    "third.example", "127.0.0.1"};
	struct fiber_tls_info info;
	struct pair p;

	(void)state;
	open_contexts(&p);
	for (size_t i = 0; i < COUNT(hosts); i++) {
		pair_connect(&p, hosts[i]);
		pair_shake(&p);
		assert_int_equal(p.client_result, 0);
		assert_int_equal(p.server_result, 0);
		assert_int_equal(fiber_tls_info(p.server, &info), 0);
		/* An address is not sent as a name. */
		assert_string_equal(info.host, i < 4 ? hosts[i] : "");
		pair_disconnect(&p);
	}
	fiber_tls_context_unref(p.server_context);
	fiber_tls_context_unref(p.client_context);
}

/* Shake hands for an added name with a server that has these options. */
static void shake_for_added(struct pair *p, const struct fiber_tls_options *server,
			    const struct fiber_tls_options *client, int version)
{
	pair_contexts(p, server, client);
	assert_int_equal(fiber_tls_add_certificate(p->server_context, harness_pem("other"),
						   harness_key("other"), NULL, 0),
			 0);
	SSL_CTX_set_max_proto_version(fiber_tls_context_openssl(p->client_context), version);
	pair_connect(p, "other.example");
	pair_shake(p);
}

static void test_names_keep_the_protocols_and_ciphers_of_the_context(void **state)
{
	struct fiber_tls_options server = pair_server_options("server");
	struct fiber_tls_options client = pair_client_options();
	struct fiber_tls_info info;
	struct pair p;

	(void)state;
	server.alpn = "h2,http/1.1";
	server.ciphers = "ECDHE-ECDSA-AES128-GCM-SHA256";
	client.alpn = "http/1.1";
	shake_for_added(&p, &server, &client, TLS1_2_VERSION);
	assert_int_equal(p.client_result | p.server_result, 0);
	assert_int_equal(fiber_tls_info(p.client, &info), 0);
	assert_string_equal(info.alpn, "http/1.1");
	assert_string_equal(info.cipher, "ECDHE-ECDSA-AES128-GCM-SHA256");
	pair_close(&p);
}

static void test_names_keep_the_authorities_of_the_context(void **state)
{
	static const int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};
	struct fiber_tls_options server = pair_server_options("server");
	struct fiber_tls_options client = pair_client_options();
	struct pair p;

	(void)state;
	server.flags = FIBER_TLS_NEED_CERT;
	server.ca = harness_pem("authority");
	client.certificate = harness_pem("client");
	client.key = harness_key("client");
	for (size_t i = 0; i < COUNT(versions); i++) {
		shake_for_added(&p, &server, &client, versions[i]);
		assert_int_equal(p.server_result, 0);
		assert_int_equal(p.client_result, 0);
		pair_close(&p);
	}
}

static void test_names_that_nobody_has_get_the_certificate_of_the_context(void **state)
{
	struct pair p;

	(void)state;
	open_contexts(&p);
	pair_connect(&p, "unknown.example");
	pair_shake(&p);
	assert_int_equal(p.client_result, -EACCES);
	assert_string_equal(fiber_tls_error(p.client), "hostname mismatch");
	pair_close(&p);
}

static void test_names_are_added_only_with_a_certificate_and_its_key(void **state)
{
	char text[256], expected[600];
	struct pair p;

	(void)state;
	pair_contexts(&p, NULL, NULL);
	assert_int_equal(fiber_tls_add_certificate(p.server_context, harness_pem("other"),
						   harness_key("third"), text, sizeof(text)),
			 -EINVAL);
	snprintf(expected, sizeof(expected), "%s: key values mismatch", harness_key("third"));
	assert_string_equal(text, expected);
	assert_int_equal(fiber_tls_add_certificate(p.server_context, "/no/such.pem", NULL, text,
						   sizeof(text)),
			 -ENOENT);
	assert_string_equal(text, "/no/such.pem: No such file or directory");
	assert_int_equal(fiber_tls_add_certificate(p.client_context, harness_pem("other"),
						   harness_key("other"), text, sizeof(text)),
			 -EINVAL);
	assert_string_equal(text, "a client has no names to add: Invalid argument");
	fiber_tls_context_unref(p.server_context);
	fiber_tls_context_unref(p.client_context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_select_the_certificate_that_is_valid_for_the_host),
		cmocka_unit_test(test_names_keep_the_protocols_and_ciphers_of_the_context),
		cmocka_unit_test(test_names_keep_the_authorities_of_the_context),
		cmocka_unit_test(test_names_that_nobody_has_get_the_certificate_of_the_context),
		cmocka_unit_test(test_names_are_added_only_with_a_certificate_and_its_key),
	};

	harness_watchdog(100);
	return cmocka_run_group_tests(tests, make_certificates, NULL);
}
