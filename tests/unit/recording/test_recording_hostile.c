/* SPDX-License-Identifier: MIT */
/* test_recording_hostile.c - results of recordings with hostile numbers and texts stay bounded */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/harness/inspect/accounted.h"
#include "inspect/render/render_account.h"
#include "inspect/render/render_page.h"
#include "inspect/render/render_trace_events.h"
#include "tests/harness/watchdog.h"

#define LONGEST (INT64_MAX / 2 - 1 - BEGAN) /* ns, the longest recording */

/* Write everything to /dev/null; return the size of the page. */
static size_t render(void)
{
	FILE *out = fopen("/dev/null", "w"), *page;
	char *text;
	size_t size;

	assert_non_null(out);
	ins_account_text(out, r, replay, a, SIZE_MAX);
	assert_int_equal(ins_trace_events(out, r, replay), 0);
	fclose(out);
	page = open_memstream(&text, &size);
	assert_non_null(page);
	assert_int_equal(ins_page(page, "@DATA@", 6, r, replay, a, SIZE_MAX), 0);
	fclose(page);
	free(text);
	return size;
}

static void within(void *context, const struct ins_slice *s)
{
	(*(unsigned *)context)++;
	assert_true(s->from >= r->head.began && s->from <= s->to && s->to <= r->head.ended);
}

static unsigned play(void)
{
	static const struct ins_replay_ops ops = {.slice = within};
	unsigned slices = 0;

	ins_replay_play(replay, &ops, &slices);
	return slices;
}

/* Events far from the clocks, clocks far from each other, and a list, in the longest recording. */
static void test_times_at_the_ends_of_numbers_stay_within_the_recording(void **state)
{
	static const struct fib_recording_clock clocks[][2] = {
		{{0, INT64_MIN}, {UINT64_MAX, INT64_MAX}},
		{{0, INT64_MAX - 5}, {10, INT64_MAX}},
		{{UINT64_MAX - 1, INT64_MIN}, {UINT64_MAX, INT64_MAX}},
		{{7, INT64_MAX}, {7, INT64_MAX}}, /* two identical readings count as one */
		{{7, INT64_MIN}, {7, INT64_MIN}},
	};
	const struct fib_recording_fiber fibers[] = {
		{.id = 1, .since = INT64_MAX, .seen = INT64_MAX, .state = FIBER_SUSPENDED},
		{.id = 2, .since = INT64_MIN, .seen = INT64_MAX, .state = FIBER_SUSPENDED},
	};
	struct fib_event e[] = {
		{.type = FIB_EVENT_RUN, .fiber = 1, .state = FIB_EVENT_NOBODY},
		{.type = FIB_EVENT_WAKE, .fiber = 2, .object = FIB_HOLDER_THREAD | 9},
		{.time = UINT64_MAX / 2,
		 .type = FIB_EVENT_RUN,
		 .fiber = 2,
		 .state = FIBER_SUSPENDED},
		{.time = UINT64_MAX, .type = FIB_EVENT_WAKE, .fiber = 1},
		{.time = UINT64_MAX, .type = FIB_EVENT_EXIT, .fiber = 2},
		{.time = UINT64_MAX, .type = FIB_EVENT_WAKE, .fiber = 1},
	};
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof clocks / sizeof clocks[0]; i++) {
		struct made m = made_begin("ends.rec", LONGEST);

		ins_recording_put(m.w, FIB_RECORDING_FIBERS, fibers, sizeof fibers);
		ins_recording_put(m.w, FIB_RECORDING_CLOCKS, clocks[i], sizeof clocks[i]);
		made_ring(&m, 0, 0, e, 6);
		made_ring(&m, 1, 3, e, 1);
		made_ring(&m, 1, 3, e + 3, 1);
		ins_recording_put(m.w, FIB_RECORDING_LAST, fibers, sizeof fibers);
		accounted(made_end(&m));
		assert_true(play() > 0);
		render();
		accounted_end();
	}
}

