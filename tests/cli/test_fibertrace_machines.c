/* SPDX-License-Identifier: MIT */
/*
 * test_fibertrace_machines.c - cores, snapshots and recordings of programs for other machines
 *
 * crowd is built for another machine and runs under qemu's user-mode emulator, which writes a core
 * when a signal ends the program. That core has no list of files, so the tests name the program. The
 * expected state of each fiber is what crowd printed. For riscv64 qemu writes no core.
 *
 * Other files come from scripts that know nothing of the tools' code: one writes a core of a running program,
 * one keeps what a big-endian program answers, one turns the numbers of a recording around.
 */
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness/cli/crowd.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/cli/step.h"
#include "tests/harness/watchdog.h"

static char program[HARNESS_PATH], core[HARNESS_PATH];

/* Run the crowd at `path` in that machine's folder of the build. machine: the port's and qemu's name. */
static struct crowd run_at(const char *machine, const char *path)
{
	const struct harness_how how = {.folder = harness_folder(), .core = true};
	char emulator[64], libraries[64];

	snprintf(program, sizeof(program), "%s/%s/%s", harness_build(), machine, path);
	if (access(program, X_OK))
		cli_skip("no cross compiler, or no port: make deps-ports");
	snprintf(emulator, sizeof(emulator), "/usr/bin/qemu-%s-static", machine);
	snprintf(libraries, sizeof(libraries), "/usr/%s-linux-gnu", machine);
	if (access(emulator, X_OK))
		cli_skip("no emulator: make deps-ports");
	return crowd_of(cli_start(&how, "ready ", emulator, "-L", libraries, program, "66", NULL));
}

static struct crowd run(const char *machine)
{
	return run_at(machine, "bin/crowd");
}

static void run_script(const char *name, const char *first, const char *second, const char *third,
		       const char *fourth, const char *fifth)
{
	char path[HARNESS_PATH] = __FILE__;

	*strrchr(path, '/') = '\0';
	strcat(strcat(path, "/"), name);
	cli_ended(cli_run("/usr/bin/env", "python3", "-B", path, first, second, third, fourth,
			  fifth, NULL),
		  0);
}

/* Run it, end it by a signal and find its core. */
static struct crowd start(const char *machine)
{
	struct crowd crowd = run(machine);
	char pattern[HARNESS_PATH + 32];
	glob_t found;

	assert_int_equal(kill(crowd.process->pid, SIGABRT), 0);
	assert_true(harness_wait_end(crowd.process, 60));
	snprintf(pattern, sizeof(pattern), "%s/qemu_crowd_*_%d.core", harness_folder(),
		 crowd.process->pid);
	assert_int_equal(glob(pattern, 0, NULL, &found), 0);
	assert_int_equal(found.gl_pathc, 1);
	snprintf(core, sizeof(core), "%s", found.gl_pathv[0]);
	globfree(&found);
	return crowd;
}

static void end(struct crowd *crowd)
{
	unlink(core);
	crowd_end(crowd);
}

static void check_list(const struct crowd *crowd)
{
	json_t *answer = json_well(
		cli_run("fibertrace", "list", "--core", core, "--exe", program, "--json", NULL));

	assert_int_equal(json_int(answer, "total"), crowd->count);
	for (size_t i = 0; i < crowd->count; i++)
		crowd_agree(&crowd->members[i], json_fiber(answer, crowd->members[i].id));
	json_decref(answer);
}

/* Every walk is whole, and its frames have names and lines. */
static void check_walks(const struct crowd *crowd)
{
	const struct crowd_member *mutex = crowd_find(crowd, "mutex", "mutex-");
	struct harness_process *p;
	json_t *answer = json_well(
		cli_run("fibertrace", "--each", "--core", core, "--exe", program, "--json", NULL));

	crowd_walked(crowd, answer);
	json_decref(answer);
	p = cli_run("fibertrace", "bt", "--core", core, cli_number(mutex->id), "--exe", program,
		    NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "fiber_mutex_lock");
	cli_contains(p->out.bytes, "mutex_inner");
	cli_contains(p->out.bytes, "crowd_kinds.h:");
	cli_contains(p->out.bytes, "member_main");
	harness_free(p);
}

/* What gdb says of the core in which each fiber is a thread. */
static void check_debugger(void)
{
	char out[HARNESS_PATH];
	const char *const gdb[] = {"gdb-multiarch",	     "-nx",   "-batch", "-ex",
				   "thread apply all -q bt", program, out,	NULL};
	struct harness_process *p;

	cli_expect(cli_run("fibertrace", "to-core", "--core", core, "--exe", program, "-o",
			   harness_file(out, "fibers.core"), NULL),
		   0);
	if (access("/usr/bin/gdb-multiarch", X_OK))
		cli_skip("gdb-multiarch is missing: make deps-ports");
	p = harness_run(gdb, NULL, 60);
	cli_contains(p->out.bytes, "fiber_mutex_lock");
	cli_contains(p->out.bytes, "mutex_inner");
	cli_contains(p->out.bytes, "member_main");
	harness_free(p);
	unlink(out);
}

