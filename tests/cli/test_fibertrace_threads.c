/* SPDX-License-Identifier: MIT */
/* test_fibertrace_threads.c - threads as rows: what each waits for, who holds it, deadlocks */
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness/cli/crowd.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

/* ThreadSanitizer adds a thread of its own to each program. */
static bool has_tsan(void)
{
	return strcmp(harness_sanitizer(), "thread") == 0;
}

/* Start the fixture threads. type may be NULL. */
static struct crowd start(const char *scene, const char *n, const char *type)
{
	return crowd_of(cli_start(NULL, "ready ", "threads", scene, n, type, NULL));
}

static const char *pid_of(const struct crowd *crowd)
{
	return cli_number((uint64_t)crowd->process->pid);
}

/* Assert that a row has the wait that the fixture printed. names: rows have names. */
static void agree(const struct crowd_member *m, const json_t *row, bool names)
{
	const json_t *const wait = json_object_get(row, "wait");

	assert_non_null(row);
	if (names)
		assert_string_equal(json_text(row, "name"), m->name);
	assert_true(json_is_null(json_object_get(row, "ageNs")));
	assert_string_equal(json_text(wait, "kind"), m->kind);
	if (!strcmp(m->kind, "join"))
		assert_int_equal(json_int(wait, "targetId"), strtoull(m->object, NULL, 10));
	else if (!strcmp(m->kind, "fd"))
		assert_int_equal(json_int(wait, "fd"), strtoull(m->object, NULL, 10));
	else if (strcmp(m->object, "-"))
		assert_string_equal(json_text(wait, "objectName"), m->object);
	if (strcmp(m->holder, "-"))
		assert_int_equal(json_int(wait, "holderId"), strtoull(m->holder, NULL, 10));
	else
		assert_true(json_is_null(json_object_get(wait, "holderId")));
}

/* Assert that every row of the list agrees; a thread may run at the moment of a look. */
static void all_agree(const struct crowd *crowd, const char *target, const char *source)
{
	json_t *answer = json_well(cli_run("fibertrace", "list", target, "--json", NULL));

	json_promise_answer(answer, source);
	assert_true(json_is_true(json_object_get(answer, "threads")));
	for (size_t i = 0; i < crowd->count; i++)
		agree(&crowd->members[i], json_fiber(answer, crowd->members[i].id),
		      !strcmp(source, "live"));
	json_decref(answer);
}

/* The answer of `deadlock`; code: its exit status. */
static json_t *deadlock(const char *target, int code)
{
	struct harness_process *p = cli_run("fibertrace", "deadlock", target, "--json", NULL);
	json_t *answer;

	cli_expect(p, code);
	answer = json_answer(p);
	harness_free(p);
	return answer;
}

/* The only finding of an answer, or NULL. */
static const json_t *finding_of(const json_t *answer)
{
	return json_array_get(json_object_get(answer, "findings"), 0);
}

/* Let to-core write a core. */
static void write_core(const struct crowd *crowd, char core[HARNESS_PATH])
{
	struct harness_process *p = cli_run("fibertrace", "to-core", pid_of(crowd), "-o",
					    harness_file(core, "own.core"), "--force", NULL);

	cli_expect(p, 0);
	cli_contains(p->out.bytes, " of a program without fibers");
	harness_free(p);
}

/* Look at the process, at its core, and at the core that to-core writes. */
static void expect(const char *scene, const char *n, const char *type, const char *kind,
		   size_t members)
{
	struct crowd crowd = start(scene, n, type);
	char core[2][HARNESS_PATH];
	unsigned i, cores = 0;

	if (!*harness_sanitizer()) {
		cli_core(crowd.process->pid, "core", core[cores++]);
		write_core(&crowd, core[cores++]);
	}
	for (i = 0; i < 1 + cores; i++) {
		const char *target = i ? core[i - 1] : pid_of(&crowd);
		json_t *answer;

		all_agree(&crowd, target, i ? "core" : "live");
		answer = deadlock(target, kind ? 3 : 0);
		assert_int_equal(json_int(answer, "found"), kind != NULL);
		if (kind) {
			assert_string_equal(json_text(finding_of(answer), "kind"), kind);
			assert_int_equal(json_int(finding_of(answer), "count"), members);
		}
		json_decref(answer);
	}
	crowd_end(&crowd);
}

