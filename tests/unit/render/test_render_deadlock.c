/* SPDX-License-Identifier: MIT */
/* test_render_deadlock.c - the line and the object of each kind of finding */
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inspect/render/render_deadlock.h"
#include "tests/harness/inspect/waiting.h"

static struct waiting w;
static struct ins_deadlocks *found;
static struct fib_layout layout;

static int begin(void **state)
{
	(void)state;
	w = waiting_new();
	found = NULL;
	rows_layout(&layout);
	return 0;
}

static int end(void **state)
{
	(void)state;
	ins_deadlocks_free(found);
	waiting_free(&w);
	return 0;
}

static void find(pid_t pid)
{
	waiting_graph(&w);
	assert_int_equal(ins_deadlocks_find(w.graph, NULL, pid, &found), 0);
}

/* The line of finding i. */
static void expect(size_t i, pid_t pid, const char *wanted)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	ins_text_deadlock(out, &layout, found, ins_deadlocks_at(found, i), pid);
	fclose(out);
	assert_string_equal(text, wanted);
	free(text);
}

static void expect_end(unsigned readings, const char *wanted)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	ins_text_deadlocks_end(out, found, readings);
	fclose(out);
	assert_string_equal(text, wanted);
	free(text);
}

static json_t *object_of(size_t i, pid_t pid)
{
	json_t *ret = ins_json_deadlock(&layout, found, ins_deadlocks_at(found, i), pid,
					json_array(), json_null());

	assert_non_null(ret);
	return ret;
}

static const char *text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static void test_a_cycle_and_those_behind_it_are_counted(void **state)
{
	json_t *object;

	(void)state;
	waiting_lock(&w, 1, 1, 2);
	waiting_lock(&w, 2, 2, 1);
	waiting_lock(&w, 3, 2, 1);
	find(0);
	expect(0, 0,
	       "deadlock: 2 fibers wait for each other in a cycle, and 1 fiber waits behind "
	       "them\n");
	expect_end(2, "1 deadlock; unchanged in 2 readings\n");
	object = object_of(0, 0);
	assert_string_equal(text_of(object, "kind"), "cycle");
	assert_true(json_is_true(json_object_get(object, "deadlock")));
	assert_int_equal(json_integer_value(json_object_get(object, "behind")), 1);
	assert_int_equal(json_integer_value(json_object_get(object, "count")), 2);
	assert_true(json_is_null(json_object_get(object, "lock")));
	assert_true(json_is_null(json_object_get(object, "leftNs")));
	assert_int_equal(json_integer_value(json_array_get(json_object_get(object, "fiberIds"), 1)),
			 2);
	json_decref(object);
}

static void test_a_deadline_is_said_as_what_is_left(void **state)
{
	struct ins_fiber fiber = waiting_for(1, FIB_WAIT_MUTEX, 1, 1);
	json_t *object;

	(void)state;
	fiber.row.deadline = fiber.now + INT64_C(2100000000);
	waiting_put(&w, &fiber);
	find(0);
	expect(0, 0,
	       "timed: fiber 1 \"f1\" waits for what it holds itself, until a deadline in "
	       "2.1s\n");
	expect_end(2, "no deadlock, and 1 that may come to an end; unchanged in 2 readings\n");
	object = object_of(0, 0);
	assert_string_equal(text_of(object, "kind"), "self-lock");
	assert_true(json_is_false(json_object_get(object, "deadlock")));
	assert_true(json_integer_value(json_object_get(object, "leftNs")) == INT64_C(2100000000));
	json_decref(object);
}

static void test_a_deadline_that_has_passed_or_is_nonsense_has_nothing_left(void **state)
{
	struct ins_fiber fiber = waiting_for(1, FIB_WAIT_MUTEX, 1, 1);

	(void)state;
	fiber.row.deadline = INT64_MIN;
	waiting_put(&w, &fiber);
	find(0);
	expect(0, 0,
	       "timed: fiber 1 \"f1\" waits for what it holds itself, until a deadline in 0s\n");
}

