/* SPDX-License-Identifier: MIT */
/* test_fibertrace_running.c - frames of running fibers, without an effect on the program */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/harness/cli/crowd.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

static const char *const off[] = {"FIBER_CONTROL=off", NULL};

static struct harness_process *stuck(const char *where, const struct harness_how *how)
{
	const struct harness_how quiet = {.env = off};
	char program[HARNESS_PATH];

	/* stuck has its own malloc, so use the build without a sanitizer. */
	return cli_start(how ? how : &quiet, "ready ", harness_plain(program, "stuck"), where,
			 NULL);
}

/* The fiber of this name in an answer of --each. */
static const json_t *named(const json_t *answer, const char *name)
{
	const json_t *fiber;
	size_t i;

	json_array_foreach (json_object_get(answer, "fibers"), i, fiber)
		if (!strcmp(json_text(fiber, "name"), name))
			return fiber;
	fail_msg("no fiber %s", name);
	return NULL;
}

/* The number of frames of this function. */
static unsigned has(const json_t *fiber, const char *function)
{
	const json_t *frame;
	unsigned n = 0;
	size_t i;

	json_array_foreach (json_object_get(fiber, "frames"), i, frame)
		n += !strcmp(json_text(frame, "function"), function);
	return n;
}

static json_t *trace(const struct harness_process *p, const char *option, int code)
{
	struct harness_process *tool = cli_run("fibertrace", cli_number((uint64_t)p->pid), "--json",
					       "--each", option, NULL);
	json_t *answer;

	cli_expect(tool, code);
	answer = json_answer(tool);
	json_promise_answer(answer, "live");
	harness_free(tool);
	return answer;
}

/* Assert that the running fiber is complete from its entry on and has these two functions. */
static void is_there(const struct harness_process *p, const char *inner, const char *outer)
{
	json_t *answer = trace(p, "--verbose", 0);
	const json_t *const fiber = named(answer, "stuck");

	assert_string_equal(json_text(fiber, "state"), "running");
	assert_true(json_is_false(json_object_get(fiber, "truncated")));
	assert_true(json_is_false(json_object_get(fiber, "switching")));
	assert_true(json_is_true(json_object_get(fiber, "paused")));
	assert_int_equal(has(fiber, inner), 1);
	assert_int_equal(has(fiber, outer), 1);
	assert_int_equal(has(fiber, "stuck_main"), 1);
	assert_int_equal(has(fiber, "fib_arch_entry"), 1);
	assert_int_equal(has(named(answer, "parked"), "parked_main"), 1);
	json_decref(answer);
}

