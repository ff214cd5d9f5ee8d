/* SPDX-License-Identifier: MIT */
/*
 * test_overflow.c - a stack overflow names the fiber and leaves a core with its frames
 *
 * Large frames: compiled with libfiber's flags, an overflow by frames of any size hits the fiber's
 * own guard. Without the flags this holds for frames up to the size of the guard. Larger frames may
 * jump over it; if the program dies of that, the fiber is named.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness/cli/cli.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

static void died_by_segv(const struct harness_process *p)
{
	assert_true(p->ended);
	assert_false(p->timed_out);
	assert_true(WIFSIGNALED(p->status));
	assert_int_equal(WTERMSIG(p->status), SIGSEGV);
}

static void needs_the_default_fault_action(void)
{
	if (*harness_sanitizer() && strcmp(harness_sanitizer(), "undefined"))
		cli_skip("this sanitizer handles the fault itself");
}

static void test_overflow_report_names_fiber_id_and_stack_size(void **state)
{
	struct harness_process *p;
	char wanted[128];
	unsigned id;

	(void)state;
	needs_the_default_fault_action();
	p = cli_run("overflow", "--name", "request-4711", "--stack", "131072", NULL);
	died_by_segv(p);
	assert_int_equal(sscanf(p->out.bytes, "fiber %u descends", &id), 1);
	snprintf(wanted, sizeof(wanted), "fiber %u \"request-4711\"", id);
	cli_contains(p->err.bytes, wanted);
	cli_contains(p->err.bytes, "131072 bytes");
	cli_contains(p->err.bytes, "overflow");
	harness_free(p);
}

/* -- large frames -- */

#define STACK	 262144
#define GUARD	 65536
#define OVERHEAD 512 /* stack that a call of the fixture uses beside its array */
#define IN_GUARD "overflowed its stack of 262144 bytes (fault at"

static const size_t frames[] = {4096,	16384,	GUARD - OVERHEAD, 286720,
				327680, 524288, 1048576,	  2097152};

static struct harness_process *descend(const char *program, size_t guard, size_t frame)
{
	char guard_text[24], frame_text[24];

	snprintf(guard_text, sizeof guard_text, "%zu", guard);
	snprintf(frame_text, sizeof frame_text, "%zu", frame);
	return cli_run(program, "--stack", "262144", "--guard", guard_text, "--frame", frame_text,
		       NULL);
}

static void caught_in_its_guard(const char *program, size_t guard, size_t frame)
{
	struct harness_process *p = descend(program, guard, frame);

	died_by_segv(p);
	cli_contains(p->err.bytes, "\"deep\" " IN_GUARD);
	harness_free(p);
}

static void test_overflow_of_hardened_code_is_caught_whatever_its_frames(void **state)
{
	size_t i;

	(void)state;
	needs_the_default_fault_action();
	for (i = 0; i < sizeof frames / sizeof frames[0]; i++)
		caught_in_its_guard("overflow-hardened", GUARD, frames[i]);
}

static void test_overflow_is_caught_by_frames_up_to_the_guard(void **state)
{
	size_t i;

	(void)state;
	needs_the_default_fault_action();
	for (i = 0; i < sizeof frames / sizeof frames[0]; i++) {
		if (frames[i] + OVERHEAD <= GUARD)
			caught_in_its_guard("overflow", GUARD, frames[i]);
		if (frames[i] <= 1 << 20)
			caught_in_its_guard("overflow", (1 << 20) + 4096, frames[i]);
	}
}

static void test_overflow_past_the_guard_names_its_fiber_when_it_faults(void **state)
{
	size_t i;

	(void)state;
	needs_the_default_fault_action();
	for (i = 0; i < sizeof frames / sizeof frames[0]; i++) {
		struct harness_process *p;

		if (frames[i] <= GUARD)
			continue;
		p = descend("overflow", GUARD, frames[i]);
		assert_true(p->ended);
		if (WIFSIGNALED(p->status)) {
			died_by_segv(p);
			cli_contains(p->err.bytes, "\"deep\" overflowed its stack of 262144 bytes");
		} else {
			cli_contains(p->out.bytes, "no fault");
		}
		harness_free(p);
	}
}

/* The path of the core that the kernel writes into the process' folder; true if it is a plain file
 * there. */
static bool core_file(pid_t pid, char *buf)
{
	char pattern[128] = "", name[160];
	FILE *file = fopen("/proc/sys/kernel/core_pattern", "r");
	int uses_pid = 0;

	if (!file || !fgets(pattern, sizeof(pattern), file))
		return false;
	fclose(file);
	pattern[strcspn(pattern, "\n")] = '\0';
	if (!*pattern || strspn(pattern, "abcdefghijklmnopqrstuvwxyz.-_") != strlen(pattern))
		return false;
	file = fopen("/proc/sys/kernel/core_uses_pid", "r");
	if (file && fscanf(file, "%d", &uses_pid) == 1 && uses_pid)
		snprintf(name, sizeof(name), "%s.%d", pattern, pid);
	else
		snprintf(name, sizeof(name), "%s", pattern);
	if (file)
		fclose(file);
	harness_file(buf, name);
	return true;
}

static void test_overflow_core_of_the_kernel_has_the_fibers_frames(void **state)
{
	const struct harness_how how = {.folder = harness_folder(), .core = true};
	char core[HARNESS_PATH], program[HARNESS_PATH];
	struct harness_process *p;
	json_t *answer, *fiber;
	size_t i;
	bool found = false;

	(void)state;
	needs_the_default_fault_action();
	p = cli_run_how(&how, "overflow", NULL);
	died_by_segv(p);
	if (!core_file(p->pid, core) || access(core, R_OK)) {
		harness_free(p);
		cli_skip("the system writes no plain core file (kernel.core_pattern, ulimit -Hc)");
	}
	assert_true(WCOREDUMP(p->status));
	harness_free(p);

	/* gdb shows the faulting thread's calls down to the fiber's entry. */
	const char *const gdb[] = {"gdb",  "-nx", "-batch", "-ex",
				   "bt 3", "-ex", "bt -4",  harness_program(program, "overflow"),
				   core,   NULL};

	p = harness_run(gdb, NULL, CLI_SECONDS);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "SIGSEGV");
	cli_contains(p->out.bytes, "descend (level=");
	cli_contains(p->out.bytes, "deep_main");
	harness_free(p);

	/* fibertrace finds the other fibers in the same core. */
	p = cli_run("fibertrace", "--core", core, program, "--json", "--each", NULL);
	assert_in_range(harness_exit_code(p), 0, 1);
	answer = json_answer(p);
	json_array_foreach (json_object_get(answer, "fibers"), i, fiber)
		if (!strcmp(json_text(fiber, "name"), "bystander")) {
			found = true;
			assert_true(json_is_false(json_object_get(fiber, "truncated")));
			assert_true(json_array_size(json_object_get(fiber, "frames")) > 2);
		}
	assert_true(found);
	json_decref(answer);
	harness_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_overflow_report_names_fiber_id_and_stack_size),
		cmocka_unit_test(test_overflow_of_hardened_code_is_caught_whatever_its_frames),
		cmocka_unit_test(test_overflow_is_caught_by_frames_up_to_the_guard),
		cmocka_unit_test(test_overflow_past_the_guard_names_its_fiber_when_it_faults),
		cmocka_unit_test(test_overflow_core_of_the_kernel_has_the_fibers_frames),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
