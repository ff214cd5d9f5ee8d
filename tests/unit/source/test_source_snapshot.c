/* SPDX-License-Identifier: MIT */
/* test_source_snapshot.c - a file as a source of fibers: its contents, and 20,000 damaged files */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/source/source.h"
#include "tests/harness/inspect/head.h"
#include "inspect/render/render_events.h"
#include "inspect/unwind/unwind.h"
#include "tests/harness/inspect/snapshots.h"
#include "inspect/unwind/event_walk.h"

#define DAMAGED 20000

static char path[HARNESS_PATH];
static struct snapshot_file file;
static struct ins_source *source;
static struct ins_error error;
static struct ins_summary summary;
static uint64_t ids[8];
static unsigned fibers, stacks, flags, stop_at;

static int each(void *context, const struct ins_fiber *fiber)
{
	(void)context;
	assert_true(fibers < 8);
	ids[fibers++] = fiber->row.id;
	stacks += fiber->stack && memcmp(fiber->stack, "0123456789abcdef", 16) == 0;
	flags |= fiber->flags;
	return fibers == stop_at ? 77 : 0;
}

static int read_with(const struct ins_request *request)
{
	fibers = stacks = flags = 0;
	error.text[0] = 0;
	return ins_source_read(source, request, each, NULL, &summary, &error);
}

static void open_whole(void)
{
	snapshot_whole(&file);
	snapshot_save(&file, path);
	assert_int_equal(ins_source_open_snapshot(path, &error, &source), 0);
}

static void test_who_it_was_and_its_modules_are_there_at_once(void **state)
{
	(void)state;
	open_whole();
	assert_string_equal(source->kind, "snapshot");
	assert_string_equal(source->name, "remote");
	assert_int_equal(source->pid, 42);
	assert_int_equal(source->layout.record_size, sizeof(struct rows_record));
	assert_int_equal(source->modules->count, 1);
	assert_string_equal(source->modules->at[0].path, "/nonexistent/library");
	assert_true(source->modules->at[0].known);
	/* The pid is not used: today another process may have it. */
	assert_int_equal(source->modules->pid, 0);
	ins_source_close(source);
}

static void test_one_answer_serves_every_request_any_number_of_times(void **state)
{
	const struct ins_request list = {0}, whole = {.stacks = true}, one = {.id = 8};

	(void)state;
	open_whole();
	assert_int_equal(read_with(&whole), 0);
	assert_int_equal(fibers, 3);
	assert_int_equal(stacks, 3);
	assert_int_equal(flags, INS_FIBER_MOVING);
	assert_int_equal(summary.total, 4);
	assert_int_equal(summary.shown, 3);
	assert_int_equal(summary.sampled_ns, 99);
	assert_int_equal(summary.taken, INT64_C(1700000000000000000));
	assert_string_equal(summary.host, "elsewhere");
	assert_int_equal(ins_problems_lines(&source->problems), 1);
	ins_problems_free(&source->problems);

	/* A request without stacks does not report them as missing. */
	assert_int_equal(read_with(&list), 0);
	assert_int_equal(fibers, 3);
	assert_int_equal(stacks, 0);
	assert_int_equal(flags, 0);
	assert_int_equal(ins_problems_lines(&source->problems), 0);

	assert_int_equal(read_with(&one), 0);
	assert_int_equal(fibers, 1);
	assert_int_equal(ids[0], 8);
	assert_int_equal(summary.total, 4);
	assert_int_equal(summary.shown, 1);
	assert_int_equal(ins_problems_lines(&source->problems), 0);
	ins_source_close(source);
}

static void test_a_fiber_that_was_not_there_is_an_error(void **state)
{
	const struct ins_request one = {.id = 10};

	(void)state;
	open_whole();
	assert_int_equal(read_with(&one), -ESRCH);
	assert_non_null(strstr(error.text, "fiber 10: no such fiber in process 42"));
	assert_non_null(strstr(error.text, path));
	ins_source_close(source);
}

static void test_the_callback_can_end_it_and_begin_again(void **state)
{
	const struct ins_request list = {0};

	(void)state;
	open_whole();
	stop_at = 2;
	assert_int_equal(read_with(&list), 77);
	stop_at = 0;
	assert_int_equal(read_with(&list), 0);
	assert_int_equal(fibers, 3);
	ins_source_close(source);
}

