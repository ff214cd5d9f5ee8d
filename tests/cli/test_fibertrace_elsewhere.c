/* SPDX-License-Identifier: MIT */
/* test_fibertrace_elsewhere.c - cores of another machine: sysroot, debug folders, debuginfod */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/harness/cli/dead.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

/* own: the program that ran, stripped; removed before the tests start. */
static char core[HARNESS_PATH], own[HARNESS_PATH], kept[HARNESS_PATH], debug[HARNESS_PATH];
static char build_id[128];
static char *live; /* the answer with --each while own existed */

static void shell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void shell(const char *fmt, ...)
{
	char command[6 * HARNESS_PATH];
	va_list args;

	va_start(args, fmt);
	vsnprintf(command, sizeof(command), fmt, args);
	va_end(args);
	if (system(command) != 0) /* NOLINT(cert-env33-c) */
		fail_msg("failed: %s", command);
}

static void read_build_id(void)
{
	char command[2 * HARNESS_PATH], line[256];
	const char *at;
	FILE *out;

	snprintf(command, sizeof(command), "readelf -n '%s'", own);
	out = popen(command, "r"); /* NOLINT(cert-env33-c) */
	assert_non_null(out);
	while (fgets(line, sizeof(line), out)) {
		at = strstr(line, "Build ID: ");
		if (at)
			sscanf(at + 10, "%127[0-9a-f]", build_id);
	}
	pclose(out);
	assert_true(strlen(build_id) > 8);
}

static int start(void **state)
{
	char program[HARNESS_PATH];

	(void)state;
	if (*harness_sanitizer())
		return 0;
	harness_file(own, "crowd-elsewhere");
	harness_file(kept, "crowd-kept");
	harness_file(debug, "debug-of-it");
	shell("cp '%s' '%s' && objcopy --only-keep-debug '%s' '%s' && strip '%s' && cp '%s' '%s'",
	      harness_program(program, "crowd"), own, own, debug, own, own, kept);
	read_build_id();
	live = dead_crowd(own, "a-core", core);
	if (!live)
		return 0;
	return unlink(own);
}

/* Put a file at its build-id path below a new folder; the path in buf. */
static void by_build_id(const char *file, const char *folder, const char *suffix, char *buf)
{
	harness_file(buf, folder);
	shell("mkdir -p '%s/.build-id/%.2s' && cp '%s' '%s/.build-id/%.2s/%s%s'", buf, build_id,
	      file, buf, build_id, build_id + 2, suffix);
}

static void test_without_the_executable_every_fiber_is_listed(void **state)
{
	struct harness_process *p;
	json_t *answer, *then;

	(void)state;
	dead_needed(core);
	p = cli_run("fibertrace", core, "--json", "--each", NULL);
	cli_expect(p, 1);
	cli_contains(p->out.bytes, "the file of ");
	answer = json_answer(p);
	then = json_loads(live, 0, NULL);
	assert_int_equal(json_int(answer, "total"), json_int(then, "total"));
	assert_int_equal(json_array_size(json_object_get(answer, "fibers")),
			 json_array_size(json_object_get(then, "fibers")));
	json_decref(answer);
	json_decref(then);
	harness_free(p);
}

static void test_a_sysroot_gives_the_answer_of_the_machine_itself(void **state)
{
	char root[HARNESS_PATH];
	struct harness_process *p;

	(void)state;
	dead_needed(core);
	harness_file(root, "root");
	/* The path goes through a link to an absolute path of that machine. */
	shell("mkdir -p '%s/real' && mkdir -p \"$(dirname \"$(dirname '%s%s')\")\" && "
	      "ln -s /real \"$(dirname '%s%s')\" && cp '%s' '%s/real/crowd-elsewhere'",
	      root, root, own, root, own, kept, root);
	p = cli_run("fibertrace", core, "--json", "--each", "--sysroot", root, NULL);
	cli_expect(p, 0);
	assert_string_equal(p->out.bytes, live);
	harness_free(p);
	/* Also with a command. */
	p = cli_run("fibertrace", "bt", core, "5", "--sysroot", root, NULL);
	cli_ended(p, 0);
	/* Another program in its place is rejected with a message. */
	shell("cp /bin/sleep '%s/real/crowd-elsewhere'", root);
	p = cli_run("fibertrace", core, "--sysroot", root, NULL);
	cli_expect(p, 1);
	cli_contains(p->out.bytes, "real/crowd-elsewhere is not the one that ran");
	harness_free(p);
}

static void test_an_executable_and_its_debug_file_are_found_by_build_id(void **state)
{
	char folder[HARNESS_PATH], both[2 * HARNESS_PATH + 16];
	struct harness_process *p;

	(void)state;
	dead_needed(core);
	by_build_id(kept, "executables", "", folder);
	p = cli_run("fibertrace", core, "--json", "--each", "--debug-dir", folder, NULL);
	cli_expect(p, 0);
	assert_string_equal(p->out.bytes, live);
	harness_free(p);
	snprintf(both, sizeof(both), "%s:", folder);
	by_build_id(debug, "debug-files", ".debug", folder);
	strcat(both, folder);
	p = cli_run("fibertrace", core, "--debug-dir", both, NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "wait_for_mutex");
	cli_contains(p->out.bytes, "crowd_kinds.h:");
	harness_free(p);
}

