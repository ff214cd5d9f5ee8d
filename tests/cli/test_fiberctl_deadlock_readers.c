/* SPDX-License-Identifier: MIT */
/*
 * test_fiberctl_deadlock_readers.c - deadlocks through rwlocks that are held for reading
 *
 * Each is asked for over the socket, from memory, from a snapshot and from a core: all say the same.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/cli/crowd.h"
#include "tests/harness/cli/golden.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

static struct crowd crowd;
static const char *pid;
static char snapshot[HARNESS_PATH], core[HARNESS_PATH];

static void start(const char *option, const char *argument)
{
	crowd = crowd_of(cli_start(NULL, "ready ", "deadlock", option, argument, NULL));
	pid = cli_number((uint64_t)crowd.process->pid);
	crowd_grow_old(pid);
	cli_ended(cli_run("fiberctl", "snapshot", pid, "-o", harness_file(snapshot, "readers.snap"),
			  "--force", NULL),
		  0);
	*core = 0;
	/* A sanitizer's shadow makes a core of terabytes. */
	if (!*harness_sanitizer())
		cli_core(crowd.process->pid, "readers.core", core);
}

/* The text that a tool prints, without stacks and changing numbers. */
static void expect_of(const char *tool, const char *who, int code, const char *wanted)
{
	struct harness_process *p = cli_run(tool, "deadlock", who, "--frames", "1", NULL);

	cli_expect(p, code);
	golden_text(p->out.bytes);
	if (strncmp(p->out.bytes, wanted, strlen(wanted)) != 0)
		cli_contains(p->out.bytes, wanted);
	if (strstr(p->out.bytes, "not followed"))
		fail_msg("%s", p->out.bytes);
	harness_free(p);
}

static void expect(int code, const char *wanted)
{
	expect_of("fiberctl", pid, code, wanted);
	expect_of("fibertrace", pid, code, wanted);
	expect_of("fibertrace", snapshot, code, wanted);
	if (*core)
		expect_of("fibertrace", core, code, wanted);
}

/* The line of a fiber's wait, and a frame. */
static size_t say(char *out, const struct crowd_member *m, const char *held)
{
	return (size_t)sprintf(out, "fiber %" PRIu64 " \"%s\" [suspended: %s \"%s\"%s, T]\n", m->id,
			       m->name, m->kind, m->object, held);
}

/* "1,2,t,": the ids of the holders of a fiber of the only finding; t: a thread. Ends with unknown. */
static void expect_holders(uint64_t id, const char *wanted)
{
	json_t *answer = json_ended(
		cli_run("fiberctl", "deadlock", pid, "--json", "--frames", "1", NULL), 3);
	json_t *finding = json_array_get(json_object_get(answer, "findings"), 0), *fiber, *holder;
	char text[256] = "";
	size_t i, k, n = 0;

	json_array_foreach (json_object_get(finding, "fibers"), i, fiber) {
		const json_t *wait = json_object_get(fiber, "wait");

		if ((uint64_t)json_int(fiber, "id") != id)
			continue;
		json_array_foreach (json_object_get(wait, "holders"), k, holder) {
			json_promise(holder, "holder",
				     "holderId:i? holderThread:i? holderName:s? holderState:s?");
			if (json_is_null(json_object_get(holder, "holderId")))
				n += (size_t)snprintf(text + n, sizeof(text) - n, "t,");
			else
				n += (size_t)snprintf(text + n, sizeof(text) - n, "%d,",
						      (int)json_int(holder, "holderId"));
		}
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%d",
				      (int)json_int(wait, "holdersUnknown"));
	}
	json_decref(answer);
	assert_string_equal(text, wanted);
}

static void test_the_only_reader_that_wants_to_write_waits_for_itself(void **state)
{
	char wanted[512];
	size_t n;

	(void)state;
	start("--upgrade", "1");
	n = (size_t)sprintf(
		wanted, "deadlock: fiber %" PRIu64 " \"upgrader\" waits for what it holds itself\n",
		crowd.members[0].id);
	n += say(wanted + n, &crowd.members[0], "");
	sprintf(wanted + n, "  held for reading by fiber %" PRIu64 " \"upgrader\"\n",
		crowd.members[0].id);
	expect(3, wanted);
	crowd_end(&crowd);
}