static int count_event(void *context, const struct ins_event *event)
{
	(void)context;
	assert_true(fibers < 8);
	ids[fibers++] = event->e.number;
	stacks += event->fiber.stack && memcmp(event->fiber.stack, "0123456789abcdef", 16) == 0;
	assert_int_equal(event->fiber.row.id, 7);
	return fibers == stop_at ? 77 : 0;
}

static int read_events(enum fib_wire_ring ring)
{
	const struct fib_wire_events request = {.ring = ring};

	fibers = stacks = 0;
	error.text[0] = 0;
	return ins_events_read(source, &request, count_event, NULL, &summary, &error);
}

static void test_each_ring_of_events_is_there_with_stacks(void **state)
{
	(void)state;
	open_whole();
	assert_int_equal(read_events(FIB_WIRE_RING_PINNED), 0);
	assert_int_equal(fibers, 2);
	assert_int_equal(stacks, 2);
	assert_int_equal(summary.total, 2);
	assert_int_equal(summary.taken, INT64_C(1700000000000000000));
	assert_string_equal(summary.host, "elsewhere");
	assert_int_equal(read_events(FIB_WIRE_RING_SLOW), 0);
	assert_int_equal(fibers, 2);
	assert_int_equal(ids[1], 4);
	assert_int_equal(summary.total, 5);
	assert_int_equal(summary.shown, 2);
	/* Reading can be repeated, also after the callback stopped it. */
	stop_at = 1;
	assert_int_equal(read_events(FIB_WIRE_RING_PINNED), 77);
	stop_at = 0;
	assert_int_equal(read_events(FIB_WIRE_RING_PINNED), 0);
	assert_int_equal(fibers, 2);
	assert_int_equal(ins_problems_lines(&source->problems), 0);
	ins_source_close(source);
}

static void test_one_without_events_says_so_and_has_its_fibers(void **state)
{
	const struct ins_request list = {0};

	(void)state;
	snapshot_begin(&file);
	snapshot_section(&file, FIB_WIRE_STACK);
	snapshot_preface(&file);
	snapshot_fiber(&file, 7, 0);
	snapshot_end(&file, 1, 1, 0);
	snapshot_section_end(&file);
	snapshot_section(&file, INS_SNAPSHOT_EVENTS(FIB_WIRE_RING_PINNED));
	snapshot_event(&file, 0, FIB_WIRE_DOING_WAITS);
	/* An event was being written: an event is missing, not a fiber. */
	snapshot_end(&file, 2, 1, 1);
	snapshot_section_end(&file);
	snapshot_save(&file, path);
	assert_int_equal(ins_source_open_snapshot(path, &error, &source), 0);
	assert_int_equal(read_events(FIB_WIRE_RING_SLOW), -EOPNOTSUPP);
	assert_int_equal(fibers, 0);
	assert_non_null(strstr(error.text, path));
	assert_non_null(strstr(error.text, "does not have it"));
	assert_int_equal(read_with(&list), 0);
	assert_int_equal(fibers, 1);
	assert_int_equal(ins_problems_lines(&source->problems), 0);
	assert_int_equal(read_events(FIB_WIRE_RING_PINNED), 0);
	assert_int_equal(ins_problems_lines(&source->problems), 1);
	assert_string_equal(source->problems.at[0].text,
			    "1 event is missing: it was being written");
	ins_source_close(source);
}

static void expect_refused(const char *why)
{
	const struct ins_request list = {0};
	int rc;

	snapshot_section_end(&file);
	snapshot_save(&file, path);
	rc = ins_source_open_snapshot(path, &error, &source);
	if (rc == 0) {
		rc = read_with(&list);
		ins_source_close(source);
	}
	assert_true(rc < 0);
	if (!strstr(error.text, why))
		print_error("'%s' is not in '%s'\n", why, error.text);
	assert_non_null(strstr(error.text, why));
	assert_non_null(strstr(error.text, path));
	snapshot_begin(&file);
	snapshot_section(&file, FIB_WIRE_STACK);
}

