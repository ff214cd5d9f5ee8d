/* SPDX-License-Identifier: MIT */
/* test_chunks.c - the objects in a heap are found by malloc()'s headers */
#include "inspect/leaks/chunks.h"

#include "tests/harness/inspect/marked.h"

#define SIZE  0x10000u
#define INUSE 1u

static struct ins_chunks *chunks;

static int begin(void **state)
{
	(void)state;
	marked_begin(0);
	chunks = NULL;
	return 0;
}

static int end(void **state)
{
	(void)state;
	ins_chunks_free(chunks);
	marked_end();
	return 0;
}

/* Write a chunk's header. previous: the chunk before it is in use. */
static void chunk(uint64_t offset, uint64_t size, bool previous)
{
	marked_put(offset + 8, size | previous);
}

/* A cache, chunks of 0xdb0 and 0x20 bytes, a free one of 0x100, one of 0x8000, and the rest. */
static const uint64_t starts[] = {0, 0x290, 0x1040, 0x1060, 0x1160, 0x9160};

static void heap(void)
{
	chunk(0, 0x290, true);
	chunk(0x290, 0xdb0, true);
	chunk(0x1040, 0x20, true);
	chunk(0x1060, 0x100, true);
	marked_put(0x1160, 0x100);
	chunk(0x1160, 0x8000, false);
	chunk(0x9160, SIZE - 0x9160, true);
}

static void find(bool is_heap)
{
	assert_int_equal(
		ins_chunks_find(marked.windows, MARKED_BASE, MARKED_BASE + SIZE, is_heap, &chunks),
		0);
}

static bool hit(uint64_t offset, uint64_t from, uint64_t *low, uint64_t *high)
{
	const bool fresh = ins_chunks_mark(chunks, marked.windows, MARKED_BASE + offset,
					   from ? MARKED_BASE + from : 0, low, high);

	*low -= MARKED_BASE;
	*high -= MARKED_BASE;
	return fresh;
}

static void expect(uint64_t offset, uint64_t start, uint64_t stop)
{
	uint64_t low = 0, high = 0;

	assert_true(hit(offset, 0, &low, &high));
	assert_int_equal(low, start);
	assert_int_equal(high, stop);
	assert_false(hit(offset, 0, &low, &high));
}

static void expect_none(uint64_t offset, uint64_t from)
{
	uint64_t low = 0, high = 0;

	assert_false(hit(offset, from, &low, &high));
}

static void test_a_chain_of_chunks_is_found(void **state)
{
	(void)state;
	heap();
	find(false);
	assert_non_null(chunks);
	assert_int_equal(ins_chunks_count(chunks), sizeof starts / sizeof starts[0]);
}

static void test_any_byte_of_an_object_leads_to_the_object_once(void **state)
{
	(void)state;
	heap();
	find(false);
	expect(0x290 + 16, 0x290, 0x1048);
	expect_none(0x1000, 0);
	expect(0x1160 + 0x7fff, 0x1160, 0x9168);
	/* The last word of an object is in the header of the next chunk. */
	expect(0x1060, 0x1040, 0x1068);
}

static void test_free_chunks_and_the_rest_are_no_objects(void **state)
{
	(void)state;
	heap();
	find(false);
	expect_none(0x1080, 0);
	expect_none(0x9200, 0);
	expect_none(0x1160 + 8, 0);
}

static void test_a_bin_does_not_lead_to_the_object_before_the_free_chunk(void **state)
{
	(void)state;
	heap();
	/* A bin at 0x9200 - 16 that the free chunk points back to. */
	marked_put(0x1060 + 24, MARKED_BASE + 0x9200 - 16);
	find(false);
	expect_none(0x1060, 0x9200);
	expect(0x1060, 0x1040, 0x1068); /* any other pointer does */
}

static void test_a_chain_that_misses_the_end_is_no_heap(void **state)
{
	(void)state;
	heap();
	chunk(0x9160, SIZE - 0x9160 - 0x40, true);
	find(false);
	assert_null(chunks);
}

static void test_a_free_chunk_whose_size_is_not_repeated_is_no_chunk(void **state)
{
	(void)state;
	heap();
	marked_put(0x1160, 0x110);
	find(false);
	assert_null(chunks);
}

static void test_a_heap_that_breaks_has_one_object_from_there_on(void **state)
{
	(void)state;
	heap();
	chunk(0x1160, 0x18, false);
	find(true);
	assert_non_null(chunks);
	expect(0x290 + 16, 0x290, 0x1048);
	expect(0xf000, 0x1160, SIZE);
	expect_none(0x2000, 0);
}

