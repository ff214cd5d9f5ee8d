/* SPDX-License-Identifier: MIT */
/* test_fixtures.c - each fixture prints its help and refuses unknown arguments */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness/cli/cli.h"
#include "tests/harness/cli/crowd.h"
#include "tests/harness/watchdog.h"

static const char *const fixtures[] = {
	"httpd",    "httpd-threads", "httpd-epoll", "proxy",   "idle",	 "load",
	"crowd",    "spin",	     "overflow",    "labels",  "places", "family",
	"deadlock", "figures",	     "drift",	    "ages",    "turns",	 "names",
	"liar",	    "astray",	     "become",	    "nameless"};
#define FIXTURES (sizeof(fixtures) / sizeof(fixtures[0]))

static void test_fixtures_have_help(void **state)
{
	(void)state;
	for (size_t i = 0; i < FIXTURES; i++) {
		struct harness_process *p = cli_run(fixtures[i], "--help", NULL);
		char usage[32];

		cli_expect(p, 0);
		snprintf(usage, sizeof(usage), "Usage: %s", fixtures[i]);
		cli_contains(p->out.bytes, usage);
		assert_string_equal(p->err.bytes, "");
		harness_free(p);
	}
}

static void test_fixtures_refuse_bad_arguments_with_64(void **state)
{
	static const char *const bad[][3] = {
		{"httpd", "--port", "70000"},
		{"httpd", "--port", "x"},
		{"httpd", "--carriers", "0"},
		{"httpd", "stray", NULL},
		{"httpd", "--patience", "0"},
		{"httpd", "--tls", "only-one"},
		{"httpd-threads", "--carriers", "2"},
		{"httpd-epoll", "--tls", "cert"},
		{"httpd-epoll", "--workers", "0"},
		{"httpd-epoll", "stray", NULL},
		{"proxy", NULL, NULL},
		{"proxy", "--to", "0"},
		{"idle", NULL, NULL},
		{"idle", "10", NULL},
		{"load", NULL, NULL},
		{"load", "0", NULL},
		{"load", "80", "--hold"},
		{"crowd", NULL, NULL},
		{"crowd", "0", NULL},
		{"crowd", "-3", NULL},
		{"crowd", "12x", NULL},
		{"crowd", "1", "2"},
		{"spin", "--carriers", "many"},
		{"spin", "--unknown", NULL},
		{"overflow", "--stack", "1000"},
		{"overflow", "stray", NULL},
		{"labels", "stray", NULL},
		{"names", "stray", NULL},
		{"nameless", "stray", NULL},
		{"liar", NULL, NULL},
		{"liar", "truth", NULL},
		{"places", NULL, NULL},
		{"places", "10", "--places=2000"},
		{"family", "stray", NULL},
		{"family", "--links", "0"},
		{"deadlock", "--ring", "1"},
		{"deadlock", "--behind", "1"},
		{"deadlock", "stray", NULL},
		{"figures", "stray", NULL},
		{"figures", "--carriers", "0"},
		{"drift", "stray", NULL},
		{"ages", "--carriers", "0"},
		{"become", NULL, NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cli_expect_error(cli_run(bad[i][0], bad[i][1], bad[i][2], NULL), 64, bad[i][0], "");
}

static void test_httpd_says_when_its_port_is_taken(void **state)
{
	struct harness_process *first = cli_start(NULL, "listening on ", "httpd", NULL);
	const char *const port = strrchr(first->line, ':') + 1;

	(void)state;
	cli_expect_error(cli_run("httpd", "--port", port, NULL), 1, "httpd",
			 "Address already in use");
	harness_free(first);
}

/* At any size, each kind has the helpers that it needs. */
static void test_crowd_settles_at_any_size(void **state)
{
	static const char *const sizes[] = {"1", "2", "11", "13", "500"};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct crowd crowd = crowd_start(NULL, "crowd", sizes[i], NULL);

		assert_int_equal(crowd.count, strtoul(sizes[i], NULL, 10));
		crowd_end(&crowd);
	}
	struct crowd crowd = crowd_start(NULL, "crowd", "24", "--stuck");

	assert_int_equal(crowd.count, 24 + 2);
	assert_non_null(crowd_find(&crowd, "yield", "yield-"));
	assert_non_null(crowd_find(&crowd, "running", "running-"));
	crowd_end(&crowd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fixtures_have_help),
		cmocka_unit_test(test_fixtures_refuse_bad_arguments_with_64),
		cmocka_unit_test(test_httpd_says_when_its_port_is_taken),
		cmocka_unit_test(test_crowd_settles_at_any_size),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