static void test_answers_that_make_no_sense_are_refused(void **state)
{
	const struct fib_wire_error failed = {-EPERM, "not today"};
	const struct fib_wire_stack lies = {UINT32_MAX, UINT32_MAX, 0, 0};

	(void)state;
	snapshot_begin(&file);
	snapshot_section(&file, FIB_WIRE_POLICY);
	snapshot_end(&file, 0, 0, 0);
	expect_refused("no answer about fibers");
	snapshot_frame(&file, FIB_WIRE_ERROR, &failed, sizeof failed, "", 0);
	expect_refused("not today");
	snapshot_frame(&file, FIB_WIRE_LAYOUT, "short", 5, "", 0);
	snapshot_end(&file, 0, 0, 0);
	expect_refused("short layout");
	snapshot_fiber(&file, 1, 0);
	snapshot_end(&file, 1, 1, 0);
	expect_refused("before the layout");
	snapshot_preface(&file);
	snapshot_fiber(&file, 1, 0);
	snapshot_end(&file, 1, 2, 0);
	expect_refused("counts other fibers");
	snapshot_preface(&file);
	snapshot_frame(&file, FIB_WIRE_STACKS, &lies, sizeof lies, "x", 1);
	snapshot_end(&file, 1, 1, 0);
	expect_refused("larger than its frame");
}

struct look {
	struct ins_unwinder *unwinder;
	struct ins_symbols *symbols;
	struct ins_sites *sites;
	FILE *out;
	struct ins_walk walk;
};

/* Do everything that a command does with a fiber. */
static int use(void *context, const struct ins_fiber *fiber)
{
	struct look *look = context;

	ins_unwind(look->unwinder, fiber, &look->walk);
	ins_text_header(look->out, &source->layout, fiber);
	ins_text_frames(look->out, look->symbols, &look->walk);
	json_decref(ins_json_fiber(&source->layout, fiber, look->symbols, &look->walk));
	return 0;
}

/* Do everything that a command does with an event. */
static int use_event(void *context, const struct ins_event *event)
{
	struct look *look = context;

	ins_event_walk(look->unwinder, event, &look->walk);
	ins_text_event(look->out, &source->layout, look->symbols, event, &look->walk);
	json_decref(ins_json_event(&source->layout, look->symbols, event, &look->walk));
	return ins_sites_add(look->sites, look->symbols, event, &look->walk);
}

static int use_ring(struct look *look, enum fib_wire_ring ring)
{
	const struct fib_wire_events request = {.ring = ring};
	int rc;
	size_t i;

	assert_int_equal(ins_sites_new(&look->sites), 0);
	rc = ins_events_read(source, &request, use_event, look, &summary, &error);
	ins_sites_sort(look->sites);
	for (i = 0; i < ins_sites_count(look->sites); i++) {
		ins_text_site_events(look->out, &source->layout, look->symbols,
				     ins_sites_at(look->sites, i));
		json_decref(ins_json_site(&source->layout, look->symbols,
					  ins_sites_at(look->sites, i)));
	}
	ins_sites_free(look->sites);
	return rc;
}

/* Return true if the file was read to the end. */
static bool survive(FILE *out)
{
	static const struct ins_request whole = {.stacks = true};
	struct look look = {.out = out};
	int rc = ins_source_open_snapshot(path, &error, &source), ring;

	if (rc < 0)
		return false;
	rewind(out);
	assert_int_equal(ins_unwinder_new(source, &look.unwinder), 0);
	assert_int_equal(ins_symbols_new(source->modules, &look.symbols), 0);
	rc = ins_source_read(source, &whole, use, &look, &summary, &error);
	for (ring = FIB_WIRE_RING_PINNED; rc == 0 && ring <= FIB_WIRE_RING_SLOW; ring++)
		rc = use_ring(&look, (enum fib_wire_ring)ring);
	ins_symbols_free(look.symbols);
	ins_unwinder_free(look.unwinder);
	ins_source_close(source);
	return rc == 0;
}

static uint64_t state_of_chance = 4711;

static uint64_t chance(uint64_t below)
{
	state_of_chance = state_of_chance * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (state_of_chance >> 33) % below;
}

/* Change one to four bytes: to any value, by a bit, or to a limit. */
static void damage(void)
{
	static const unsigned char ends[] = {0, 1, 0x7f, 0x80, 0xfe, 0xff};

	for (uint64_t n = 1 + chance(4); n > 0; n--) {
		unsigned char *at = &file.at[chance(file.size)];

		switch (chance(3)) {
		case 0:
			*at = (unsigned char)chance(256);
			break;
		case 1:
			*at ^= (unsigned char)(1u << chance(8));
			break;
		default:
			*at = ends[chance(sizeof ends)];
			break;
		}
	}
}

