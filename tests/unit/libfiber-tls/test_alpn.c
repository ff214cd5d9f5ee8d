/* SPDX-License-Identifier: MIT */
/* test_alpn.c - both sides speak the protocol that the server prefers, or do not connect */
#include "pair.h"

static void shake(struct pair *p, const char *server_list, const char *client_list)
{
	struct fiber_tls_options server = pair_server_options("server");
	struct fiber_tls_options client = pair_client_options();

	server.alpn = server_list;
	client.alpn = client_list;
	pair_contexts(p, &server, &client);
	pair_connect(p, "localhost");
	pair_shake(p);
}

static void expect(const char *server_list, const char *client_list, const char *protocol)
{
	struct fiber_tls_info server, client;
	struct pair p;

	shake(&p, server_list, client_list);
	assert_int_equal(p.server_result | p.client_result, 0);
	assert_int_equal(fiber_tls_info(p.server, &server), 0);
	assert_int_equal(fiber_tls_info(p.client, &client), 0);
	assert_string_equal(server.alpn, protocol);
	assert_string_equal(client.alpn, protocol);
	pair_close(&p);
}

static void test_alpn_selects_what_the_server_prefers(void **state)
{
	(void)state;
	expect("h2,http/1.1", "http/1.1,h2", "h2");
	expect("http/1.1", "h2,http/1.1", "http/1.1");
}

static void test_alpn_is_empty_where_one_side_has_no_list(void **state)
{
	(void)state;
	expect(NULL, "h2", "");
	expect("h2", NULL, "");
	expect(NULL, NULL, "");
}

static void test_alpn_without_a_shared_protocol_fails_on_both_sides(void **state)
{
	struct pair p;

	(void)state;
	shake(&p, "h2,h3", "http/1.1");
	assert_int_equal(p.server_result, -EPROTO);
	assert_string_equal(fiber_tls_error(p.server), "no application protocol");
	assert_int_equal(p.client_result, -EPROTO);
	assert_string_equal(fiber_tls_error(p.client), "tlsv1 alert no application protocol");
	pair_close(&p);
}

static void test_alpn_refuses_names_that_are_empty_or_too_long(void **state)
{
	struct fiber_tls_options o = pair_client_options();
	struct fiber_tls_context *context;
	char name[300];

	(void)state;
	memset(name, 'x', sizeof(name));
	o.alpn = name;
	name[256] = '\0';
	assert_int_equal(fiber_tls_client_new(&o, &context, NULL, 0), -EINVAL);
	name[255] = '\0';
	assert_int_equal(fiber_tls_client_new(&o, &context, NULL, 0), 0);
	fiber_tls_context_unref(context);
	for (size_t i = 0; i < 4; i++) {
		o.alpn = (const char *const[]){"", ",h2", "h2,", "h2,,h3"}[i];
		assert_int_equal(fiber_tls_client_new(&o, &context, NULL, 0), -EINVAL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alpn_selects_what_the_server_prefers),
		cmocka_unit_test(test_alpn_is_empty_where_one_side_has_no_list),
		cmocka_unit_test(test_alpn_without_a_shared_protocol_fails_on_both_sides),
		cmocka_unit_test(test_alpn_refuses_names_that_are_empty_or_too_long),
	};

	harness_watchdog(100);
	return cmocka_run_group_tests(tests, pair_certificates, NULL);
}
