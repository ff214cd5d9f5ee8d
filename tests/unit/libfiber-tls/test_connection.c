/* SPDX-License-Identifier: MIT */
/* test_connection.c - handshakes: who is accepted, who is refused and why, and what interrupts them */
#include "pair.h"

static void test_connection_is_made_and_verified(void **state)
{
	struct pair p;

	(void)state;
	pair_open(&p);
	pair_shake(&p);
	assert_int_equal(p.server_result, 0);
	assert_int_equal(p.client_result, 0);
	assert_string_equal(fiber_tls_error(p.client), "");
	pair_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_connection_is_made_and_verified),
	};

	harness_watchdog(100);
	return cmocka_run_group_tests(tests, pair_certificates, NULL);
}
