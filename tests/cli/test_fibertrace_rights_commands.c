/* SPDX-License-Identifier: MIT */
/*
 * test_fibertrace_rights_commands.c - refusals in every command and for every file, with nothing
 * left
 *
 * A command without the right to read exits with 2 and one line, and leaves neither its output file
 * nor a draft.
 */
#include <dirent.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness/cli/one_program.h"
#include "tests/harness/watchdog.h"

static const struct place user = {.user = PLACE_USER}, other = {.user = PLACE_OTHER};

static const char *name_of(uid_t uid)
{
	const struct passwd *pw = getpwuid(uid);

	return pw ? pw->pw_name : "another user";
}

/* Count the files of a folder whose names begin with name. */
static unsigned files(const char *folder, const char *name)
{
	struct dirent *entry;
	unsigned count = 0;
	DIR *dir = opendir(folder);

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		count += strncmp(entry->d_name, name, strlen(name)) == 0;
	closedir(dir);
	return count;
}

/* A folder of PLACE_OTHER, for that user's output. */
static const char *folder_of_other(char *path)
{
	harness_file(path, "writes");
	if (mkdir(path, 0700) == 0)
		assert_int_equal(chown(path, PLACE_OTHER, PLACE_OTHER), 0);
	return path;
}

static void test_every_command_names_the_same_right_and_leaves_no_file(void **state)
{
	char folder[HARNESS_PATH], out[HARNESS_PATH + 8], denied[256];
	const char *const lines[][5] = {
		{"PID"},
		{"PID", "--each"},
		{"PID", "--json"},
		{"list", "PID"},
		{"list", "PID", "--json"},
		{"show", "PID", "1"},
		{"bt", "PID", "1"},
		{"bt", "PID", "--all"},
		{"stacks", "PID"},
		{"tree", "PID"},
		{"waits", "PID"},
		{"deadlock", "PID"},
		{"diff", "PID", "PID"},
		{"to-core", "PID", "-o", out},
		{"to-core", "PID", "-o", out, "--json"},
	};
	const char *word[5];
	size_t i, k;

	(void)state;
	start(&user, "crowd", "110");
	place_need(&other);
	snprintf(out, sizeof(out), "%s/out", folder_of_other(folder));
	snprintf(denied, sizeof(denied),
		 "process %d: belongs to %s (uid 65534) and you are uid 65533: run this as that "
		 "user (sudo -u %s fibertrace ...) or with CAP_SYS_PTRACE (sudo)",
		 program->pid, name_of(PLACE_USER), name_of(PLACE_USER));
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		for (k = 0; k < 5; k++)
			word[k] =
				lines[i][k] && strcmp(lines[i][k], "PID") == 0 ? pid : lines[i][k];
		place_refused(place_run(&other, "fibertrace", word[0], word[1], word[2], word[3],
					word[4], NULL),
			      "fibertrace", "%s", denied);
	}
	assert_int_equal(files(folder, "out"), 0);
}

static void test_recording_another_users_process_names_the_user(void **state)
{
	char folder[HARNESS_PATH], out[HARNESS_PATH + 8];

	(void)state;
	start(&user, "crowd", "110");
	snprintf(out, sizeof(out), "%s/out", folder_of_other(folder));
	place_refused(place_run(&other, "fibertrace", "record", pid, "-o", out, NULL), "fibertrace",
		      "process %d: permission denied: it belongs to %s (uid 65534) and you are uid "
		      "65533: run this as that user (sudo -u %s fibertrace ...) or as root",
		      program->pid, name_of(PLACE_USER), name_of(PLACE_USER));
	assert_int_equal(files(folder, "out"), 0);
}