static void test_rings_of_mutexes_of_every_type_are_deadlocks(void **state)
{
	static const char *const types[] = {"normal",	"recursive", "errorcheck",
					    "adaptive", "robust",    "shared"};

	(void)state;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		expect("ring", "3", types[i], "cycle", 3);
}

static void test_a_ring_of_a_hundred_threads_is_one_deadlock(void **state)
{
	(void)state;
	expect("ring", "100", NULL, "cycle", 100);
}

static void test_rings_of_2_to_100_of_all_kinds_are_one_deadlock(void **state)
{
	static const unsigned sizes[] = {2, 5, 10, 33, 100};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		expect("kinds", cli_number(sizes[i]), NULL, "cycle", sizes[i]);
}

static void test_a_debugger_sees_the_same_owners(void **state)
{
	struct crowd crowd;
	struct harness_process *p;
	char owner[64];

	(void)state;
	if (*harness_sanitizer())
		cli_skip("gdb cannot read such a program");
	crowd = start("ring", "3", "robust");
	all_agree(&crowd, pid_of(&crowd), "live");
	p = harness_run((const char *[]){"gdb", "-nx", "-batch", "-p", pid_of(&crowd), "-ex",
					 "p mutexes[0].__data.__owner", "-ex",
					 "p mutexes[1].__data.__owner", "-ex",
					 "p mutexes[2].__data.__owner", NULL},
			NULL, CLI_SECONDS);
	cli_expect(p, 0);
	/* Member i wants the mutex of member i + 1. */
	for (size_t i = 0; i < 3; i++) {
		snprintf(owner, sizeof(owner), "$%zu = %s\n", i + 1,
			 crowd.members[(i + 2) % 3].holder);
		cli_contains(p->out.bytes, owner);
	}
	harness_free(p);
	crowd_end(&crowd);
}

static void test_a_thread_that_wants_what_it_holds_is_a_deadlock(void **state)
{
	(void)state;
	expect("self", NULL, NULL, "self-lock", 1);
}

static void test_crossed_rwlocks_are_a_deadlock(void **state)
{
	(void)state;
	expect("rwlocks", NULL, NULL, "cycle", 2);
}

static void test_a_join_is_part_of_a_cycle(void **state)
{
	(void)state;
	expect("join", NULL, NULL, "cycle", 2);
}

static void test_a_mutex_of_a_thread_that_has_exited_is_lost(void **state)
{
	(void)state;
	expect("orphan", NULL, NULL, "dead-holder", 1);
}

/* The process lives on, and its number leads to a thread that does not. */
static void test_a_process_whose_first_thread_has_exited_is_shown(void **state)
{
	struct crowd crowd = start("left", NULL, NULL);
	const char *const pid = pid_of(&crowd);
	char core[HARNESS_PATH];
	struct harness_process *p;

	(void)state;
	while (cli_state(crowd.process->pid) != 'Z')
		usleep(1000);
	for (unsigned i = 0; i < (*harness_sanitizer() ? 1 : 2); i++) {
		const char *target = i ? core : pid;
		json_t *answer;

		all_agree(&crowd, target, i ? "core" : "live");
		answer = deadlock(target, 3);
		assert_string_equal(json_text(finding_of(answer), "kind"), "dead-holder");
		json_decref(answer);
		p = cli_run("fibertrace", "why", target, NULL);
		cli_expect(p, 3);
		cli_contains(p->out.bytes, "threads.c:");
		harness_free(p);
		p = cli_run("fibertrace", "bt", "--all", target, NULL);
		cli_expect(p, 0);
		cli_contains(p->out.bytes, has_tsan() ? "shown 2 of 2" : "shown 1 of 1");
		harness_free(p);
		if (!i && !*harness_sanitizer())
			write_core(&crowd, core);
	}
	crowd_end(&crowd);
}

