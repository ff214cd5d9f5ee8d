/* SPDX-License-Identifier: MIT */
/* test_fiberctl_snapshot.c - a snapshot answers like its process, even after its exit */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness/cli/http.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/cli/one_crowd.h"
#include "tests/harness/watchdog.h"

#define ROOM 512 /* for the ids of fibers */

static char file[HARNESS_PATH];

/* code: 1 if fibers run, because their stacks keep changing. */
static void take(const char *process, const char *path, int code)
{
	struct harness_process *p = cli_run("fiberctl", "snapshot", process, "-o", path, NULL);

	cli_expect(p, code);
	cli_contains(p->out.bytes, path);
	harness_free(p);
}

static int start(void **state)
{
	(void)state;
	one_crowd("crowd", "240", "--stuck");
	take(pid, harness_file(file, "a.snap"), 1);
	return 0;
}

/*
 * Delete the fields that change between two answers. Turn the list of fibers into an object by id,
 * and copy the ages to ages.
 */
static void cut_times(json_t *answer, json_int_t ages[ROOM])
{
	json_t *fiber, *by_id = json_object();
	size_t i;

	json_array_foreach (json_object_get(answer, "fibers"), i, fiber) {
		const json_int_t id = json_int(fiber, "id");

		assert_in_range(id, 1, ROOM - 1);
		ages[id] = json_int(fiber, "ageNs");
		json_object_del(fiber, "ageNs");
		json_object_del(json_object_get(fiber, "wait"), "leftNs");
		json_object_del(fiber, "livedNs");
		/* These times grow with the age of a fiber in that state. */
		json_object_del(fiber, strcmp(json_text(fiber, "state"), "runnable") == 0
					       ? "runnableNs"
					       : "waitedNs");
		json_object_del(fiber, "why"); /* contains ages, in words */
		/* A running fiber continues to run. */
		if (!json_is_null(json_object_get(fiber, "carrier")))
			json_object_del(fiber, "cpuNs");
		json_object_set(by_id, cli_number((uint64_t)id), fiber);
	}
	if (json_object_size(by_id))
		json_object_set(answer, "fibers", by_id);
	json_decref(by_id);
	json_object_del(answer, "source");
	json_object_del(answer, "sampledNs");
	json_object_del(answer, "takenNs");
}

/*
 * Compare a tool's answer about the process with the one about its snapshot. Only the source and
 * the duration may differ. Live fibers grow older; those of the snapshot do not.
 */
static void same(const char *tool, const char *const words[4], const char *source, int code)
{
	static json_int_t now[ROOM], kept[ROOM];
	json_t *live, *snapshot;

	live = json_ended(cli_run(tool, words[0] ? words[0] : pid, words[0] ? pid : "--json",
				  "--json", words[1], words[2], NULL),
			  code);
	snapshot = json_ended(cli_run(tool, words[0] ? words[0] : file, words[0] ? file : "--json",
				      "--json", words[1], words[2], NULL),
			      code);
	assert_string_equal(json_text(live, "source"), source);
	assert_string_equal(json_text(snapshot, "source"), "snapshot");
	cut_times(live, now);
	cut_times(snapshot, kept);
	for (size_t i = 0; i < ROOM; i++)
		assert_true(kept[i] <= now[i]);
	if (!json_equal(live, snapshot))
		print_error("%s %s: live:\n%.2000s\nsnapshot:\n%.2000s\n", tool,
			    words[0] ? words[0] : "", json_dumps(live, JSON_SORT_KEYS),
			    json_dumps(snapshot, JSON_SORT_KEYS));
	assert_true(json_equal(live, snapshot));
	json_decref(live);
	json_decref(snapshot);
}

static void test_every_reader_says_the_same_of_process_and_snapshot(void **state)
{
	char id[24];

	(void)state;
	snprintf(id, sizeof(id), "%s", cli_number(crowd_find(&crowd, "mutex", "mutex-")->id));
	same("fiberctl", (const char *[4]){"list"}, "control", 0);
	same("fiberctl", (const char *[4]){"show", id}, "control", 0);
	same("fiberctl", (const char *[4]){"bt", id}, "control", 0);
	/* The two running fibers have stacks too: their threads sleep. */
	same("fiberctl", (const char *[4]){"bt", "--all"}, "control", 0);
	same("fiberctl", (const char *[4]){"policy"}, "control", 0);
}