static void test_twenty_thousand_damaged_ones_end_well_or_with_an_error(void **state)
{
	FILE *out = fopen("/dev/null", "w");
	unsigned read = 0, i;

	(void)state;
	assert_non_null(out);
	for (i = 0; i < DAMAGED; i++) {
		snapshot_whole(&file);
		damage();
		if (chance(10) == 0)
			file.size = chance(file.size);
		error.text[0] = 0;
		snapshot_save(&file, path);
		if (survive(out))
			read++;
		else
			assert_true(error.text[0] != 0);
	}
	/* Both outcomes must be frequent, or the test proves nothing. */
	assert_in_range(read, DAMAGED / 20, DAMAGED * 19 / 20);
	fclose(out);
}

#define THREADS 100 /* more than the layout has records */

/* Append the section of threads; end: whole. */
static void put_threads(bool end)
{
	snapshot_section(&file, INS_SNAPSHOT_THREAD_ROWS);
	for (uint64_t i = 0; i < THREADS; i++)
		snapshot_fiber(&file, FIB_HOLDER_THREAD | (70 + i), 0);
	if (end)
		snapshot_end(&file, THREADS, THREADS, 0);
	snapshot_section_end(&file);
}

static int count_thread(void *context, const struct ins_fiber *fiber)
{
	unsigned *n = context;

	assert_int_equal(fiber->row.id, FIB_HOLDER_THREAD | (70 + *n));
	assert_int_equal(fiber->stack_size, 16);
	++*n;
	return 0;
}

static int read_threads(unsigned *ret)
{
	const struct ins_request whole = {.stacks = true};

	*ret = 0;
	summary = (struct ins_summary){0};
	return source->ops->thread_rows(source, &whole, count_thread, ret, &summary, &error);
}

static void test_the_rows_of_threads_are_apart_from_the_fibers(void **state)
{
	const struct ins_request list = {0};
	unsigned n;

	(void)state;
	snapshot_whole(&file);
	put_threads(true);
	snapshot_save(&file, path);
	assert_int_equal(ins_source_open_snapshot(path, &error, &source), 0);
	assert_int_equal(read_with(&list), 0);
	assert_int_equal(fibers, 3);
	assert_int_equal(read_threads(&n), 0);
	assert_int_equal(n, THREADS);
	assert_int_equal(summary.shown, THREADS);
	assert_string_equal(summary.host, "elsewhere");
	assert_int_equal(read_with(&list), 0);
	assert_int_equal(fibers, 3);
	ins_source_close(source);
}

static void test_one_without_threads_says_so(void **state)
{
	unsigned n;

	(void)state;
	open_whole();
	assert_int_equal(read_threads(&n), -EOPNOTSUPP);
	assert_non_null(strstr(error.text, "the snapshot has no threads"));
	ins_source_close(source);
}

static void test_threads_without_an_end_are_damage(void **state)
{
	(void)state;
	snapshot_whole(&file);
	put_threads(false);
	snapshot_save(&file, path);
	assert_int_equal(ins_source_open_snapshot(path, &error, &source), -EINVAL);
	assert_non_null(strstr(error.text, "is damaged"));
}

static int start(void **state)
{
	(void)state;
	harness_file(path, "a.snap");
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_who_it_was_and_its_modules_are_there_at_once),
		cmocka_unit_test(test_one_answer_serves_every_request_any_number_of_times),
		cmocka_unit_test(test_a_fiber_that_was_not_there_is_an_error),
		cmocka_unit_test(test_the_callback_can_end_it_and_begin_again),
		cmocka_unit_test(test_each_ring_of_events_is_there_with_stacks),
		cmocka_unit_test(test_one_without_events_says_so_and_has_its_fibers),
		cmocka_unit_test(test_the_rows_of_threads_are_apart_from_the_fibers),
		cmocka_unit_test(test_one_without_threads_says_so),
		cmocka_unit_test(test_threads_without_an_end_are_damage),
		cmocka_unit_test(test_answers_that_make_no_sense_are_refused),
		cmocka_unit_test(test_twenty_thousand_damaged_ones_end_well_or_with_an_error),
	};

	return HEAD_RUN(tests, start, NULL);
}