static void test_a_lost_lock_names_the_lock_and_who_had_it(void **state)
{
	json_t *object, *lock;

	(void)state;
	waiting_lock(&w, 1, 5, 99);
	waiting_lock(&w, 2, 5, 99);
	waiting_dead(&w, 3);
	waiting_lock(&w, 4, 6, 3);
	find(0);
	expect(0, 0,
	       "deadlock: mutex \"o5\"@0x5000 is held by fiber 99, which has ended; 2 fibers "
	       "wait for it\n");
	expect(1, 0,
	       "deadlock: mutex \"o6\"@0x6000 is held by fiber 3 \"f3\", which has ended; 1 "
	       "fiber waits for it\n");
	expect_end(1, "2 deadlocks\n");
	object = object_of(1, 0);
	assert_string_equal(text_of(object, "kind"), "dead-holder");
	lock = json_object_get(object, "lock");
	assert_string_equal(text_of(lock, "kind"), "mutex");
	assert_string_equal(text_of(lock, "object"), "0x6000");
	assert_string_equal(text_of(lock, "objectName"), "o6");
	assert_int_equal(json_integer_value(json_object_get(lock, "holderId")), 3);
	assert_string_equal(text_of(lock, "holderName"), "f3");
	assert_string_equal(text_of(lock, "holderState"), "dead");
	assert_true(json_is_null(json_object_get(lock, "holderThread")));
	json_decref(object);
	object = object_of(0, 0);
	lock = json_object_get(object, "lock");
	assert_string_equal(text_of(lock, "holderState"), "gone");
	assert_true(json_is_null(json_object_get(lock, "holderName")));
	json_decref(object);
}

static void test_a_threads_lock_names_the_thread_as_far_as_it_is_known(void **state)
{
	char wanted[256];
	json_t *object, *lock;

	(void)state;
	waiting_lock(&w, 1, 5, FIB_HOLDER_THREAD | (uint64_t)gettid());
	find(getpid());
	snprintf(wanted, sizeof wanted,
		 "thread: mutex \"o5\"@0x5000 is held by thread %d \"%.15s\", which is no fiber; 1 "
		 "fiber waits for it\n",
		 (int)gettid(), program_invocation_short_name);
	expect(0, getpid(), wanted);
	snprintf(wanted, sizeof wanted,
		 "thread: mutex \"o5\"@0x5000 is held by thread %d, which is no fiber; 1 fiber "
		 "waits for it\n",
		 (int)gettid());
	expect(0, 0, wanted);
	object = object_of(0, getpid());
	assert_string_equal(text_of(object, "kind"), "thread-holder");
	lock = json_object_get(object, "lock");
	assert_int_equal(json_integer_value(json_object_get(lock, "holderThread")), gettid());
	assert_string_equal(text_of(lock, "holderState"), "alive");
	json_decref(object);
}

/* The output for a thread whose walk has no frames. */
static void expect_thread(const struct ins_thread_stack *stack, const char *wanted,
			  const char *call)
{
	struct ins_walk walk = {.truncated = true, .reason = "no reason"};
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	json_t *object = ins_json_thread(stack, NULL, &walk);

	ins_text_thread(out, stack, NULL, &walk, 0);
	fclose(out);
	assert_string_equal(text, wanted);
	free(text);
	assert_int_equal(json_integer_value(json_object_get(object, "tid")), 12);
	if (call)
		assert_string_equal(text_of(object, "systemCall"), call);
	else
		assert_true(json_is_null(json_object_get(object, "systemCall")));
	assert_string_equal(text_of(object, "why"), "no reason");
	assert_true(json_is_true(json_object_get(object, "truncated")));
	assert_int_equal(json_integer_value(json_object_get(object, "framesLeftOut")), 0);
	json_decref(object);
}

static void test_a_thread_is_said_to_be_in_a_system_call_or_to_run(void **state)
{
	struct ins_thread_stack stack = {.tid = 12, .call = SYS_futex};

	(void)state;
	expect_thread(&stack, "thread 12 [in system call futex]\n  truncated: no reason\n",
		      "futex");
	stack.call = 77777;
	expect_thread(&stack, "thread 12 [in system call 77777]\n  truncated: no reason\n",
		      "77777");
	stack.call = -1;
	expect_thread(&stack, "thread 12 [in no system call]\n  truncated: no reason\n", NULL);
	stack.call = INS_THREAD_STACK_CALL_UNKNOWN;
	expect_thread(&stack, "thread 12\n  truncated: no reason\n", NULL);
	stack.state = FIB_WIRE_THREAD_RUNS;
	expect_thread(&stack, "thread 12 [running]\n  truncated: no reason\n", NULL);
}

