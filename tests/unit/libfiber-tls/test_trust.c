/* SPDX-License-Identifier: MIT */
/* test_trust.c - the authorities come from the file that was named, or from the system's */
#include "pair.h"

#include "libfiber-tls/failure.h"
#include "libfiber-tls/trust.h"

static int certificates_in(SSL_CTX *openssl)
{
	X509_STORE *const store = SSL_CTX_get_cert_store(openssl);

	return sk_X509_OBJECT_num(X509_STORE_get0_objects(store));
}

static void test_trust_takes_the_authorities_of_the_file(void **state)
{
	SSL_CTX *const openssl = SSL_CTX_new(TLS_client_method());
	const char *file;

	(void)state;
	assert_int_equal(fib_tls_trust(openssl, harness_pem("authority"), &file), 0);
	assert_int_equal(certificates_in(openssl), 1);
	SSL_CTX_free(openssl);
}

static void test_trust_names_a_file_that_is_missing_or_has_none(void **state)
{
	SSL_CTX *const openssl = SSL_CTX_new(TLS_client_method());
	const char *file;
	char text[256];

	(void)state;
	assert_int_equal(fib_tls_trust(openssl, "/no/such.pem", &file), -ENOENT);
	assert_string_equal(file, "/no/such.pem");
	assert_int_equal(fib_tls_trust(openssl, harness_key("server"), &file), -EINVAL);
	assert_string_equal(file, harness_key("server"));
	fib_tls_queue_text(text, sizeof(text));
	assert_string_not_equal(text, "");
	SSL_CTX_free(openssl);
}

static void test_trust_finds_the_file_that_the_environment_names(void **state)
{
	SSL_CTX *const openssl = SSL_CTX_new(TLS_client_method());
	const char *file;

	(void)state;
	setenv("SSL_CERT_FILE", harness_pem("authority"), 1);
	assert_int_equal(fib_tls_trust(openssl, NULL, &file), 0);
	assert_int_equal(certificates_in(openssl), 1);
	setenv("SSL_CERT_FILE", "/no/such.pem", 1);
	assert_int_equal(fib_tls_trust(openssl, NULL, &file), -ENOENT);
	assert_string_equal(file, "/no/such.pem");
	unsetenv("SSL_CERT_FILE");
	SSL_CTX_free(openssl);
}

/* The system may have no file of authorities; that is an error with a text. */
static void test_trust_finds_the_file_of_the_system_or_says_that_there_is_none(void **state)
{
	SSL_CTX *const openssl = SSL_CTX_new(TLS_client_method());
	const char *file;
	const int error = fib_tls_trust(openssl, NULL, &file);

	(void)state;
	if (error) {
		assert_int_equal(error, -ENOENT);
		assert_string_equal(file, "the system's certificates of authorities");
	} else {
		assert_true(certificates_in(openssl) > 1);
		assert_int_equal(file[0], '/');
	}
	SSL_CTX_free(openssl);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trust_takes_the_authorities_of_the_file),
		cmocka_unit_test(test_trust_names_a_file_that_is_missing_or_has_none),
		cmocka_unit_test(test_trust_finds_the_file_that_the_environment_names),
		cmocka_unit_test(
			test_trust_finds_the_file_of_the_system_or_says_that_there_is_none),
	};

	harness_watchdog(100);
	return cmocka_run_group_tests(tests, pair_certificates, NULL);
}