/* Three fibers that waited for three objects during the longest recording. */
static void test_sums_of_times_end_at_the_largest_number(void **state)
{
	struct made m = made_begin("sums.rec", LONGEST);
	const struct fib_recording_fiber fibers[] = {
		{.id = 1,
		 .state = FIBER_SUSPENDED,
		 .wait_kind = FIB_WAIT_MUTEX,
		 .wait_object = 1,
		 .object_name = "a"},
		{.id = 2,
		 .state = FIBER_SUSPENDED,
		 .wait_kind = FIB_WAIT_MUTEX,
		 .wait_object = 2,
		 .object_name = "b"},
		{.id = 3,
		 .state = FIBER_SUSPENDED,
		 .wait_kind = FIB_WAIT_MUTEX,
		 .wait_object = 3,
		 .object_name = "c"},
	};

	(void)state;
	ins_recording_put(m.w, FIB_RECORDING_FIBERS, fibers, sizeof fibers);
	accounted(made_end(&m));
	assert_int_equal(a->waiteds, 3);
	assert_int_equal(a->all.waiting, INT64_MAX);
	render();
	accounted_end();
}

/* The sum of lost events must not wrap to 0. */
static void test_lost_events_are_never_counted_down_to_none(void **state)
{
	struct made m = made_begin("lost.rec", 100);
	const struct fib_event e = made_run(10, 1, FIB_EVENT_NOBODY, 0, 0);

	(void)state;
	made_ring(&m, 0, UINT64_MAX, &e, 1);
	made_ring(&m, 0, 1, &e, 1);
	accounted(made_end(&m));
	assert_true(r->lost == UINT64_MAX && r->ring[0].lost == UINT64_MAX);
	accounted_end();
}

/* Many fibers run a function whose name has a megabyte. */
static void test_long_texts_are_cut_before_they_are_repeated(void **state)
{
	enum { FIBERS = 500, LONG = 1 << 20 };
	struct made m = made_begin("long.rec", 100);
	struct fib_recording_fiber fiber = {
		.entry = 0x77, .state = FIBER_SUSPENDED, .wait_kind = FIB_WAIT_MUTEX};
	char *text = malloc(LONG + 1);

	(void)state;
	assert_non_null(text);
	memset(text, 'x', LONG);
	text[LONG] = 0;
	for (fiber.id = 1; fiber.id <= FIBERS; fiber.id++) {
		fiber.wait_object = fiber.id;
		ins_recording_put(m.w, FIB_RECORDING_FIBERS, &fiber, sizeof fiber);
		ins_recording_put_text(m.w, FIB_RECORDING_OBJECTS, fiber.id,
				       fiber.id % 100 ? "" : text);
	}
	ins_recording_put_text(m.w, FIB_RECORDING_PLACES, 0x77, text);
	ins_recording_put_text(m.w, FIB_RECORDING_WORDS, FIB_WAIT_MUTEX, text);
	ins_recording_put_text(m.w, FIB_RECORDING_STACKS, 1, text);
	free(text);
	accounted(made_end(&m));
	assert_in_range(strlen(ins_recording_place(r, 0x77)), 100, 4096);
	assert_in_range(strlen(ins_recording_object(r, 100)), 30, 100);
	assert_in_range(render(), FIBERS * 1000, FIBERS * 4096);
	accounted_end();
}

/* A recording that is built in memory. */
static struct {
	FILE *out;
	char *bytes;
	size_t size;
} file;

static void begin(int64_t length)
{
	const struct made m = made_begin("unused.rec", length);

	ins_recording_drop(m.w);
	file.out = open_memstream(&file.bytes, &file.size);
	assert_non_null(file.out);
	fwrite(&m.head, sizeof m.head, 1, file.out);
}

static void put_part(enum fib_recording_section type, const void *one, size_t size_one,
		     const void *two, size_t size_two)
{
	const struct fib_recording_part part = {.type = type, .size = size_one + size_two};

	fwrite(&part, sizeof part, 1, file.out);
	fwrite(one, 1, size_one, file.out);
	if (size_two)
		fwrite(two, 1, size_two, file.out);
}

static void end(void)
{
	struct ins_recording *recording;
	struct ins_error error;

	assert_int_equal(fclose(file.out), 0);
	assert_int_equal(ins_recording_read(file.bytes, file.size, "many", &error, &recording), 0);
	free(file.bytes);
	accounted(recording);
}

