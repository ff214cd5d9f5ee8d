/* SPDX-License-Identifier: MIT */
/*
 * test_confined.c - a program and a tool without rights
 *
 * All capabilities are dropped, and ptrace(2) and process_vm_readv(2) fail with EPERM, as in a
 * strict container. The tool's answers are still complete: it asks the program, which copies its
 * own memory in another way.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/harness/cli/crowd.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

#define NOBODY 65534
#define FIBERS 110

/* LeakSanitizer needs ptrace; the second entry is the runtime folder of another user. */
static const char *env[] = {"ASAN_OPTIONS=detect_leaks=0", NULL, NULL};
static const struct harness_how forbidden = {
	.env = env, .forbid_peeking = true, .forbid = SYS_ptrace};

static void need(const char *program)
{
	struct harness_process *p =
		harness_run((const char *[]){program, "--version", NULL}, NULL, CLI_SECONDS);
	const bool there = harness_exit_code(p) == 0;

	harness_free(p);
	if (!there)
		cli_skip("a program of util-linux is missing");
}

/* Start a program under both restrictions and without capabilities; with `nobody` also as another
 * user. */
static struct harness_process *confine(bool nobody, const char *const words[], bool run)
{
	static char path[HARNESS_PATH];
	const char *argv[24] = {"setpriv", "--no-new-privs", "--inh-caps=-all",
				"--bounding-set=-all"};
	size_t n = 4;

	/* Only root has a bounding set to clear. */
	if (geteuid() != 0)
		n = 3;
	if (nobody) {
		argv[n++] = "--reuid=65534";
		argv[n++] = "--regid=65534";
		argv[n++] = "--clear-groups";
	}
	argv[n++] = harness_program(path, words[0]);
	for (size_t i = 1; words[i]; i++)
		argv[n++] = words[i];
	argv[n] = NULL;
	return run ? harness_run(argv, &forbidden, CLI_SECONDS) : harness_start(argv, &forbidden);
}

static struct harness_process *ask(bool nobody, const char *a, const char *b, const char *c,
				   const char *d)
{
	return confine(nobody, (const char *[]){"fiberctl", a, b, c, d, NULL}, true);
}

static void assert_confined(pid_t pid)
{
	char path[64], text[4096] = "", *line;
	FILE *status;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	status = fopen(path, "re");
	assert_non_null(status);
	n = fread(text, 1, sizeof(text) - 1, status);
	text[n] = 0;
	fclose(status);
	line = strstr(text, "\nCapEff:\t");
	assert_non_null(line);
	assert_int_equal(strtoull(line + 9, NULL, 16), 0);
	cli_contains(text, "\nSeccomp:\t2\nSeccomp_filters:\t2\n");
	cli_contains(text, "\nNoNewPrivs:\t1\n");
}

/* Every suspended fiber, with the name of its wait object if it has one, and complete frames. */
static void assert_whole(struct harness_process *p, const char *source, bool frames)
{
	json_t *answer, *fiber;
	size_t i, objects = 0;

	cli_expect(p, 0);
	assert_string_equal(p->err.bytes, "");
	answer = json_answer(p);
	json_promise_answer(answer, source);
	assert_true(json_is_true(json_object_get(answer, "complete")));
	assert_int_equal(json_int(answer, "shown"), FIBERS);
	json_array_foreach (json_object_get(answer, "fibers"), i, fiber) {
		json_promise_fiber(fiber, frames);
		objects += *json_text(json_object_get(fiber, "wait"), "objectName") != 0;
		if (!frames || strcmp(json_text(fiber, "state"), "suspended") != 0)
			continue;
		assert_true(json_array_size(json_object_get(fiber, "frames")) > 2);
		assert_true(json_is_false(json_object_get(fiber, "truncated")));
	}
	assert_true(objects > 10);
	json_decref(answer);
	harness_free(p);
}