static void test_a_holder_in_another_process_is_unknown(void **state)
{
	(void)state;
	expect("foreign", NULL, NULL, NULL, 0);
}

static void test_readers_are_no_known_holder(void **state)
{
	(void)state;
	expect("readers", NULL, NULL, NULL, 0);
}

static void test_a_convoy_is_no_deadlock(void **state)
{
	(void)state;
	expect("convoy", "5", NULL, NULL, 0);
}

static void test_other_objects_are_recognized(void **state)
{
	(void)state;
	if (has_tsan())
		cli_skip("ThreadSanitizer takes the place of pthread_once()");
	expect("objects", NULL, NULL, NULL, 0);
}

static void test_system_calls_are_waits_for_descriptors_time_and_others(void **state)
{
	(void)state;
	expect("calls", NULL, NULL, NULL, 0);
}

static bool all_sleep(void *arg)
{
	const struct crowd *const crowd = arg;
	size_t i;

	for (i = 0; i < crowd->count && cli_state((pid_t)crowd->members[i].id) == 'S'; i++)
		;
	return i == crowd->count;
}

static void test_waits_of_a_process_that_was_stopped_and_resumed_are_the_same(void **state)
{
	struct crowd crowd = start("calls", NULL, NULL);

	(void)state;
	kill(crowd.process->pid, SIGSTOP);
	assert_true(harness_until(cli_stopped, &crowd.process->pid, CLI_SECONDS));
	all_agree(&crowd, pid_of(&crowd), "live");
	kill(crowd.process->pid, SIGCONT);
	/* Each thread calls again, and runs until then. */
	assert_true(harness_until(all_sleep, &crowd, CLI_SECONDS));
	all_agree(&crowd, pid_of(&crowd), "live");
	crowd_end(&crowd);
}

static void test_a_ring_with_deadlines_is_no_deadlock(void **state)
{
	struct crowd crowd = start("timed", NULL, NULL);
	json_t *answer = deadlock(pid_of(&crowd), 0);

	(void)state;
	assert_string_equal(json_text(finding_of(answer), "kind"), "cycle");
	assert_true(json_is_false(json_object_get(finding_of(answer), "deadlock")));
	assert_true(json_int(finding_of(answer), "leftNs") > INT64_C(3000000000000));
	json_decref(answer);
	crowd_end(&crowd);
}

/* The kernel refuses the last lock of the ring; glibc sleeps for ever then. */
static void test_a_refused_lock_with_inheritance_is_a_plain_futex(void **state)
{
	struct crowd crowd = start("ring", "2", "inherit");
	json_t *answer = json_well(cli_run("fibertrace", "list", pid_of(&crowd), "--json", NULL));
	unsigned futexes = 0, held = 0;

	(void)state;
	for (size_t i = 0; i < crowd.count; i++) {
		const struct crowd_member *m = &crowd.members[i];
		const json_t *wait = json_object_get(json_fiber(answer, m->id), "wait");

		if (!strcmp(json_text(wait, "kind"), "futex")) {
			futexes++;
			assert_true(json_is_null(json_object_get(wait, "holderId")));
		} else {
			held++;
			assert_string_equal(json_text(wait, "kind"), "mutex");
			assert_int_equal(json_int(wait, "holderId"), strtoull(m->holder, NULL, 10));
		}
	}
	assert_int_equal(futexes, 1);
	assert_int_equal(held, 1);
	json_decref(answer);
	crowd_end(&crowd);
}

static void test_busy_threads_are_never_a_deadlock(void **state)
{
	struct harness_process *busy = cli_start(NULL, "ready ", "threads", "busy", "4", NULL);

	(void)state;
	for (unsigned i = 0; i < 10; i++)
		cli_ended(cli_run("fibertrace", "deadlock", cli_number((uint64_t)busy->pid), NULL),
			  0);
	harness_free(busy);
}

