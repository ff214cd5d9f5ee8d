/* SPDX-License-Identifier: MIT */
/*
 * test_net_httpd.c - fixtures/httpd and its client, fixtures/load, run in one schedule
 *
 * Their objects are linked as they are; only the names of their main functions differ. The client
 * knows no fibers: it uses blocking calls. What they keep in variables is set back by the options.
 */
#include <getopt.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include <fiber.h>
#include <fiber/test.h>

#define MS INT64_C(1000000)

int httpd_main(int argc, char **argv);
int load_main(int argc, char **argv);

/* The variables of both programs: sections of their objects. */
extern char __start_fixture_zeroes[], __stop_fixture_zeroes[];
extern char __start_fixture_values[], __stop_fixture_values[];

static void *run_httpd(void *arg)
{
	char *argv[] = {(char *)"httpd", (char *)"--port", (char *)"8080", (char *)"--quiet", NULL};

	(void)arg;
	optind = 0; /* getopt(3) starts again */
	fiber_test_assert(httpd_main(4, argv) == 0);
	return NULL;
}

static void *run_load(void *arg)
{
	char *argv[] = {(char *)"load",	   (char *)"8080",    (char *)"--connections",
			(char *)"3",	   (char *)"--sleep", (char *)"5",
			(char *)"--pause", (char *)"20",      NULL};

	(void)arg;
	optind = 0;
	fiber_test_assert(load_main(8, argv) == 0);
	return NULL;
}

/* What load prints goes to a file. */
static int catch_output(void)
{
	static int file = -1;

	fflush(stdout);
	if (file < 0) {
		file = memfd_create("load", MFD_CLOEXEC);
		fiber_test_assert(file >= 0 && dup2(file, STDOUT_FILENO) == STDOUT_FILENO);
	}
	fiber_test_assert(ftruncate(file, 0) == 0 && lseek(file, 0, SEEK_SET) == 0);
	return file;
}

static void serve_and_load(void *arg)
{
	const int output = catch_output();
	struct fiber *httpd, *load;
	char text[4096];
	ssize_t n;

	(void)arg;
	fiber_spawn(run_httpd, NULL, &httpd);
	fiber_test_settle(); /* it listens */
	fiber_spawn(run_load, NULL, &load);
	fiber_sleep(100 * MS);
	raise(SIGALRM);
	fiber_join(load, NULL, FIBER_FOREVER);
	kill(getpid(), SIGTERM);
	fiber_join(httpd, NULL, FIBER_FOREVER);
	fflush(stdout);
	n = pread(output, text, sizeof text - 1, 0);
	text[n > 0 ? n : 0] = 0;
	if (!strstr(text, "open 3\n") || !strstr(text, "round 1: 2 answers\n") ||
	    !strstr(text, "round 3: 2 answers\n"))
		fiber_test_fail("load has printed '%s'", text);
}

static void test_httpd_and_its_client_run_in_one_schedule(void **state)
{
	const struct fiber_test_memory memory[] = {
		{__start_fixture_zeroes,
		 (uintptr_t)__stop_fixture_zeroes - (uintptr_t)__start_fixture_zeroes},
		{__start_fixture_values,
		 (uintptr_t)__stop_fixture_values - (uintptr_t)__start_fixture_values},
	};
	const struct fiber_test_options options = {.size = sizeof options,
						   .schedules = 100,
						   .slack = -1,
						   .memory = memory,
						   .nmemory = 2};
	struct fiber_test_result result = {.size = sizeof result};

	(void)state;
	setenv("FIBER_CONTROL", "off", 1);
	fiber_test_explore(serve_and_load, NULL, &options, &result);
	assert_string_equal(result.message, "");
	assert_int_equal(result.verdict, FIBER_TEST_PASSED);
	assert_int_equal(result.schedules, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_httpd_and_its_client_run_in_one_schedule),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