static void test_a_debug_file_of_another_build_is_refused_and_said(void **state)
{
	char other[HARNESS_PATH], folder[HARNESS_PATH];
	struct harness_process *p;

	(void)state;
	dead_needed(core);
	harness_program(other, "spin");
	by_build_id(other, "wrong-files", ".debug", folder);
	p = cli_run("fibertrace", "--core", core, kept, "--debug-dir", folder, NULL);
	cli_expect(p, 1);
	cli_contains(p->out.bytes, "its build-id differs");
	harness_free(p);
	/* A wrong executable is rejected, too. */
	by_build_id(other, "wrong-executables", "", folder);
	p = cli_run("fibertrace", core, "--debug-dir", folder, NULL);
	cli_expect(p, 1);
	assert_null(strstr(p->out.bytes, "spin.c"));
	harness_free(p);
}

static void test_folders_that_are_none_are_named(void **state)
{
	(void)state;
	dead_needed(core);
	cli_expect_error(cli_run("fibertrace", core, "--sysroot", "/nonexistent-root", NULL), 2,
			 "fibertrace", "/nonexistent-root");
	cli_expect_error(
		cli_run("fibertrace", core, "--debug-dir", "/tmp:/nonexistent-debug", NULL), 2,
		"fibertrace", "/nonexistent-debug");
}

/* A port of 127.0.0.1 with a listener that never answers. */
static int silent(unsigned *ret_port)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t size = sizeof(at);
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&at, size), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &size), 0);
	*ret_port = ntohs(at.sin_port);
	return fd;
}

static char urls[96], cache[HARNESS_PATH + 32];

static struct harness_process *run_asking(unsigned port, const char *program, const char *first,
					  const char *second)
{
	const char *const env[] = {urls, cache, NULL};
	const struct harness_how how = {.env = env};
	char folder[HARNESS_PATH];

	snprintf(urls, sizeof(urls), "DEBUGINFOD_URLS=http://127.0.0.1:%u", port);
	snprintf(cache, sizeof(cache), "DEBUGINFOD_CACHE_PATH=%s",
		 harness_file(folder, "debuginfod-cache"));
	return cli_run_how(&how, program, first, second, NULL);
}

static bool serves(void *arg)
{
	const char *const kinds[] = {"debuginfo", "executable"};
	bool has = true;

	for (int i = 0; i < 2 && has; i++) {
		struct harness_process *p = run_asking(*(unsigned *)arg, "/usr/bin/debuginfod-find",
						       kinds[i], build_id);

		has = harness_exit_code(p) == 0;
		harness_free(p);
	}
	/* Delete the cache: it remembers missing files, and fibertrace itself must request those
	 * that exist. */
	shell("rm -rf '%s'", cache + strlen("DEBUGINFOD_CACHE_PATH="));
	return has;
}

static void test_a_debuginfod_server_gives_executable_and_lines(void **state)
{
	char folder[HARNESS_PATH], number[16];
	struct harness_process *server, *p;
	unsigned port;

	(void)state;
	dead_needed(core);
	close(silent(&port));
	harness_file(folder, "served");
	shell("mkdir '%s' && cp '%s' '%s' '%s'", folder, kept, debug, folder);
	snprintf(number, sizeof(number), "%u", port);
	server = harness_start((const char *const[]){"debuginfod", "-F", "-p", number, "-d",
						     ":memory:", folder, NULL},
			       NULL);
	assert_true(harness_until(serves, &port, CLI_SECONDS));
	p = run_asking(port, "fibertrace", core, "--each");
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "wait_for_mutex");
	cli_contains(p->out.bytes, "crowd_kinds.h:");
	harness_free(p);
	harness_free(server);
}

static void test_a_server_that_does_not_answer_is_given_up_and_said(void **state)
{
	struct harness_process *p;
	unsigned port;
	int fd;

	(void)state;
	dead_needed(core);
	shell("rm -rf '%s'/debuginfod-cache", harness_folder());
	fd = silent(&port);
	assert_int_equal(listen(fd, 8), 0);
	p = run_asking(port, "fibertrace", core, NULL);
	cli_expect(p, 1);
	cli_contains(p->out.bytes, "do not answer");
	harness_free(p);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_the_executable_every_fiber_is_listed),
		cmocka_unit_test(test_a_sysroot_gives_the_answer_of_the_machine_itself),
		cmocka_unit_test(test_an_executable_and_its_debug_file_are_found_by_build_id),
		cmocka_unit_test(test_a_debug_file_of_another_build_is_refused_and_said),
		cmocka_unit_test(test_folders_that_are_none_are_named),
		cmocka_unit_test(test_a_debuginfod_server_gives_executable_and_lines),
		cmocka_unit_test(test_a_server_that_does_not_answer_is_given_up_and_said),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, start, NULL);
}