static void check(const char *machine)
{
	struct crowd crowd = start(machine);

	check_list(&crowd);
	check_walks(&crowd);
	check_debugger();
	end(&crowd);
}

static void test_core_of_aarch64_lists_walks_and_opens_in_gdb(void **state)
{
	(void)state;
	check("aarch64");
}

static void test_core_of_a_big_endian_machine_lists_walks_and_opens_in_gdb(void **state)
{
	(void)state;
	check("s390x");
}

/* In a core's notes. */
#define AARCH64_REGISTERS "34"
#define RISCV64_REGISTERS "32"

static void test_core_of_riscv64_lists_walks_and_opens_in_gdb(void **state)
{
	struct crowd crowd = run("riscv64");

	(void)state;
	run_script("foreign_core.py", cli_number((uint64_t)crowd.process->pid), program,
		   RISCV64_REGISTERS, harness_file(core, "riscv64.core"), NULL);
	harness_end(crowd.process);
	check_list(&crowd);
	check_walks(&crowd);
	check_debugger();
	end(&crowd);
}

/* crowd and libfiber.so are in a folder that stands for the root of the machine where the core is from. */
static void test_files_of_another_machine_are_found_below_a_sysroot(void **state)
{
	struct crowd crowd = run_at("aarch64", "sysroot/app/crowd");
	char root[HARNESS_PATH];
	struct harness_process *p;
	json_t *answer;

	(void)state;
	snprintf(root, sizeof(root), "%s/aarch64/sysroot", harness_build());
	run_script("foreign_core.py", cli_number((uint64_t)crowd.process->pid), program,
		   AARCH64_REGISTERS, harness_file(core, "shared.core"), root);
	harness_end(crowd.process);
	p = cli_run("fibertrace", "--each", "--core", core, NULL);
	cli_expect(p, 1);
	cli_contains(p->out.bytes, "the file of /app/libfiber.so.0 is missing");
	harness_free(p);
	answer = json_well(
		cli_run("fibertrace", "--each", "--core", core, "--sysroot", root, "--json", NULL));
	crowd_walked(&crowd, answer);
	json_decref(answer);
	p = cli_run("fibertrace", "bt", "--core", core,
		    cli_number(crowd_find(&crowd, "mutex", "mutex-")->id), "--sysroot", root, NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "libfiber/sync/mutex.c:");
	cli_contains(p->out.bytes, "crowd_kinds.h:");
	harness_free(p);
	end(&crowd);
}

/* The control socket is read while the program runs under the emulator. */
static void check_snapshot(const char *machine)
{
	struct crowd crowd = run(machine);
	char file[HARNESS_PATH];
	json_t *answer;

	cli_expect(cli_run("fiberctl", "snapshot", cli_number((uint64_t)crowd.process->pid), "-o",
			   harness_file(file, machine), NULL),
		   0);
	harness_end(crowd.process);
	answer = json_well(cli_run("fibertrace", "--each", file, "--json", NULL));
	crowd_walked(&crowd, answer);
	json_decref(answer);
	unlink(file);
	crowd_end(&crowd);
}

static void test_snapshot_of_aarch64_is_walked(void **state)
{
	(void)state;
	check_snapshot("aarch64");
}

static void test_snapshot_of_riscv64_is_walked(void **state)
{
	(void)state;
	check_snapshot("riscv64");
}

/* What the process answers about its carriers, events and changes can be read. */
static void check_answers(const char *file)
{
	json_t *answer = json_well(cli_run("fiberctl", "carriers", file, "--json", NULL));
	const json_t *runtime = json_array_get(json_object_get(answer, "runtimes"), 0);

	assert_string_equal(json_text(json_object_get(runtime, "poller"), "name"), "epoll");
	assert_int_equal(json_array_size(json_object_get(answer, "carriers")), 2);
	json_decref(answer);
	json_decref(json_well(cli_run("fiberctl", "pinned", file, "--json", NULL)));
	json_decref(json_well(cli_run("fiberctl", "slow", file, "--json", NULL)));
	json_decref(json_well(cli_run("fiberctl", "audit", file, "--json", NULL)));
	json_decref(json_well(cli_run("fiberctl", "policy", file, "--json", NULL)));
	json_decref(json_well(cli_run("fiberctl", "watchdog", file, "--json", NULL)));
}

