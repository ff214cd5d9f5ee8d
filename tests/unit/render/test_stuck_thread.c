/* SPDX-License-Identifier: MIT */
/* test_stuck_thread.c - the plain thread that holds a lock, over a fake source */
#include <errno.h>
#include <stdlib.h>

#include "inspect/render/stuck.h"
#include "inspect/model/thread_stack.h"
#include "tests/harness/inspect/waiting.h"

#include <jansson.h>

static struct {
	struct ins_source source;
	const struct waiting *waiting;
	unsigned stacks, threads; /* requested so far */
} fake;

static char *text;
static struct ins_error error;
static size_t found;

static int fake_read(struct ins_source *source, const struct ins_request *request, ins_fiber_fn *fn,
		     void *context, struct ins_summary *ret, struct ins_error *why)
{
	struct ins_fiber fiber;
	int rc = 0;

	(void)source;
	(void)why;
	fake.stacks += request->stacks;
	for (size_t i = 0; rc == 0 && i < ins_table_count(fake.waiting->table); i++) {
		ins_table_get(fake.waiting->table, i, &fiber);
		ret->total++;
		if (request->id && request->id != fiber.row.id)
			continue;
		ret->shown++;
		rc = fn(context, &fiber);
	}
	return rc;
}

static void fake_close(struct ins_source *source)
{
	(void)source;
}

/* Report every thread as running. */
static int fake_thread(struct ins_source *source, uint64_t tid, struct ins_thread_stack *ret)
{
	const struct fib_wire_thread_is is = {.tid = tid, .state = FIB_WIRE_THREAD_RUNS};

	(void)source;
	fake.threads++;
	return ins_thread_stack_take(&is, sizeof is, tid, ret);
}

static const struct ins_source_ops ops = {.read = fake_read, .close = fake_close},
				   thread_ops = {.read = fake_read,
						 .close = fake_close,
						 .thread = fake_thread};

static int begin(void **state)
{
	(void)state;
	memset(&fake, 0, sizeof fake);
	fake.source.kind = "control";
	fake.source.pid = 7;
	fake.source.ops = &ops;
	rows_layout(&fake.source.layout);
	text = NULL;
	return ins_modules_new(0, NULL, NULL, &fake.source.problems, &fake.source.modules);
}

static int end(void **state)
{
	(void)state;
	ins_modules_free(fake.source.modules);
	ins_problems_free(&fake.source.problems);
	free(text);
	return 0;
}

static void ask(bool json)
{
	size_t size;
	FILE *out;
	struct ins_stuck stuck = {.source = &fake.source, .json = json};
	struct ins_confirmed confirmed;

	free(text);
	out = open_memstream(&text, &size);
	stuck.out = out;
	assert_int_equal(ins_confirm_deadlocks(stuck.source, 0, true, &confirmed, &error), 0);
	found = ins_deadlocks_lasting(confirmed.found);
	assert_int_equal(ins_stuck_print(&stuck, &confirmed, &error), 0);
	ins_confirmed_free(&confirmed);
	fclose(out);
}

/* The "thread" object of finding i. */
static const json_t *thread_of(const json_t *root, size_t i)
{
	return json_object_get(json_array_get(json_object_get(root, "findings"), i), "thread");
}

#define THREAD_LINE                                                                               \
	"thread: mutex \"o1\"@0x1000 is held by thread 77, which is no fiber; 1 fiber waits for " \
	"it\n"

static void test_the_thread_that_holds_a_lock_is_asked_where_it_is(void **state)
{
	struct waiting w = waiting_new();
	const json_t *thread;
	json_t *root;

	(void)state;
	waiting_lock(&w, 1, 1, 77 | FIB_HOLDER_THREAD);
	fake.waiting = &w;
	fake.source.ops = &thread_ops;
	ask(false);
	assert_int_equal(fake.threads, 1);
	assert_ptr_equal(strstr(text, THREAD_LINE "fiber 1 "), text);
	assert_non_null(strstr(text,
			       "\nthread 77 [running]\n  no frames: it runs; no stack without "
			       "stopping it\n\nno deadlock, and 1 "));
	ask(true);
	root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	thread = thread_of(root, 0);
	assert_int_equal(json_integer_value(json_object_get(thread, "tid")), 77);
	assert_int_equal(json_array_size(json_object_get(thread, "frames")), 0);
	assert_string_equal(json_string_value(json_object_get(thread, "why")),
			    "it runs; no stack without stopping it");
	json_decref(root);
	waiting_free(&w);
}

/* The text is the same as without threads; JSON says why the thread is missing. */
static void test_a_program_that_cannot_be_asked_about_threads_names_them(void **state)
{
	struct waiting w = waiting_new();
	json_t *root;

	(void)state;
	waiting_lock(&w, 1, 1, 77 | FIB_HOLDER_THREAD);
	waiting_lock(&w, 2, 2, 2);
	fake.waiting = &w;
	ask(false);
	assert_non_null(strstr(text, THREAD_LINE));
	assert_null(strstr(text, "\nthread 77"));
	ask(true);
	root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_true(json_is_null(thread_of(root, 0)));
	assert_string_equal(json_string_value(json_object_get(thread_of(root, 1), "why")),
			    "the program is too old to be asked for it");
	json_decref(root);
	waiting_free(&w);
}

static void test_of_very_many_threads_not_all_are_asked(void **state)
{
	struct waiting w = waiting_new();

	(void)state;
	for (uint64_t id = 1; id <= INS_STUCK_ALL; id++)
		waiting_lock(&w, id, id, id | FIB_HOLDER_THREAD);
	fake.waiting = &w;
	fake.source.ops = &thread_ops;
	ask(false);
	assert_int_equal(fake.stacks + fake.threads, INS_STUCK_ALL);
	assert_non_null(strstr(text, "\nthread 64\n  no frames: 64 stacks are shown already\n"));
	waiting_free(&w);
}

#define THREAD_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		THREAD_TEST(test_the_thread_that_holds_a_lock_is_asked_where_it_is),
		THREAD_TEST(test_a_program_that_cannot_be_asked_about_threads_names_them),
		THREAD_TEST(test_of_very_many_threads_not_all_are_asked),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