/* Half of the fibers are last known to run on the other carrier; the others wait to the end. */
static struct fib_recording_fiber *make_many(size_t many)
{
	struct fib_recording_fiber *fiber = calloc(many, sizeof *fiber);
	size_t i;

	assert_non_null(fiber);
	for (i = 0; i < many; i++)
		fiber[i] = (struct fib_recording_fiber){
			.id = i + 1,
			.since = BEGAN,
			.seen = BEGAN + 10 * (int64_t)i,
			.carrier = 1,
			.state = i % 2 ? FIBER_RUNNING : FIBER_SUSPENDED,
			.wait_kind = FIB_WAIT_PARK,
		};
	return fiber;
}

/* Comparing every hole with every fiber would take 90 * 10^9 comparisons. */
static void test_many_holes_among_many_fibers_come_to_an_end(void **state)
{
	enum { MANY = 300000 };
	const struct fib_recording_clock clock = {BEGAN, BEGAN};
	const struct fib_recording_events lost = {1, 0, 1, 1}, other = {1, 1, 0, 0};
	struct fib_recording_fiber *fiber = make_many(MANY);
	struct fib_event e = {.type = FIB_EVENT_STEAL, .fiber = 1};
	size_t i;

	(void)state;
	begin(10 * (int64_t)MANY);
	put_part(FIB_RECORDING_CLOCKS, &clock, sizeof clock, NULL, 0);
	put_part(FIB_RECORDING_FIBERS, fiber, MANY * sizeof *fiber, NULL, 0);
	put_part(FIB_RECORDING_LAST, fiber, MANY * sizeof *fiber, NULL, 0);
	for (i = 0; i < MANY; i++) {
		e.time = BEGAN + 10 * i;
		put_part(FIB_RECORDING_EVENTS, &lost, sizeof lost, &e, sizeof e);
	}
	put_part(FIB_RECORDING_EVENTS, &other, sizeof other, NULL, 0);
	free(fiber);
	end();
	assert_int_equal(r->lost, MANY);
	assert_int_equal(play(), MANY + MANY / 2); /* the waiting fibers are unknown at the end */
	accounted_end();
}

/* The modular inverse: odd * result is 1. */
static uint64_t inverse(uint64_t odd)
{
	uint64_t x = odd;
	int i;

	for (i = 0; i < 5; i++)
		x *= 2 - odd * x;
	return x;
}

/* The i-th object of a series that collides in a hash table without a random seed. */
static uint64_t colliding(uint64_t i)
{
	uint64_t h = i << 45;

	h ^= h >> 29 ^ h >> 58;
	h *= inverse(UINT64_C(0xbf58476d1ce4e5b9));
	return h ^ h >> 31 ^ h >> 62;
}

/* Pinned waits for 500,000 objects that all collide. */
static void test_objects_that_are_chosen_to_collide_come_to_an_end(void **state)
{
	enum { MANY = 500000 };
	const struct fib_recording_clock clock = {BEGAN, BEGAN};
	const struct fib_recording_events ring = {1, 0, 2 * MANY, 0};
	struct fib_event *e = calloc(2 * MANY, sizeof *e);
	size_t i;

	(void)state;
	assert_non_null(e);
	for (i = 0; i < 2 * MANY; i++)
		e[i] = (struct fib_event){
			.time = BEGAN + i,
			.type = i % 2 ? FIB_EVENT_UNPINNED : FIB_EVENT_PINNED,
			.fiber = 1,
			.kind = FIB_WAIT_MUTEX,
			.object = colliding(i / 2),
		};
	begin(10 * (int64_t)MANY);
	put_part(FIB_RECORDING_CLOCKS, &clock, sizeof clock, NULL, 0);
	put_part(FIB_RECORDING_EVENTS, &ring, sizeof ring, e, 2 * MANY * sizeof *e);
	free(e);
	end();
	assert_int_equal(a->waiteds, 1);
	assert_int_equal(a->waited[0].objects, MANY);
	accounted_end();
}

