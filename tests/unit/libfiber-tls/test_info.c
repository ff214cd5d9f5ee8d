/* SPDX-License-Identifier: MIT */
/* test_info.c - both sides are told what the handshake agreed on */
#include "pair.h"

#include <openssl/ssl.h>

static void test_info_is_there_after_the_handshake_only(void **state)
{
	struct fiber_tls_info info = {.version = "untouched"};
	struct pair p;

	(void)state;
	pair_open(&p);
	assert_int_equal(fiber_tls_info(p.client, &info), -ENOTCONN);
	assert_string_equal(info.version, "untouched");
	pair_shake(&p);
	assert_int_equal(fiber_tls_info(p.client, &info), 0);
	assert_string_equal(info.version, "TLSv1.3");
	assert_string_equal(info.cipher, "TLS_AES_256_GCM_SHA384");
	assert_string_equal(info.alpn, "");
	assert_string_equal(info.host, "localhost");
	assert_false(info.resumed);
	assert_int_equal(fiber_tls_info(p.server, &info), 0);
	assert_string_equal(info.host, "localhost");
	pair_close(&p);
}

static void test_info_names_the_ciphers_that_the_options_allow(void **state)
{
	struct fiber_tls_options server = pair_server_options("server");
	struct fiber_tls_info info;
	struct pair p;

	(void)state;
	server.suites = "TLS_CHACHA20_POLY1305_SHA256";
	server.ciphers = "ECDHE-ECDSA-AES128-GCM-SHA256";
	pair_contexts(&p, &server, NULL);
	pair_connect(&p, "localhost");
	pair_shake(&p);
	assert_int_equal(fiber_tls_info(p.client, &info), 0);
	assert_string_equal(info.cipher, "TLS_CHACHA20_POLY1305_SHA256");
	pair_disconnect(&p);
	SSL_CTX_set_max_proto_version(fiber_tls_context_openssl(p.client_context), TLS1_2_VERSION);
	pair_connect(&p, "localhost");
	pair_shake(&p);
	assert_int_equal(fiber_tls_info(p.client, &info), 0);
	assert_string_equal(info.version, "TLSv1.2");
	assert_string_equal(info.cipher, "ECDHE-ECDSA-AES128-GCM-SHA256");
	pair_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_info_is_there_after_the_handshake_only),
		cmocka_unit_test(test_info_names_the_ciphers_that_the_options_allow),
	};

	harness_watchdog(100);
	return cmocka_run_group_tests(tests, pair_certificates, NULL);
}