static void test_a_deadlock_in_it_is_found_in_one_reading(void **state)
{
	struct crowd stuck = crowd_start(NULL, "deadlock", "--crossing", NULL);
	char kept[HARNESS_PATH], number[24];
	json_t *answer;

	(void)state;
	snprintf(number, sizeof(number), "%d", stuck.process->pid);
	harness_file(kept, "stuck.snap");
	crowd_grow_old(number);
	take(number, kept, 0);
	crowd_end(&stuck);
	answer = json_ended(cli_run("fiberctl", "deadlock", kept, "--json", NULL), 3);
	json_promise_answer(answer, "snapshot");
	assert_int_equal(json_int(answer, "found"), 1);
	assert_int_equal(json_int(answer, "readings"), 1);
	json_decref(answer);
}

static void test_carriers_are_those_that_it_had(void **state)
{
	json_t *answer = json_ended(cli_run("fiberctl", "carriers", file, "--json", NULL), 0);
	const json_t *carrier;
	size_t i;

	(void)state;
	json_promise_answer(answer, "snapshot");
	assert_int_equal(json_array_size(json_object_get(answer, "runtimes")), 1);
	assert_int_equal(json_array_size(json_object_get(answer, "carriers")), 2);
	json_array_foreach (json_object_get(answer, "carriers"), i, carrier) {
		const json_int_t id = json_int(carrier, "fiberId");

		assert_string_equal(json_text(carrier, "state"), "running");
		assert_true(id == (json_int_t)crowd_find(&crowd, "running", "running-0")->id ||
			    id == (json_int_t)crowd_find(&crowd, "running", "running-1")->id);
	}
	json_decref(answer);
}

static void test_fibertrace_reads_it_as_it_reads_the_process(void **state)
{
	const char *const each[4] = {NULL, "--each"};
	json_t *a, *b;

	(void)state;
	crowd_end(&crowd);
	one_crowd("crowd", "200", NULL);
	unlink(file);
	take(pid, file, 0);
	same("fibertrace", each, "live", 0);
	a = json_ended(cli_run("fibertrace", "--json", file, NULL), 0);
	b = json_ended(cli_run("fibertrace", "--json", "--snapshot", file, NULL), 0);
	json_promise_answer(a, "snapshot");
	assert_true(json_array_size(json_object_get(a, "groups")) > 15);
	assert_true(json_equal(a, b));
	json_decref(a);
	json_decref(b);
	cli_expect_error(cli_run("fibertrace", "--snapshot", file, pid, NULL), 64, "fibertrace",
			 pid);
	cli_expect_error(cli_run("fibertrace", "/nonexistent/x.snap", NULL), 64, "fibertrace",
			 "/nonexistent/x.snap");
	cli_expect_error(cli_run("fibertrace", "--snapshot", "/nonexistent/x.snap", NULL), 2,
			 "fibertrace", "/nonexistent/x.snap");
}

static void test_the_last_line_says_when_it_was_taken(void **state)
{
	static const char *const commands[][3] = {
		{"list"}, {"bt", "--all"}, {"policy"}, {"carriers"}};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct harness_process *p =
			cli_run("fiberctl", commands[i][0], file, commands[i][1], NULL);
		const char *last;

		cli_expect(p, 0);
		assert_true(p->out.size > 1);
		p->out.bytes[p->out.size - 1] = '\0';
		last = strrchr(p->out.bytes, '\n') + 1;
		cli_contains(last, "snapshot of ");
		cli_contains(last, ", taken 20");
		harness_free(p);
	}
}

static void test_a_snapshot_changes_nothing_and_is_no_process(void **state)
{
	(void)state;
	cli_expect_error(cli_run("fiberctl", "policy", file, "error", NULL), 2, "fiberctl",
			 "nothing can be changed");
	cli_expect_error(cli_run("fiberctl", "snapshot", file, "-o", "x.snap", NULL), 2, "fiberctl",
			 "needs the process itself");
	cli_expect_error(cli_run("fiberctl", "show", file, "999999", NULL), 2, "fiberctl",
			 "fiber 999999");
}

static void test_damaged_ones_are_refused(void **state)
{
	char other[HARNESS_PATH];
	struct stat st;
	char *bytes;
	FILE *f;

	(void)state;
	assert_int_equal(stat(file, &st), 0);
	bytes = malloc((size_t)st.st_size);
	f = fopen(file, "r");
	assert_int_equal(fread(bytes, 1, (size_t)st.st_size, f), st.st_size);
	fclose(f);
	harness_file(other, "damaged.snap");
	for (unsigned i = 0; i < 60; i++) {
		const size_t at = (size_t)st.st_size / 60 * i + i * 7u;
		struct harness_process *p;

		f = fopen(other, "w");
		bytes[at] ^= (char)0xa5;
		/* The last ten are truncated instead. */
		fwrite(bytes, 1, i < 50 ? (size_t)st.st_size : at, f);
		bytes[at] ^= (char)0xa5;
		fclose(f);
		p = cli_run("fiberctl", "bt", other, "--all", "--json", NULL);
		cli_expect(p, 2);
		assert_int_equal(p->out.size, 0);
		cli_contains(p->err.bytes, other);
		/* The first change is in the magic. */
		cli_contains(p->err.bytes, !i	    ? "is no snapshot"
					   : i < 50 ? "is damaged"
						    : "is cut");
		harness_free(p);
	}
	free(bytes);
}