/* Check the exit code and the complete text. */
static void says(struct harness_process *p, int code, const char *what)
{
	cli_expect(p, code);
	cli_contains(p->out.bytes, what);
	assert_null(strstr(p->out.bytes, "truncated"));
	assert_null(strstr(p->out.bytes, "incomplete"));
	assert_string_equal(p->err.bytes, "");
	harness_free(p);
}

/* Take a snapshot, and read it under the same restrictions. */
static void snapshot_is_whole(bool nobody, const char *pid)
{
	char option[HARNESS_PATH + 32];
	const char *const file = option + strlen("--output=");

	snprintf(option, sizeof(option), "--output=%s/%s.snap",
		 env[1] ? env[1] + 16 : harness_folder(), pid);
	says(ask(nobody, "snapshot", pid, option, NULL), 0, "110 fibers");
	assert_whole(ask(nobody, "list", file, "--json", NULL), "snapshot", false);
	assert_whole(ask(nobody, "bt", file, "--all", "--json"), "snapshot", true);
}

/* Two fibers that wait for each other, with their stacks. */
static void deadlock_is_found(bool nobody)
{
	struct harness_process *two =
		confine(nobody, (const char *[]){"deadlock", "--crossing", NULL}, false);
	char pid[16];

	assert_non_null(harness_wait_line(two, "ready ", CLI_SECONDS));
	assert_confined(two->pid);
	snprintf(pid, sizeof(pid), "%d", two->pid);
	says(ask(nobody, "deadlock", pid, NULL, NULL), 3, "fiber_mutex_lock");
	harness_free(two);
}

struct keeper {
	char pid[16];
	bool nobody;
};

/* Whether the thread sleeps by now and its stack is shown. */
static bool keeper_is_shown(void *arg)
{
	const struct keeper *keeper = arg;
	struct harness_process *p = ask(keeper->nobody, "deadlock", keeper->pid, NULL, NULL);
	const char *thread, *frame;

	cli_expect(p, 0);
	thread = strstr(p->out.bytes, " [in system call pause]\n");
	frame = thread ? strstr(thread, " keep_asleep+0x") : NULL;
	harness_free(p);
	return frame != NULL;
}

/* A lock held by a plain thread, with the thread's stack: needs no debugger, which would be
 * refused. */
static void thread_is_shown(bool nobody)
{
	struct keeper keeper = {.nobody = nobody};
	struct harness_process *one =
		confine(nobody, (const char *[]){"deadlock", "--thread-asleep", NULL}, false);

	assert_non_null(harness_wait_line(one, "ready ", CLI_SECONDS));
	assert_confined(one->pid);
	snprintf(keeper.pid, sizeof(keeper.pid), "%d", one->pid);
	assert_true(harness_until(keeper_is_shown, &keeper, CLI_SECONDS));
	says(ask(nobody, "deadlock", keeper.pid, NULL, NULL), 0, " keeper_main+0x");
	harness_free(one);
}

static void answers_are_whole(bool nobody)
{
	struct harness_process *crowd =
		confine(nobody, (const char *[]){"crowd", "110", NULL}, false);
	char pid[16], id[24];

	assert_non_null(harness_wait_line(crowd, "ready ", CLI_SECONDS));
	assert_confined(crowd->pid);
	snprintf(pid, sizeof(pid), "%d", crowd->pid);
	snprintf(id, sizeof(id), "%llu", strtoull(crowd->out.bytes, NULL, 10));
	assert_whole(ask(nobody, "list", pid, "--json", NULL), "control", false);
	assert_whole(ask(nobody, "bt", pid, "--all", "--json"), "control", true);
	says(ask(nobody, "show", pid, id, NULL), 0, "fiber ");
	says(ask(nobody, "bt", pid, id, NULL), 0, "fiber ");
	says(ask(nobody, "stacks", pid, NULL, NULL), 0, "110 of 110 fibers");
	says(ask(nobody, "deadlock", pid, NULL, NULL), 0, "no deadlock");
	snapshot_is_whole(nobody, pid);
	harness_free(crowd);
	deadlock_is_found(nobody);
	thread_is_shown(nobody);
}

