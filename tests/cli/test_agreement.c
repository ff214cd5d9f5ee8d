/* SPDX-License-Identifier: MIT */
/*
 * test_agreement.c - fiberctl bt, fibertrace PID, fibertrace --core and gdb agree, frame by frame
 *
 * The four reach the same stack in different ways: bytes sent over the control socket, another
 * process' memory, a core file, and a debugger that shares no code with us. Each fiber's walk
 * becomes one line, "function:line" for each frame, and the lines of the four are compared: for
 * crowd without optimisation, with it, and without frame pointers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness/cli/crowd.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

#define FIBERS "60" /* a few of them are dead and have no stack */
#define ENOUGH 50
#define WALK   4096

static char script[4096];

/* The frames of one fiber as a line. */
static void walk_of_json(const json_t *fiber, char *buf)
{
	const json_t *frame;
	size_t i, n = 0;

	buf[0] = '\0';
	json_array_foreach (json_object_get(fiber, "frames"), i, frame) {
		const json_int_t line = json_int(frame, "line");
		const char *const function = json_text(frame, "function");

		n += (size_t)snprintf(buf + n, WALK - n, "%s%s:%d", n ? "\t" : "",
				      *function ? function : "?", line < 0 ? 0 : (int)line);
		assert_true(n < WALK);
	}
}

/* What walk.py printed for one fiber. */
static void walk_of_gdb(const char *out, uint64_t id, char *buf)
{
	char prefix[64];
	const char *at;

	snprintf(prefix, sizeof(prefix), "\nwalk\t%s\t", cli_number(id));
	at = strstr(out, prefix);
	if (!at) {
		print_error("gdb has no walk of fiber %s\n", cli_number(id));
		fail();
		return;
	}
	at += strlen(prefix);
	assert_true(strcspn(at, "\n") < WALK);
	snprintf(buf, WALK, "%.*s", (int)strcspn(at, "\n"), at);
}

static void all_agree(const char *build)
{
	static const char *const names[] = {"fiberctl bt", "fibertrace PID", "fibertrace --core"};
	char program[HARNESS_PATH + 32], core[HARNESS_PATH], walk[WALK], other[WALK];
	struct harness_process *gdb;
	json_t *answers[3];
	struct crowd crowd;
	char pid[16];
	size_t compared = 0;

	snprintf(program, sizeof(program), "%s/%s/bin/crowd", harness_build(), build);
	if (access(program, X_OK))
		cli_skip("crowd is not built in this way here");
	crowd = crowd_start(NULL, program, FIBERS, NULL);
	snprintf(pid, sizeof(pid), "%d", crowd.process->pid);
	answers[0] = json_well(cli_run("fiberctl", "bt", pid, "--all", "--json", NULL));
	answers[1] = json_well(cli_run("fibertrace", pid, "--json", "--each", NULL));
	cli_core(crowd.process->pid, build, core);
	answers[2] = json_well(cli_run("fibertrace", "--core", core, "--json", "--each", NULL));
	gdb = cli_run("/usr/bin/env", "gdb", "-nx", "-batch", "-p", pid, "-x", script, NULL);
	cli_expect(gdb, 0);

	for (size_t i = 0; i < crowd.count; i++) {
		const uint64_t id = crowd.members[i].id;

		if (!crowd_walkable(&crowd.members[i]))
			continue;
		walk_of_gdb(gdb->out.bytes, id, walk);
		for (size_t k = 0; k < 3; k++) {
			walk_of_json(json_fiber(answers[k], id), other);
			if (strcmp(walk, other)) {
				print_error("%s: fiber %s:\n%18s: %s\n%18s: %s\n", build,
					    crowd.members[i].name, "gdb", walk, names[k], other);
				fail();
			}
		}
		compared++;
	}
	assert_true(compared >= ENOUGH);
	for (size_t k = 0; k < 3; k++)
		json_decref(answers[k]);
	harness_free(gdb);
	/* The program still runs after all four. */
	gdb = cli_run("fiberctl", "list", pid, NULL);
	cli_ended(gdb, 0);
	crowd_end(&crowd);
}

static void test_four_ways_agree_without_optimisation(void **state)
{
	(void)state;
	all_agree("O0");
}

static void test_four_ways_agree_optimised_without_frame_pointers(void **state)
{
	(void)state;
	all_agree("O2");
}

static void test_four_ways_agree_where_only_libdw_can_walk(void **state)
{
	(void)state;
	all_agree("bare");
}

/* walk.py is beside this file in the source tree. */
static int find_script(void **state)
{
	char file[HARNESS_PATH] = __FILE__;

	(void)state;
	*strrchr(file, '/') = '\0';
	strcat(file, "/walk.py");
	return realpath(file, script) ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_four_ways_agree_without_optimisation),
		cmocka_unit_test(test_four_ways_agree_optimised_without_frame_pointers),
		cmocka_unit_test(test_four_ways_agree_where_only_libdw_can_walk),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, find_script, NULL);
}
