/* SPDX-License-Identifier: MIT */
/* test_fiberctl_serve_profiles.c - go tool pprof reads each profile of the server over HTTP */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness/cli/serve.h"
#include "tests/harness/watchdog.h"

static struct serve server;
static struct harness_process *computing, *locked;

static int begin(void **state)
{
	(void)state;
	if (access("/usr/bin/go", X_OK) != 0)
		fail_msg("go is not installed: make deps installs golang-go, with go tool pprof");
	computing = cli_start(NULL, "ready", "compute", NULL);
	locked = cli_start(NULL, "ready", "deadlock", "--crossing", NULL);
	server = serve_start(NULL, NULL);
	return 0;
}

static int finish(void **state)
{
	(void)state;
	serve_end(&server);
	harness_free(locked);
	harness_free(computing);
	return 0;
}

/* What go prints of a profile. It keeps a copy of each, here in the folder of the test. */
static struct harness_process *fetched(const char *profile, const struct harness_process *of,
				       const char *seconds)
{
	char url[256], folder[HARNESS_PATH + 32], where[HARNESS_PATH];
	const char *env[] = {folder, NULL};
	const struct harness_how how = {.env = env};
	struct harness_process *p;

	snprintf(folder, sizeof folder, "PPROF_TMPDIR=%s", harness_file(where, "pprof"));
	snprintf(url, sizeof url, "http://127.0.0.1:%u/debug/pprof/%s?process=%d%s", server.port,
		 profile, (int)of->pid, seconds);
	p = cli_run_how(&how, "/usr/bin/go", "tool", "pprof", "-top", url, NULL);
	cli_expect(p, 0);
	return p;
}

static void test_pprof_reads_the_stacks_of_all_fibers(void **state)
{
	struct harness_process *p = fetched("fiber", locked, "");

	(void)state;
	cli_contains(p->out.bytes, "Type: fibers");
	cli_contains(p->out.bytes, "member_main");
	harness_free(p);
}

static void test_pprof_reads_where_carriers_computed(void **state)
{
	struct harness_process *p;

	(void)state;
	if (strcmp(harness_sanitizer(), "thread") == 0)
		cli_skip("handlers are called late under ThreadSanitizer");
	p = fetched("profile", computing, "&seconds=2");
	cli_contains(p->out.bytes, "Type: cpu");
	cli_contains(p->out.bytes, "compute_three");
	harness_free(p);
}

static void test_pprof_reads_where_fibers_waited_and_behind_whom(void **state)
{
	struct harness_process *p = fetched("block", locked, "&seconds=1");

	(void)state;
	cli_contains(p->out.bytes, "Type: delay");
	cli_contains(p->out.bytes, "member_main");
	harness_free(p);
	p = fetched("mutex", locked, "&seconds=1");
	cli_contains(p->out.bytes, "Type: delay");
	cli_contains(p->out.bytes, "held by");
	harness_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pprof_reads_the_stacks_of_all_fibers),
		cmocka_unit_test(test_pprof_reads_where_carriers_computed),
		cmocka_unit_test(test_pprof_reads_where_fibers_waited_and_behind_whom),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, begin, finish);
}