static void test_the_text_has_both_places_and_says_that_it_shows_threads(void **state)
{
	struct crowd crowd = start("ring", NULL, NULL);
	struct harness_process *p = cli_run("fibertrace", "deadlock", pid_of(&crowd), NULL);
	char wanted[256];

	(void)state;
	cli_expect(p, 3);
	cli_contains(p->out.bytes, "deadlock: 2 threads wait for each other in a cycle\n");
	for (size_t i = 0; i < 2; i++) {
		snprintf(wanted, sizeof(wanted),
			 "thread %" PRIu64 " \"ring-%zu\" [suspended: mutex@", crowd.members[i].id,
			 i);
		cli_contains(p->out.bytes, wanted);
	}
	/* Twice. */
	cli_contains(p->out.bytes, "lock_next+0x");
	cli_contains(strstr(p->out.bytes, "lock_next+0x") + 1, "lock_next+0x");
	cli_contains(p->out.bytes, "1 deadlock; unchanged in 2 readings\n");
	cli_contains(p->out.bytes, " threads of a program without fibers, ");
	cli_contains(p->out.bytes, has_tsan() ? "shown 4 of 4 threads" : "shown 3 of 3 threads");
	assert_null(strstr(p->out.bytes, "fiber "));
	harness_free(p);
	crowd_end(&crowd);
}

/* Run a command on the ring of two and assert what it prints. */
static void expect_text(const char *command, const char *last, const char *wanted)
{
	struct crowd crowd = start("ring", NULL, NULL);
	struct harness_process *p =
		cli_run("fibertrace", command, pid_of(&crowd),
			!strcmp(last, "ID") ? cli_number(crowd.members[0].id) : last, NULL);

	cli_expect(p, 0);
	cli_contains(p->out.bytes, wanted);
	harness_free(p);
	crowd_end(&crowd);
}

static void test_every_command_that_looks_shows_threads(void **state)
{
	(void)state;
	expect_text("show", "ID", ": a deadlock, see the command 'deadlock'.\n");
	expect_text("bt", "ID", "lock_next+0x");
	expect_text("bt", "--all", "lock_next+0x");
	expect_text("stacks", "--frames=20", "lock_next+0x");
	expect_text("waits", "--limit=9", "         which is in a cycle\n");
	expect_text("list", "--where=wait=mutex",
		    has_tsan() ? "shown 2 of 4 threads" : "shown 2 of 3 threads");
}

static void test_how_long_threads_have_waited_is_unknown(void **state)
{
	struct crowd crowd = start("ring", NULL, NULL);
	json_t *answer = json_well(cli_run("fibertrace", "waits", pid_of(&crowd), "--json", NULL));
	const json_t *holders = json_object_get(answer, "holders");

	(void)state;
	assert_int_equal(json_array_size(holders), 2);
	for (size_t i = 0; i < 2; i++) {
		const json_t *objects = json_object_get(json_array_get(holders, i), "objects");

		assert_int_equal(json_array_size(objects), 1);
		assert_true(json_is_null(json_object_get(json_array_get(objects, 0), "ageNs")));
	}
	json_decref(answer);
	crowd_end(&crowd);
}

static void test_counts_and_graphs_speak_of_threads(void **state)
{
	(void)state;
	expect_text("list", "--group-by=wait", "         2        -        -        - ");
	expect_text("stacks", "--group-by=wait", "== wait \"mutex\": 2 threads\n");
	expect_text("waits", "--dot", "label=\"thread ");
}

static void test_a_running_thread_has_a_stack_unless_pauses_are_forbidden(void **state)
{
	struct harness_process *busy = cli_start(NULL, "ready ", "threads", "busy", "1", NULL), *p;
	const char *pid = cli_number((uint64_t)busy->pid);

	(void)state;
	p = cli_run("fibertrace", "bt", pid, "--all", "-v", NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "lock_in_order+0x");
	cli_contains(p->err.bytes, "fibertrace: stopped ");
	harness_free(p);
	p = cli_run("fibertrace", "bt", pid, "--all", "-v", "--no-pause", NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "no frames: it runs; no stack without stopping it\n");
	cli_contains(p->err.bytes, "fibertrace: stopped 0 times: ");
	harness_free(p);
	harness_free(busy);
}