/* If the path of a socket is given, the folder is the reason for the refusal. */
static void test_a_socket_of_another_user_names_the_folder_and_the_user(void **state)
{
	static const char *const text = "%s: Permission denied: %s belongs to %s (uid 65534), mode "
					"0700, and you are uid 65533: "
					"run this as that user (sudo -u %s %s ...) or as root";
	char name[64], folder[HARNESS_PATH];
	const char *path, *runtime;

	(void)state;
	start(&user, "crowd", "110");
	snprintf(name, sizeof(name), "fiber/%d.sock", program->pid);
	path = place_file(name);
	runtime = harness_file(folder, "user");
	place_refused(place_run(&other, "fiberctl", "list", path, NULL), "fiberctl", text, path,
		      runtime, name_of(PLACE_USER), name_of(PLACE_USER), "fiberctl");
	place_refused(place_run(&other, "fiberctl", "policy", path, NULL), "fiberctl", text, path,
		      runtime, name_of(PLACE_USER), name_of(PLACE_USER), "fiberctl");
	place_refused(place_run(&other, "fibertrace", "record", path, "-o", "/tmp/never", NULL),
		      "fibertrace", text, path, runtime, name_of(PLACE_USER), name_of(PLACE_USER),
		      "fibertrace");
}

/* Its socket is in a folder that may not be entered, but /proc has its name. */
static void test_a_name_that_only_another_users_process_has_names_the_user(void **state)
{
	char name[16];
	const char *path;

	(void)state;
	snprintf(name, sizeof(name), "own%d", (int)getpid());
	path = place_file(name);
	cli_ended(harness_run(
			  (const char *[]){"install", "-m755", place_program("crowd"), path, NULL},
			  NULL, CLI_SECONDS),
		  0);
	program = place_start(&user, "ready ", path, "110");
	place_refused(place_run(&other, "fiberctl", "list", name, NULL), "fiberctl",
		      "%s: no process of that name is yours; process %d: permission denied: it "
		      "belongs to %s (uid 65534) and you are uid 65533: run this as that user "
		      "(sudo -u %s fiberctl ...) or as root",
		      name, program->pid, name_of(PLACE_USER), name_of(PLACE_USER));
	cli_expect_error(place_run(&other, "fiberctl", "list", "nobody-has-it", NULL), 2,
			 "fiberctl", "no process of that name has a control socket");
}

/* -- files -- */

