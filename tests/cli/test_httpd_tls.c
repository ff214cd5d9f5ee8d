/* SPDX-License-Identifier: MIT */
/* test_httpd_tls.c - httpd --tls serves curl, and drops clients that do not speak TLS */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/harness/certificates.h"
#include "tests/harness/cli/http.h"
#include "tests/harness/watchdog.h"

static struct harness_process *server;
static unsigned port;
static char file[HARNESS_PATH];

static int start(void **state)
{
	(void)state;
	harness_authority("authority");
	harness_certify("server", "authority", "DNS:localhost", 1);
	http_make_file("page", 3 << 20, file);
	server = cli_start(NULL, "listening on ", "httpd", "--carriers", "2", "--patience", "1000",
			   "--file", file, "--tls", harness_pem("server"), harness_key("server"),
			   NULL);
	port = (unsigned)strtoul(strrchr(server->line, ':') + 1, NULL, 10);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	harness_end(server);
	harness_free(server);
	return 0;
}

/* GET with curl, which verifies the certificate. */
static struct harness_process *get(const char *path, const char *option, const char *value)
{
	char url[128];
	const char *const argv[] = {
		"curl", "-s",	"-S",  "--max-time", "60", "--cacert", harness_pem("authority"),
		url,	option, value, NULL};

	snprintf(url, sizeof(url), "https://localhost:%u%s", port, path);
	return harness_run(argv, NULL, 90);
}

static void test_httpd_tls_answers_curl(void **state)
{
	struct harness_process *p = get("/", NULL, NULL);

	(void)state;
	assert_string_equal(p->err.bytes, "");
	assert_string_equal(p->out.bytes, "hello\n");
	cli_ended(p, 0);
}

static void test_httpd_tls_speaks_version_1_2_too(void **state)
{
	struct harness_process *p = get("/sleep?ms=1", "--tls-max", "1.2");

	(void)state;
	assert_string_equal(p->err.bytes, "");
	assert_string_equal(p->out.bytes, "slept\n");
	cli_ended(p, 0);
}

static void test_httpd_tls_sends_a_large_file_unharmed(void **state)
{
	char copy[HARNESS_PATH];
	struct harness_process *p = get("/file", "-o", harness_file(copy, "copy"));
	const char *const compare[] = {"cmp", file, copy, NULL};

	(void)state;
	cli_ended(p, 0);
	cli_ended(harness_run(compare, NULL, 60), 0);
}

static void test_httpd_tls_drops_a_client_that_speaks_plain_http(void **state)
{
	const int fd = http_connect(port);
	char bytes[256];

	(void)state;
	http_send(fd, HTTP_GET("/"));
	assert_int_equal(http_rest(fd, bytes, sizeof(bytes)), 0);
	close(fd);
}

static void test_httpd_tls_drops_a_silent_client_after_its_patience(void **state)
{
	const int fd = http_connect(port);
	char bytes[256];

	(void)state;
	assert_int_equal(http_rest(fd, bytes, sizeof(bytes)), 0);
	close(fd);
}

static void test_httpd_tls_without_its_files_names_the_missing_one(void **state)
{
	(void)state;
	cli_expect_error(cli_run("httpd", "--tls", "/no/such.pem", harness_key("server"), NULL), 1,
			 "httpd", "/no/such.pem: No such file or directory");
	cli_expect_error(
		cli_run("httpd", "--tls", harness_pem("server"), harness_key("authority"), NULL), 1,
		"httpd", "key values mismatch");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_httpd_tls_answers_curl),
		cmocka_unit_test(test_httpd_tls_speaks_version_1_2_too),
		cmocka_unit_test(test_httpd_tls_sends_a_large_file_unharmed),
		cmocka_unit_test(test_httpd_tls_drops_a_client_that_speaks_plain_http),
		cmocka_unit_test(test_httpd_tls_drops_a_silent_client_after_its_patience),
		cmocka_unit_test(test_httpd_tls_without_its_files_names_the_missing_one),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, start, stop);
}