static void test_a_join_on_an_ancestor_names_both(void **state)
{
	struct ins_fiber fiber = waiting_for(1, FIB_WAIT_GROUP, 5, 0);
	json_t *object;

	(void)state;
	waiting_put(&w, &fiber);
	waiting_join(&w, 2, 1, 1);
	waiting_free_one(&w, 3, 0);
	waiting_join(&w, 4, 3, 3);
	find(0);
	expect(0, 0,
	       "deadlock: fiber 2 \"f2\" joins its ancestor fiber 1 \"f1\", whose "
	       "descendants all wait for it or cannot go on either\n");
	expect(1, 0,
	       "suspect: fiber 4 \"f4\" joins its ancestor fiber 3 \"f3\", which may go on\n");
	expect_end(2, "1 deadlock, and 1 that may come to an end; unchanged in 2 readings\n");
	object = object_of(0, 0);
	assert_string_equal(text_of(object, "kind"), "join-ancestor");
	json_decref(object);
}

static void test_names_that_would_move_a_cursor_do_not(void **state)
{
	struct ins_fiber fiber = waiting_for(1, FIB_WAIT_MUTEX, 1, 1);

	(void)state;
	strcpy(fiber.row.name, "a\"\x1b[2J");
	waiting_put(&w, &fiber);
	fiber = waiting_for(2, FIB_WAIT_MUTEX, 2, 99);
	strcpy(fiber.row.object_name, "\x1b\n");
	waiting_put(&w, &fiber);
	find(0);
	expect(0, 0, "deadlock: fiber 1 \"a\\\"\\x1b[2J\" waits for what it holds itself\n");
	expect(1, 0,
	       "deadlock: mutex \"\\x1b\\x0a\"@0x2000 is held by fiber 99, which has ended; 1 "
	       "fiber waits for it\n");
}

static void test_nothing_is_no_deadlock(void **state)
{
	(void)state;
	find(0);
	expect_end(1, "no deadlock\n");
}

#define RENDER_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

static void expect_unfollowed(const struct ins_unfollowed *u, const char *wanted)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	ins_text_unfollowed(out, &layout, u);
	fclose(out);
	assert_string_equal(text, wanted);
	free(text);
}

static void test_waits_that_are_not_followed_are_counted_in_words(void **state)
{
	struct ins_unfollowed u = {0};
	json_t *object;

	(void)state;
	expect_unfollowed(&u, "");
	object = ins_json_unfollowed(&layout, &u);
	assert_int_equal(json_object_size(object), 0);
	json_decref(object);
	u.count[FIB_WAIT_SEM] = 1;
	expect_unfollowed(&u, "not followed: 1 semaphore\n");
	u.count[FIB_WAIT_RWLOCK_READ] = 2;
	u.count[FIB_WAIT_CHAN_RECV] = 3;
	/* Wait kinds of a later version. */
	u.count[200] = 4;
	u.count[201] = 1;
	expect_unfollowed(
		&u,
		"not followed: 2 read locks, 1 semaphore, 3 channel receives, 4 " INS_WORDS_UNKNOWN
		", 1 " INS_WORDS_UNKNOWN "\n");
	object = ins_json_unfollowed(&layout, &u);
	assert_int_equal(json_object_size(object), 4);
	assert_int_equal(json_integer_value(json_object_get(object, "rwlock-read")), 2);
	assert_int_equal(json_integer_value(json_object_get(object, "sem")), 1);
	assert_int_equal(json_integer_value(json_object_get(object, "chan-recv")), 3);
	assert_int_equal(json_integer_value(json_object_get(object, INS_WORDS_UNKNOWN)), 5);
	json_decref(object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RENDER_TEST(test_a_cycle_and_those_behind_it_are_counted),
		RENDER_TEST(test_a_deadline_is_said_as_what_is_left),
		RENDER_TEST(test_a_deadline_that_has_passed_or_is_nonsense_has_nothing_left),
		RENDER_TEST(test_a_lost_lock_names_the_lock_and_who_had_it),
		RENDER_TEST(test_a_threads_lock_names_the_thread_as_far_as_it_is_known),
		RENDER_TEST(test_a_thread_is_said_to_be_in_a_system_call_or_to_run),
		RENDER_TEST(test_a_join_on_an_ancestor_names_both),
		RENDER_TEST(test_names_that_would_move_a_cursor_do_not),
		RENDER_TEST(test_nothing_is_no_deadlock),
		cmocka_unit_test_setup_teardown(
			test_waits_that_are_not_followed_are_counted_in_words, begin, end),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