static void test_a_running_fiber_is_walked_wherever_it_is(void **state)
{
	static const char *const places[][3] = {
		{"spin", "spin", "stuck_main"},		  {"sleep", "in_sleep", "stuck_main"},
		{"poll", "in_poll", "stuck_main"},	  {"epoll", "in_epoll", "stuck_main"},
		{"read", "in_read", "stuck_main"},	  {"handler", "on_signal", "in_handler"},
		{"altstack", "on_signal", "in_altstack"}, {"malloc", "in_malloc", "stuck_main"},
		{"loader", "in_loader", "stuck_main"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct harness_process *p = stuck(places[i][0], NULL);

		print_message("# %s\n", places[i][0]);
		is_there(p, places[i][1], places[i][2]);
		is_there(p, places[i][1], places[i][2]);
		/* None of its system calls was interrupted. */
		assert_null(harness_wait_line(p, "returned", 0));
		assert_false(p->ended);
		harness_free(p);
	}
}

/* The value of this variable in the fiber's frame of the function; it must be known. */
static const char *value(const json_t *fiber, const char *function, const char *kind,
			 const char *name)
{
	const json_t *frame, *v;
	size_t i, k;

	json_array_foreach (json_object_get(fiber, "frames"), i, frame) {
		if (strcmp(json_text(frame, "function"), function) != 0)
			continue;
		json_array_foreach (json_object_get(frame, kind), k, v) {
			if (strcmp(json_text(v, "name"), name) != 0)
				continue;
			print_message("# %s = %s\n", name, json_text(v, "value"));
			assert_true(json_is_true(json_object_get(v, "available")));
			return json_text(v, "value");
		}
	}
	fail_msg("%s: no %s of %s", name, kind, function);
	return NULL;
}

static void has_values(struct harness_process *tool)
{
	json_t *answer;
	const json_t *fiber;

	answer = json_well(tool);
	fiber = named(answer, "stuck");
	assert_true(json_is_true(json_object_get(fiber, "paused")));
	assert_string_equal(value(fiber, "reckon", "args", "number"), "-4711");
	cli_contains(value(fiber, "reckon", "args", "text"), " \"in registers\"");
	assert_string_equal(value(fiber, "reckon", "locals", "product"), "-14133");
	assert_string_equal(value(fiber, "reckon", "locals", "kept"), "-14132");
	json_decref(answer);
}

static void test_what_a_running_fiber_has_in_registers_is_known(void **state)
{
	struct harness_process *p = stuck("reckon", NULL);
	char core[HARNESS_PATH];

	(void)state;
	has_values(cli_run("fibertrace", cli_number((uint64_t)p->pid), "--json", "--each", "--args",
			   "--locals", NULL));
	if (!*harness_sanitizer()) {
		cli_core(p->pid, "core", core);
		has_values(cli_run("fibertrace", "--core", core, "--json", "--each", "--args",
				   "--locals", NULL));
	}
	harness_free(p);
}

static void test_every_carrier_that_spins_is_walked(void **state)
{
	const struct harness_how how = {.env = off};
	struct crowd spin = crowd_start(&how, "spin", NULL, NULL);
	json_t *answer = trace(spin.process, "--verbose", 0);

	(void)state;
	for (size_t i = 0; i < spin.count; i++) {
		const json_t *const fiber = json_fiber(answer, spin.members[i].id);

		if (strcmp(spin.members[i].kind, "running"))
			continue;
		assert_true(json_is_true(json_object_get(fiber, "paused")));
		assert_int_equal(has(fiber, "spin_forever"), 1);
		assert_int_equal(has(fiber, "spinner_main"), 1);
		assert_true(json_int(json_object_get(fiber, "stack"), "used") > 0);
	}
	json_decref(answer);
	crowd_end(&spin);
}

static void test_no_pause_stops_nobody(void **state)
{
	struct harness_process *p = stuck("spin", NULL), *tool;
	json_t *answer = trace(p, "--no-pause", 0);

	(void)state;
	assert_string_equal(json_text(named(answer, "stuck"), "state"), "running");
	assert_int_equal(json_array_size(json_object_get(named(answer, "stuck"), "frames")), 0);
	assert_true(json_is_false(json_object_get(named(answer, "stuck"), "paused")));
	json_decref(answer);
	tool = cli_run("fibertrace", cli_number((uint64_t)p->pid), "--no-pause", "--verbose", NULL);
	cli_expect(tool, 0);
	cli_contains(tool->err.bytes, "stopped 0 times");
	harness_free(tool);
	tool = cli_run("fibertrace", cli_number((uint64_t)p->pid), "--verbose", NULL);
	cli_expect(tool, 0);
	cli_contains(tool->err.bytes, "fibertrace: stopped ");
	assert_null(strstr(tool->err.bytes, "stopped 0 times"));
	harness_free(tool);
	harness_free(p);
}

static bool goes_on(void *pid)
{
	return strchr("RS", cli_state(*(pid_t *)pid)) != NULL;
}

static void test_a_stopped_program_is_walked_and_stays_stopped(void **state)
{
	struct harness_process *p = stuck("spin", NULL);

	(void)state;
	kill(p->pid, SIGSTOP);
	assert_true(harness_until(cli_stopped, &p->pid, CLI_SECONDS));
	is_there(p, "spin", "stuck_main");
	assert_true(harness_until(cli_stopped, &p->pid, CLI_SECONDS));
	is_there(p, "spin", "stuck_main");
	assert_true(harness_until(cli_stopped, &p->pid, CLI_SECONDS));
	kill(p->pid, SIGCONT);
	assert_true(harness_until(goes_on, &p->pid, CLI_SECONDS));
	is_there(p, "spin", "stuck_main");
	harness_free(p);
}

/* Assert that suspended fibers are shown, the running one is not stopped, and one line says why. */
static void is_partial(struct harness_process *tool, const char *why)
{
	cli_expect(tool, 1);
	cli_contains(tool->out.bytes, "parked_main");
	cli_contains(tool->out.bytes, "incomplete: running fibers were not stopped: ");
	cli_contains(tool->out.bytes, why);
	cli_contains(tool->out.bytes, "--no-pause");
	harness_free(tool);
}

static void test_where_ptrace_is_forbidden_the_rest_is_shown(void **state)
{
	/* LeakSanitizer needs ptrace. */
	static const char *const env[] = {"ASAN_OPTIONS=detect_leaks=0", NULL};
	const struct harness_how how = {.forbid = SYS_ptrace, .env = env};
	struct harness_process *p = stuck("spin", NULL), *tool;
	const char *const pid = cli_number((uint64_t)p->pid);

	(void)state;
	is_partial(cli_run_how(&how, "fibertrace", pid, NULL), "ptrace(2) is forbidden here");
	tool = cli_run_how(&how, "fibertrace", pid, "--no-pause", NULL);
	cli_ended(tool, 0);
	harness_free(p);
}

static void test_who_traces_the_process_already_is_named(void **state)
{
	struct harness_process *p = stuck("spin", NULL);
	char path[64], who[64];
	unsigned tid;

	(void)state;
	/* Trace all threads of the process, as gdb does. */
	for (tid = (unsigned)p->pid; tid < (unsigned)p->pid + 50; tid++) {
		snprintf(path, sizeof(path), "/proc/%d/task/%u", p->pid, tid);
		if (access(path, F_OK) == 0)
			assert_int_equal(ptrace(PTRACE_SEIZE, tid, NULL, NULL), 0);
	}
	snprintf(who, sizeof(who), "process %d (test_fibertrace) traces", getpid());
	is_partial(cli_run("fibertrace", cli_number((uint64_t)p->pid), NULL), who);
	/*
	 * Any other signal would stop the process for its tracer, this test. Each of its threads
	 * waits for the tracer when it exits.
	 */
	kill(p->pid, SIGKILL);
	for (tid = (unsigned)p->pid + 1; tid < (unsigned)p->pid + 50; tid++)
		waitpid((pid_t)tid, NULL, __WALL);
	harness_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_running_fiber_is_walked_wherever_it_is),
		cmocka_unit_test(test_what_a_running_fiber_has_in_registers_is_known),
		cmocka_unit_test(test_every_carrier_that_spins_is_walked),
		cmocka_unit_test(test_no_pause_stops_nobody),
		cmocka_unit_test(test_a_stopped_program_is_walked_and_stays_stopped),
		cmocka_unit_test(test_where_ptrace_is_forbidden_the_rest_is_shown),
		cmocka_unit_test(test_who_traces_the_process_already_is_named),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