static void test_confined_program_is_shown_whole(void **state)
{
	(void)state;
	need("setpriv");
	answers_are_whole(false);
}

/* Whether the user nobody can run the build's programs at all. */
static bool nobody_reaches(const char *program)
{
	struct harness_process *p =
		harness_run((const char *[]){"setpriv", "--reuid=65534", "--regid=65534",
					     "--clear-groups", "test", "-x", program, NULL},
			    NULL, CLI_SECONDS);
	const bool does = harness_exit_code(p) == 0;

	harness_free(p);
	return does;
}

static void test_confined_program_of_another_user_is_shown_whole_to_that_user(void **state)
{
	char folder[64], setting[96], program[HARNESS_PATH];
	struct harness_process *p;

	(void)state;
	need("setpriv");
	if (geteuid() != 0 || !nobody_reaches(harness_program(program, "crowd")))
		cli_skip("needs root, and a build that others can run");
	/* The folder belongs to the user, as in /run/user: the test's own folder is private. */
	snprintf(folder, sizeof(folder), "/tmp/fiber-test-%d", getpid());
	snprintf(setting, sizeof(setting), "XDG_RUNTIME_DIR=%s", folder);
	assert_int_equal(mkdir(folder, 0700), 0);
	assert_int_equal(chown(folder, NOBODY, NOBODY), 0);
	env[1] = setting;
	answers_are_whole(true);
	env[1] = NULL;
	/* The program was killed by a signal and has left its socket in the folder. */
	p = harness_run((const char *[]){"rm", "-r", folder, NULL}, NULL, CLI_SECONDS);
	cli_ended(p, 0);
}

/* A container without capabilities, in which process ids start at 1. */
static void test_container_without_capabilities_shows_its_program_whole(void **state)
{
	static const char script[] =
		"set -eu; \"$1/crowd\" 110 >\"$2/said\" & pid=$!; "
		"until grep -q '^ready ' \"$2/said\"; do sleep 0.05; done; "
		"test $pid -lt 100; "
		"\"$1/fiberctl\" list $pid --json >\"$2/list\"; "
		"\"$1/fiberctl\" bt $pid --all >\"$2/bt\"; "
		"\"$1/fiberctl\" show $pid 1 >\"$2/show\"; "
		"\"$1/fiberctl\" stacks $pid >\"$2/stacks\"; "
		"\"$1/fiberctl\" deadlock $pid; "
		"\"$1/fiberctl\" snapshot $pid -o \"$2/snap\"; "
		"kill $pid; ! grep -e truncated -e incomplete \"$2/bt\" \"$2/show\" \"$2/stacks\"; "
		"\"$1/fiberctl\" list \"$2/snap\" --json | grep '\"shown\":110'; "
		"grep '\"complete\":true' \"$2/list\"; grep '\"shown\":110' \"$2/list\"";
	char program[HARNESS_PATH];
	struct harness_process *p;
	char *slash;

	(void)state;
	need("unshare");
	need("setpriv");
	if (geteuid() != 0)
		cli_skip("needs root to make a container");
	harness_program(program, "crowd");
	slash = strrchr(program, '/');
	*slash = 0;
	p = harness_run((const char *[]){"unshare", "--pid", "--fork", "--mount-proc", "setpriv",
					 "--no-new-privs", "--inh-caps=-all", "--bounding-set=-all",
					 "sh", "-c", script, "sh", program, harness_folder(), NULL},
			&forbidden, CLI_SECONDS);
	if (strstr(p->err.bytes, "unshare:")) {
		harness_free(p);
		cli_skip("unshare is forbidden here");
	}
	cli_ended(p, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_confined_program_is_shown_whole),
		cmocka_unit_test(test_confined_program_of_another_user_is_shown_whole_to_that_user),
		cmocka_unit_test(test_container_without_capabilities_shows_its_program_whole),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
