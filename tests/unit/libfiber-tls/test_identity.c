/* SPDX-License-Identifier: MIT */
/* test_identity.c - a certificate and a key that do not fit are an error that names the file */
#include "pair.h"

#include <openssl/err.h>

#include "libfiber-tls/failure.h"
#include "libfiber-tls/identity.h"
#include "tests/harness/process.h"

static void expect(const char *certificate, const char *key, int error, const char *file,
		   const char *why)
{
	SSL_CTX *const openssl = SSL_CTX_new(TLS_server_method());
	const char *named = NULL;
	char text[256];

	assert_int_equal(fib_tls_identity(openssl, certificate, key, &named), error);
	fib_tls_queue_text(text, sizeof(text));
	assert_string_equal(named, file);
	assert_string_equal(text, why);
	SSL_CTX_free(openssl);
}

static const char *write_file(char *buf, const char *name, const char *text)
{
	FILE *file = fopen(harness_file(buf, name), "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	return buf;
}

static void run(const char *command)
{
	const char *const argv[] = {"sh", "-c", command, NULL};
	struct harness_process *p = harness_run(argv, NULL, 60);

	assert_int_equal(harness_exit_code(p), 0);
	harness_free(p);
}

static void test_identity_names_the_file_that_is_missing(void **state)
{
	(void)state;
	expect("/no/such.pem", NULL, -ENOENT, "/no/such.pem", "");
	expect(harness_pem("server"), "/no/such.key", -ENOENT, "/no/such.key", "");
}

static void test_identity_names_the_file_with_something_else_in_it(void **state)
{
	char other[HARNESS_PATH];

	(void)state;
	write_file(other, "other", "no certificate\n");
	expect(other, harness_key("server"), -EINVAL, other, "no start line");
	expect(harness_pem("server"), harness_pem("server"), -EINVAL, harness_pem("server"),
	       "unsupported");
}

static void test_identity_of_two_pairs_is_refused(void **state)
{
	(void)state;
	expect(harness_pem("server"), harness_key("authority"), -EINVAL, harness_key("authority"),
	       "key values mismatch");
}

static void test_identity_is_in_one_file_or_in_two(void **state)
{
	char command[4 * HARNESS_PATH], both[HARNESS_PATH];

	(void)state;
	harness_file(both, "both.pem");
	snprintf(command, sizeof(command), "cat %s %s >%s", harness_pem("server"),
		 harness_key("server"), both);
	run(command);
	expect(both, NULL, 0, both, "");
	expect(harness_pem("server"), harness_key("server"), 0, harness_key("server"), "");
}

/* OpenSSL would ask for it at the terminal. */
static void test_identity_with_a_passphrase_is_refused_and_asks_nobody(void **state)
{
	char command[4 * HARNESS_PATH], locked[HARNESS_PATH];
	SSL_CTX *const openssl = SSL_CTX_new(TLS_server_method());
	const char *file;

	(void)state;
	harness_file(locked, "locked.key");
	snprintf(command, sizeof(command), "openssl ec -aes128 -passout pass:x -in %s  -out %s",
		 harness_key("server"), locked);
	run(command);
	assert_int_equal(fib_tls_identity(openssl, harness_pem("server"), locked, &file), -EINVAL);
	assert_string_equal(file, locked);
	ERR_clear_error();
	SSL_CTX_free(openssl);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_identity_names_the_file_that_is_missing),
		cmocka_unit_test(test_identity_names_the_file_with_something_else_in_it),
		cmocka_unit_test(test_identity_of_two_pairs_is_refused),
		cmocka_unit_test(test_identity_is_in_one_file_or_in_two),
		cmocka_unit_test(test_identity_with_a_passphrase_is_refused_and_asks_nobody),
	};

	harness_watchdog(100);
	return cmocka_run_group_tests(tests, pair_certificates, NULL);
}