static void test_threads_of_a_program_with_fibers_are_shown_on_request(void **state)
{
	struct crowd crowd = crowd_start(NULL, "crowd", "22", NULL);
	struct harness_process *p =
		cli_run("fibertrace", "list", pid_of(&crowd), "--threads", NULL);

	(void)state;
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "fiber-");
	cli_contains(p->out.bytes, " threads, sampled over ");
	assert_null(strstr(p->out.bytes, "without fibers"));
	harness_free(p);
	crowd_end(&crowd);
}

static void test_threads_are_refused_where_they_make_no_sense(void **state)
{
	struct crowd crowd = start("ring", NULL, NULL);
	const char *pid = pid_of(&crowd);

	(void)state;
	cli_expect_error(cli_run("fibertrace", "tree", pid, "--threads", NULL), 64, "fibertrace",
			 "--threads: does not go with this command");
	cli_expect_error(cli_run("fibertrace", "tree", pid, NULL), 2, "fibertrace",
			 "has no fibers to show");
	cli_expect_error(cli_run("fibertrace", "bt", pid, "1", NULL), 2, "fibertrace",
			 "thread 1: no such thread in process ");
	cli_expect_error(cli_run("fiberctl", "list", pid, "--threads", NULL), 64, "fiberctl",
			 "--threads: does not go with this command");
	crowd_end(&crowd);
}

static void test_a_program_without_fibers_is_found_by_its_name(void **state)
{
	struct crowd crowd = start("ring", NULL, NULL);
	struct harness_process *p = cli_run("fibertrace", "list", "threads", NULL);

	(void)state;
	/* Other tests may run such programs too. */
	if (harness_exit_code(p) == 0)
		cli_contains(p->out.bytes, "ring-0");
	else
		cli_contains(p->err.bytes, "processes have that name: give a process id:");
	harness_free(p);
	crowd_end(&crowd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rings_of_mutexes_of_every_type_are_deadlocks),
		cmocka_unit_test(test_a_ring_of_a_hundred_threads_is_one_deadlock),
		cmocka_unit_test(test_rings_of_2_to_100_of_all_kinds_are_one_deadlock),
		cmocka_unit_test(test_a_debugger_sees_the_same_owners),
		cmocka_unit_test(test_a_thread_that_wants_what_it_holds_is_a_deadlock),
		cmocka_unit_test(test_crossed_rwlocks_are_a_deadlock),
		cmocka_unit_test(test_a_join_is_part_of_a_cycle),
		cmocka_unit_test(test_a_mutex_of_a_thread_that_has_exited_is_lost),
		cmocka_unit_test(test_a_process_whose_first_thread_has_exited_is_shown),
		cmocka_unit_test(test_a_holder_in_another_process_is_unknown),
		cmocka_unit_test(test_readers_are_no_known_holder),
		cmocka_unit_test(test_a_convoy_is_no_deadlock),
		cmocka_unit_test(test_other_objects_are_recognized),
		cmocka_unit_test(test_system_calls_are_waits_for_descriptors_time_and_others),
		cmocka_unit_test(test_waits_of_a_process_that_was_stopped_and_resumed_are_the_same),
		cmocka_unit_test(test_a_ring_with_deadlines_is_no_deadlock),
		cmocka_unit_test(test_a_refused_lock_with_inheritance_is_a_plain_futex),
		cmocka_unit_test(test_busy_threads_are_never_a_deadlock),
		cmocka_unit_test(test_the_text_has_both_places_and_says_that_it_shows_threads),
		cmocka_unit_test(test_every_command_that_looks_shows_threads),
		cmocka_unit_test(test_how_long_threads_have_waited_is_unknown),
		cmocka_unit_test(test_counts_and_graphs_speak_of_threads),
		cmocka_unit_test(test_a_running_thread_has_a_stack_unless_pauses_are_forbidden),
		cmocka_unit_test(test_threads_of_a_program_with_fibers_are_shown_on_request),
		cmocka_unit_test(test_threads_are_refused_where_they_make_no_sense),
		cmocka_unit_test(test_a_program_without_fibers_is_found_by_its_name),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