static void test_zeros_are_no_chunks(void **state)
{
	(void)state;
	find(false);
	assert_null(chunks);
}

static void test_large_blocks_side_by_side_are_objects(void **state)
{
	(void)state;
	marked_put(8, 0x4000 | 2);
	marked_put(0x4000 + 8, 0xc000 | 2);
	find(false);
	assert_non_null(chunks);
	expect(0x100, 0, 0x4008);
	expect(0x4000 + 0x100, 0x4000, SIZE);
}

static void test_a_heap_that_could_not_grow_ends_with_two_headers(void **state)
{
	(void)state;
	heap();
	chunk(0x9160, SIZE - 0x20 - 0x9160, true);
	chunk(SIZE - 0x20, 0x10, true);
	chunk(SIZE - 0x10, 0, true);
	find(false);
	assert_non_null(chunks);
	expect(0x9200, 0x9160, SIZE);
}

/* The layout is that of glibc: a chunk of 0x290 bytes with 64 counters and 64 pointers. */
static void test_the_cache_of_free_chunks_is_no_object(void **state)
{
	(void)state;
	chunk(0, 0x290, true);
	chunk(0x290, SIZE - 0x290, true);
	marked_put(16, 1);
	marked_put(16 + 128, MARKED_BASE + 0x1000);
	find(false);
	assert_non_null(chunks);
	expect_none(0x100, 0);
}

/* Small counters and pointers: a table of the program may look like a cache. */
static void test_only_the_first_chunk_is_a_cache(void **state)
{
	(void)state;
	chunk(0, 0x290, true);
	chunk(0x290, 0x290, true);
	chunk(0x520, SIZE - 0x520, true);
	marked_put(0x290 + 16, 1);
	marked_put(0x290 + 16 + 128, MARKED_BASE + 0x1000);
	find(true);
	assert_non_null(chunks);
	expect(0x300, 0x290, 0x528);
}

/* The program may have an allocator of its own that uses sbrk(). */
static void test_an_area_without_a_cache_in_front_is_one_object(void **state)
{
	(void)state;
	heap();
	marked_put(16 + 128, MARKED_BASE + 0x1000); /* a pointer whose counter is 0 */
	find(true);
	assert_null(chunks);
	chunk(0, 0x40, true);
	chunk(0x40, 0x1000, true);
	find(true);
	assert_null(chunks);
}

/* While the program runs, a chunk may be in use by now, or larger. */
static void test_any_chunk_is_an_object_if_the_program_runs(void **state)
{
	uint64_t low, high;

	(void)state;
	heap();
	find(true);
	assert_true(ins_chunks_mark_any(chunks, marked.windows, MARKED_BASE + 0x1080, &low, &high));
	assert_int_equal(low, MARKED_BASE + 0x1060);
	assert_int_equal(high, MARKED_BASE + 0x1168);
	assert_false(
		ins_chunks_mark_any(chunks, marked.windows, MARKED_BASE + 0x1088, &low, &high));
	chunk(0x1060, 0x8100, true);
	ins_chunks_unmark(chunks);
	assert_true(ins_chunks_mark_any(chunks, marked.windows, MARKED_BASE + 0x1080, &low, &high));
	assert_int_equal(high, MARKED_BASE + 0x9168);
}

#define EACH(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		EACH(test_a_chain_of_chunks_is_found),
		EACH(test_any_byte_of_an_object_leads_to_the_object_once),
		EACH(test_free_chunks_and_the_rest_are_no_objects),
		EACH(test_a_bin_does_not_lead_to_the_object_before_the_free_chunk),
		EACH(test_a_chain_that_misses_the_end_is_no_heap),
		EACH(test_a_free_chunk_whose_size_is_not_repeated_is_no_chunk),
		EACH(test_a_heap_that_breaks_has_one_object_from_there_on),
		EACH(test_zeros_are_no_chunks),
		EACH(test_large_blocks_side_by_side_are_objects),
		EACH(test_a_heap_that_could_not_grow_ends_with_two_headers),
		EACH(test_the_cache_of_free_chunks_is_no_object),
		EACH(test_only_the_first_chunk_is_a_cache),
		EACH(test_an_area_without_a_cache_in_front_is_one_object),
		EACH(test_any_chunk_is_an_object_if_the_program_runs),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