/* A file of root with this mode, in a folder with this mode. */
static const char *file_of_root(char *path, const char *folder, mode_t mode)
{
	char inner[HARNESS_PATH / 2], whole[HARNESS_PATH];
	int fd;

	harness_file(whole, folder);
	if (mkdir(whole, 0755))
		assert_int_equal(chmod(whole, 0755), 0);
	snprintf(inner, sizeof(inner), "%s/file", folder);
	fd = open(harness_file(path, inner), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(chmod(path, 0600), 0);
	assert_int_equal(chmod(whole, mode), 0);
	return path;
}

#define WHOSE(tool)                                                                       \
	"belongs to root (uid 0), mode %s, and you are uid 65534: run this as that user " \
	"(sudo " tool " ...) or as root"

static void test_a_file_that_may_not_be_read_names_its_user_and_mode(void **state)
{
	char buf[HARNESS_PATH];
	const char *file;

	(void)state;
	place_need(&user);
	file = file_of_root(buf, "open", 0755);
	const char *const lines[][4] = {
		{"--core", file},
		{file},
		{"list", file},
		{"bt", file, "1"},
		{"stacks", "--core", file},
		{"list", "--snapshot", file},
		{"report", file},
		{"export", "--perfetto", file},
		{"diff", file, file},
		{"to-core", "--core", file, "-o=/tmp/never"},
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		place_refused(place_run(&user, "fibertrace", lines[i][0], lines[i][1], lines[i][2],
					lines[i][3], NULL),
			      "fibertrace", "%s: Permission denied: it " WHOSE("fibertrace"), file,
			      "0600");
	place_refused(place_run(&user, "fiberctl", "list", file, NULL), "fiberctl",
		      "%s: Permission denied: it " WHOSE("fiberctl"), file, "0600");
}

/* A readable core of an unreadable program. */
static void test_a_program_that_may_not_be_read_is_named_where_its_core_may(void **state)
{
	const struct place root = {0};
	char core[HARNESS_PATH];
	struct harness_process *p;
	const char *path;

	(void)state;
	place_need(&user);
	path = place_closed();
	program = place_start(&user, "ready ", path, "110");
	pid = cli_number((uint64_t)program->pid);
	p = place_run(&root, "fibertrace", "to-core", "--stacks-only", pid, "-o",
		      harness_file(core, "closed.core"), NULL);
	cli_ended(p, 0);
	assert_int_equal(chmod(core, 0644), 0);
	p = place_run(&user, "fibertrace", "--core", core, NULL);
	cli_expect(p, 1);
	cli_contains(p->out.bytes, "the file of ");
	cli_contains(p->out.bytes, "/crowd-closed may not be read: run this as its user or root");
	harness_free(p);
	place_refused(place_run(&user, "fibertrace", "--core", core, path, NULL), "fibertrace",
		      "%s: Permission denied: it " WHOSE("fibertrace"), path, "0711");
	p = place_run(&root, "fibertrace", "--core", core, path, NULL);
	cli_ended(p, 0);
}

static void test_a_folder_that_may_not_be_entered_is_named(void **state)
{
	char buf[HARNESS_PATH], folder[HARNESS_PATH];
	const char *file;

	(void)state;
	place_need(&user);
	file = file_of_root(buf, "shut", 0700);
	harness_file(folder, "shut");
	place_refused(place_run(&user, "fibertrace", "--core", file, NULL), "fibertrace",
		      "%s: Permission denied: %s " WHOSE("fibertrace"), file, folder, "0700");
	place_refused(place_run(&user, "fibertrace", "list", file, NULL), "fibertrace",
		      "%s: Permission denied: %s " WHOSE("fibertrace"), file, folder, "0700");
	place_refused(place_run(&user, "fibertrace", "report", file, NULL), "fibertrace",
		      "%s: Permission denied: %s " WHOSE("fibertrace"), file, folder, "0700");
}

static void test_a_folder_that_may_not_be_written_to_is_named_and_nothing_is_left(void **state)
{
	char buf[HARNESS_PATH], folder[HARNESS_PATH], out[HARNESS_PATH + 8];

	(void)state;
	start(&user, "crowd", "110");
	file_of_root(buf, "open", 0755);
	snprintf(out, sizeof(out), "%s/out", harness_file(folder, "open"));
	place_refused(place_run(&user, "fibertrace", "to-core", pid, "-o", out, NULL), "fibertrace",
		      "%s: cannot be written: Permission denied: %s " WHOSE("fibertrace"), out,
		      folder, "0755");
	place_refused(place_run(&user, "fiberctl", "snapshot", pid, "-o", out, NULL), "fiberctl",
		      "%s: cannot be written: Permission denied: %s " WHOSE("fiberctl"), out,
		      folder, "0755");
	place_refused(place_run(&user, "fibertrace", "record", pid, "-o", out, NULL), "fibertrace",
		      "%s: cannot be written: Permission denied: %s " WHOSE("fibertrace"), out,
		      folder, "0755");
	assert_int_equal(files(folder, "out"), 0);
}

static void test_a_file_of_ones_own_that_is_shut_is_to_be_opened(void **state)
{
	const char *const path = place_file("shut.core");
	int fd;

	(void)state;
	place_need(&user);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0);
	assert_true(fd >= 0);
	assert_int_equal(fchown(fd, PLACE_USER, PLACE_USER), 0);
	close(fd);
	place_refused(place_run(&user, "fibertrace", "--core", path, NULL), "fibertrace",
		      "%s: Permission denied: it is yours, and its mode is 0000: chmod it", path);
}

#define CASE(name) cmocka_unit_test_teardown(name, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_every_command_names_the_same_right_and_leaves_no_file),
		CASE(test_recording_another_users_process_names_the_user),
		CASE(test_a_socket_of_another_user_names_the_folder_and_the_user),
		CASE(test_a_name_that_only_another_users_process_has_names_the_user),
		CASE(test_a_file_that_may_not_be_read_names_its_user_and_mode),
		CASE(test_a_program_that_may_not_be_read_is_named_where_its_core_may),
		CASE(test_a_folder_that_may_not_be_entered_is_named),
		CASE(test_a_folder_that_may_not_be_written_to_is_named_and_nothing_is_left),
		CASE(test_a_file_of_ones_own_that_is_shut_is_to_be_opened),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, place_begin, NULL);
}