/* Copy a program into the test's folder. */
static void copy(const char *program, const char *to)
{
	char from[HARNESS_PATH];
	const char *const argv[] = {
		"cp", "-f", "--remove-destination", harness_program(from, program), to, NULL};
	struct harness_process *p = harness_run(argv, NULL, CLI_SECONDS);

	cli_ended(p, 0);
}

static void test_another_program_at_the_path_is_not_taken_for_it(void **state)
{
	char program[HARNESS_PATH], path[HARNESS_PATH];
	struct crowd moved;
	struct harness_process *p;

	(void)state;
	harness_file(program, "copied");
	harness_file(path, "copied.snap");
	copy("crowd", program);
	moved = crowd_start(NULL, program, "40", NULL);
	take(cli_number((uint64_t)moved.process->pid), path, 0);
	crowd_end(&moved);
	p = cli_run("fibertrace", path, NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "park_inner");
	harness_free(p);
	copy("mirror", program);
	p = cli_run("fibertrace", path, NULL);
	cli_expect(p, 1);
	cli_contains(p->out.bytes, "is not the one that ran");
	assert_null(strstr(p->out.bytes, " at fixtures/"));
	harness_free(p);
}

static void test_a_busy_server_is_caught_whole(void **state)
{
	unsigned port;
	struct harness_process *server = http_start(NULL, NULL, NULL, &port);
	const struct harness_how quiet = {0};
	const char *const load[] = {"load", cli_number(port), NULL};
	char program[HARNESS_PATH], path[HARNESS_PATH];
	const char *const argv[] = {harness_program(program, load[0]), load[1], NULL};
	struct harness_process *clients = harness_start(argv, &quiet);

	(void)state;
	harness_file(path, "busy.snap");
	for (unsigned i = 0; i < 15; i++) {
		struct harness_process *p;
		json_t *answer;

		http_alive(port);
		/* Exit code 1: a stack kept changing. */
		p = cli_run("fiberctl", "snapshot", cli_number((uint64_t)server->pid), "-o", path,
			    "--force", NULL);
		assert_in_range(harness_exit_code(p), 0, 1);
		harness_free(p);
		p = cli_run("fiberctl", "list", path, "--json", NULL);
		answer = json_ended(p, 0);
		json_promise_answer(answer, "snapshot");
		assert_int_equal(json_array_size(json_object_get(answer, "fibers")),
				 json_int(answer, "shown"));
		json_decref(answer);
	}
	harness_free(clients);
	harness_free(server);
}

/* Must be the last test: the process has ended. */
static void test_it_is_there_when_the_process_has_gone(void **state)
{
	const size_t count = crowd.count;
	struct harness_process *p;
	json_t *answer;

	(void)state;
	harness_end(crowd.process);
	answer = json_ended(cli_run("fiberctl", "list", file, "--json", NULL), 0);
	assert_int_equal(json_array_size(json_object_get(answer, "fibers")), count);
	json_decref(answer);
	p = cli_run("fiberctl", "bt", file, "--all", NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "park_inner");
	harness_free(p);
	cli_expect_error(cli_run("fiberctl", "list", pid, NULL), 2, "fiberctl", "no such process");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_reader_says_the_same_of_process_and_snapshot),
		cmocka_unit_test(test_a_deadlock_in_it_is_found_in_one_reading),
		cmocka_unit_test(test_carriers_are_those_that_it_had),
		cmocka_unit_test(test_fibertrace_reads_it_as_it_reads_the_process),
		cmocka_unit_test(test_the_last_line_says_when_it_was_taken),
		cmocka_unit_test(test_a_snapshot_changes_nothing_and_is_no_process),
		cmocka_unit_test(test_damaged_ones_are_refused),
		cmocka_unit_test(test_another_program_at_the_path_is_not_taken_for_it),
		cmocka_unit_test(test_a_busy_server_is_caught_whole),
		cmocka_unit_test(test_it_is_there_when_the_process_has_gone),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, start, one_crowd_end);
}