/* Each damaged byte of the middle is found by its checksum, as in a file of this machine. */
static void check_damage(const char *file)
{
	FILE *f = fopen(file, "r+e");
	int byte;

	assert_non_null(f);
	assert_int_equal(fseek(f, 5000, SEEK_SET), 0);
	byte = fgetc(f);
	assert_int_equal(fseek(f, 5000, SEEK_SET), 0);
	fputc(byte ^ 1, f);
	fclose(f);
	cli_expect_error(cli_run("fibertrace", "list", file, NULL), 2, "fibertrace",
			 "is damaged: section 1 differs from its checksum");
}

static void test_snapshot_of_a_big_endian_machine_is_read(void **state)
{
	struct crowd crowd = run("s390x");
	const struct crowd_member *mutex = crowd_find(&crowd, "mutex", "mutex-");
	char file[HARNESS_PATH], name[64], socket[HARNESS_PATH];
	struct harness_process *p;
	json_t *answer;

	(void)state;
	snprintf(name, sizeof(name), "fiber/%d.sock", (int)crowd.process->pid);
	harness_file(socket, name);
	run_script("foreign_snapshot.py", socket, program, harness_file(file, "s390x"), NULL, NULL);
	cli_expect_error(cli_run("fiberctl", "list", socket, NULL), 2, "fiberctl",
			 "its machine has another byte order");
	harness_end(crowd.process);
	answer = json_well(cli_run("fibertrace", "list", file, "--json", NULL));
	assert_int_equal(json_int(answer, "total"), crowd.count);
	for (size_t i = 0; i < crowd.count; i++)
		crowd_agree(&crowd.members[i], json_fiber(answer, crowd.members[i].id));
	json_decref(answer);
	answer = json_well(cli_run("fibertrace", "--each", file, "--json", NULL));
	crowd_walked(&crowd, answer);
	json_decref(answer);
	p = cli_run("fiberctl", "bt", file, cli_number(mutex->id), NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "mutex_inner");
	cli_contains(p->out.bytes, "crowd_kinds.h:");
	harness_free(p);
	check_answers(file);
	check_damage(file);
	unlink(file);
	crowd_end(&crowd);
}

/* The same output of both. */
static void compare(const char *first, const char *second, const char *command, const char *option)
{
	struct harness_process *a = cli_run("fibertrace", command, first, option, NULL);
	struct harness_process *b = cli_run("fibertrace", command, second, option, NULL);

	cli_expect(a, 0);
	cli_expect(b, 0);
	assert_true(a->out.size > 1000);
	assert_string_equal(a->out.bytes, b->out.bytes);
	harness_free(a);
	harness_free(b);
}

static void test_recording_of_another_byte_order_is_the_same(void **state)
{
	char file[HARNESS_PATH], foreign[HARNESS_PATH];

	(void)state;
	step_file(file);
	run_script("foreign_recording.py", file, harness_file(foreign, "foreign.rec"), NULL, NULL,
		   NULL);
	compare(file, foreign, "report", NULL);
	compare(file, foreign, "report", "--json");
	compare(file, foreign, "export", "--perfetto");
	unlink(file);
	unlink(foreign);
}

static void test_recording_of_aarch64_is_read(void **state)
{
	struct crowd crowd = run("aarch64");
	char file[HARNESS_PATH];
	struct harness_process *p;

	(void)state;
	cli_ended(cli_run("fibertrace", "record", cli_number((uint64_t)crowd.process->pid), "--for",
			  "200ms", "-o", harness_file(file, "aarch64.rec"), NULL),
		  0);
	harness_end(crowd.process);
	p = cli_run("fibertrace", "report", file, NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "park_outer;park_inner;wait_for_park;fiber_park\n");
	harness_free(p);
	unlink(file);
	crowd_end(&crowd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_core_of_aarch64_lists_walks_and_opens_in_gdb),
		cmocka_unit_test(test_core_of_a_big_endian_machine_lists_walks_and_opens_in_gdb),
		cmocka_unit_test(test_core_of_riscv64_lists_walks_and_opens_in_gdb),
		cmocka_unit_test(test_files_of_another_machine_are_found_below_a_sysroot),
		cmocka_unit_test(test_snapshot_of_aarch64_is_walked),
		cmocka_unit_test(test_snapshot_of_riscv64_is_walked),
		cmocka_unit_test(test_snapshot_of_a_big_endian_machine_is_read),
		cmocka_unit_test(test_recording_of_another_byte_order_is_the_same),
		cmocka_unit_test(test_recording_of_aarch64_is_read),
	};

	harness_watchdog(300);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