static void test_readers_that_all_want_to_write_wait_for_each_other(void **state)
{
	char wanted[512], holders[64];
	const struct crowd_member *m;
	size_t n;

	(void)state;
	start("--upgrade", "3");
	m = crowd.members;
	n = (size_t)sprintf(wanted, "deadlock: 3 fibers wait for each other\n");
	n += say(wanted + n, m, "");
	sprintf(wanted + n,
		"  held for reading by fiber %" PRIu64 " \"upgrader\", fiber %" PRIu64
		" \"upgrader\" and fiber %" PRIu64 " \"upgrader\"\n",
		m[0].id, m[1].id, m[2].id);
	expect(3, wanted);
	sprintf(holders, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",0", m[0].id, m[1].id, m[2].id);
	expect_holders(m[1].id, holders);
	crowd_end(&crowd);
}

static void test_a_reader_that_reads_again_behind_a_writer_is_a_deadlock(void **state)
{
	const struct crowd_member *reader, *writer;
	char wanted[512];
	size_t n;

	(void)state;
	start("--read-again", NULL);
	reader = crowd_find(&crowd, "rwlock-read", "again");
	writer = crowd_find(&crowd, "rwlock-write", "writer");
	n = (size_t)sprintf(wanted, "deadlock: 2 fibers wait for each other in a cycle\n");
	n += say(wanted + n, reader, "");
	sprintf(wanted + n, "  behind fiber %" PRIu64 " \"writer\", which waits to write\n",
		writer->id);
	expect(3, wanted);
	crowd_end(&crowd);
}

static void test_a_mutex_and_one_of_many_readers_are_a_cycle(void **state)
{
	const struct crowd_member *put;
	char wanted[512], holders[64];
	size_t n;

	(void)state;
	start("--read-mutex-thread", "3");
	put = crowd_find(&crowd, "rwlock-write", "put");
	n = (size_t)sprintf(wanted, "deadlock: 2 fibers wait for each other in a cycle\n");
	n += say(wanted + n, put, "");
	sprintf(wanted + n,
		"  held for reading by fiber %d \"get\", fiber %d \"get\", fiber %d "
		"\"get-last\" and thread %s",
		(int)put->id + 1, (int)put->id + 2, (int)put->id + 3, pid);
	expect(3, wanted);
	sprintf(holders, "%d,%d,%d,t,0", (int)put->id + 1, (int)put->id + 2, (int)put->id + 3);
	expect_holders(put->id, holders);
	crowd_end(&crowd);
}

static void test_a_cycle_through_readers_may_end_with_a_deadline(void **state)
{
	(void)state;
	start("--read-mutex-timed", "2");
	expect(0, "timed: 2 fibers wait for each other in a cycle, until a deadline in T\nfiber ");
	crowd_end(&crowd);
}

static void test_a_lock_that_a_dead_fiber_reads_is_lost(void **state)
{
	(void)state;
	start("--read-dead", NULL);
	expect(3, "deadlock: rwlock-write \"dead-read\"@ is held by fiber ");
	expect(3, " \"dead-reader\", which has ended; 1 fiber waits for it\n");
	crowd_end(&crowd);
}

static void test_a_lock_that_a_thread_reads_names_the_thread(void **state)
{
	char wanted[256];

	(void)state;
	start("--read-thread", NULL);
	snprintf(wanted, sizeof(wanted),
		 "thread: rwlock-write \"thread-read\"@ is held by thread %s", pid);
	expect(0, wanted);
	crowd_end(&crowd);
}

static void test_a_writer_behind_readers_that_go_on_is_no_deadlock(void **state)
{
	(void)state;
	start("--read-queue", "5");
	expect(0, "no deadlock\n");
	crowd_end(&crowd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_only_reader_that_wants_to_write_waits_for_itself),
		cmocka_unit_test(test_readers_that_all_want_to_write_wait_for_each_other),
		cmocka_unit_test(test_a_reader_that_reads_again_behind_a_writer_is_a_deadlock),
		cmocka_unit_test(test_a_mutex_and_one_of_many_readers_are_a_cycle),
		cmocka_unit_test(test_a_cycle_through_readers_may_end_with_a_deadline),
		cmocka_unit_test(test_a_lock_that_a_dead_fiber_reads_is_lost),
		cmocka_unit_test(test_a_lock_that_a_thread_reads_names_the_thread),
		cmocka_unit_test(test_a_writer_behind_readers_that_go_on_is_no_deadlock),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