/* One fiber that parks many times, once every `each` ns, for 2 ns. */
static void put_parks(size_t many, int64_t each)
{
	const struct fib_recording_clock clock = {BEGAN, BEGAN};
	const struct fib_recording_events ring = {1, 0, (uint32_t)(3 * many), 0};
	struct fib_event *e = calloc(3 * many, sizeof *e);
	size_t i;

	assert_non_null(e);
	for (i = 0; i < many; i++) {
		const uint64_t at = BEGAN + i * (uint64_t)each;

		e[3 * i] = made_run(0, 1, FIB_EVENT_NOBODY, 0, 0);
		e[3 * i + 1] = made_run(0, 0, FIBER_SUSPENDED, FIB_WAIT_PARK, 0);
		e[3 * i + 2] = made_wake(0, 1, 9, FIB_WAIT_PARK);
		e[3 * i].time = at;
		e[3 * i + 1].time = at + 1;
		e[3 * i + 2].time = at + 3;
	}
	put_part(FIB_RECORDING_CLOCKS, &clock, sizeof clock, NULL, 0);
	put_part(FIB_RECORDING_EVENTS, &ring, sizeof ring, e, 3 * many * sizeof *e);
	free(e);
}

/* Comparing every wait with every sample would take 90 * 10^9 comparisons. */
static void test_samples_that_last_beyond_all_waits_come_to_an_end(void **state)
{
	enum { MANY = 300000 };
	struct fib_recording_sample *s = calloc(MANY, sizeof *s);
	size_t i;

	(void)state;
	assert_non_null(s);
	for (i = 0; i < MANY; i++)
		s[i] = (struct fib_recording_sample){
			.fiber = 1, .to = INT64_MAX, .wait_kind = FIB_WAIT_SLEEP};
	begin(10 * (int64_t)MANY);
	put_parks(MANY, 10);
	put_part(FIB_RECORDING_SAMPLES, s, MANY * sizeof *s, NULL, 0);
	free(s);
	end();
	assert_int_equal(a->all.waits, MANY);
	assert_int_equal(a->sampled_waits, 0);
	accounted_end();
}

/*
 * Reading the text for each wait would be 13 * 10^9 bytes. The three stacks are equal after the
 * cut.
 */
static void test_long_stack_of_many_waits_is_read_once(void **state)
{
	enum { MANY = 200000, LONG = 1 << 17, EACH = 100000 };
	const struct fib_recording_look look = {BEGAN, BEGAN + EACH, 1, 1, 0};
	struct fib_recording_text head = {.size = LONG};
	struct fib_recording_sample *s = calloc(MANY, sizeof *s);
	char *text = malloc(LONG);
	size_t i;

	(void)state;
	assert_true(s && text);
	memset(text, 'x', LONG);
	for (i = 0; i < MANY; i++)
		s[i] = (struct fib_recording_sample){.fiber = 1,
						     .stack = 1 + i % 3,
						     .from = BEGAN + EACH * (int64_t)i + 1,
						     .to = BEGAN + EACH * (int64_t)i + 2,
						     .wait_kind = FIB_WAIT_PARK};
	begin(EACH * (int64_t)MANY);
	put_parks(MANY, EACH);
	for (head.key = 1; head.key <= 3; head.key++)
		put_part(FIB_RECORDING_SHAPES, &head, sizeof head, text, LONG);
	put_part(FIB_RECORDING_SAMPLES, s, MANY * sizeof *s, NULL, 0);
	put_part(FIB_RECORDING_LOOKS, &look, sizeof look, NULL, 0);
	free(s);
	free(text);
	end();
	assert_int_equal(a->sampled_waits, MANY);
	assert_true(a->stack_waits_count == 1 &&
		    ins_recording_shape(r, 1) == ins_recording_shape(r, 3));
	assert_int_equal(a->stack_waits[0].ns, 2 * MANY);
	accounted_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times_at_the_ends_of_numbers_stay_within_the_recording),
		cmocka_unit_test(test_sums_of_times_end_at_the_largest_number),
		cmocka_unit_test(test_lost_events_are_never_counted_down_to_none),
		cmocka_unit_test(test_long_texts_are_cut_before_they_are_repeated),
		cmocka_unit_test(test_many_holes_among_many_fibers_come_to_an_end),
		cmocka_unit_test(test_objects_that_are_chosen_to_collide_come_to_an_end),
		cmocka_unit_test(test_samples_that_last_beyond_all_waits_come_to_an_end),
		cmocka_unit_test(test_long_stack_of_many_waits_is_read_once),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
