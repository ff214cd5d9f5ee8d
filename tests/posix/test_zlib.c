/* SPDX-License-Identifier: MIT */
/*
 * test_zlib.c - zlib, which only computes, and reads and writes what it compresses, on fibers
 *
 * In memory zlib never parks. Its files are descriptors: two fibers are the ends of a pipe that is
 * smaller than what goes through it, so each parks many times in gzwrite() and gzread().
 */
#include <zlib.h>

#include "tests/posix/hundred.h"

#include <unistd.h>

#define SIZE   100000u
#define ROUNDS 3

/* Bytes that can be compressed to about a half, and are other for each fiber. */
static void fill(unsigned char *bytes, unsigned seed)
{
	for (unsigned i = 0; i < SIZE; i++) {
		seed = seed * 1103515245 + 12345;
		bytes[i] = 'a' + (seed >> 16) % 16;
	}
}

/* -- memory -- */

static void *compresses(void *arg)
{
	unsigned char *plain = malloc(SIZE), *again = malloc(SIZE);
	uLongf packed_size = compressBound(SIZE);
	unsigned char *packed = malloc(packed_size);

	for (int i = 0; i < ROUNDS; i++) {
		uLongf size = SIZE;

		packed_size = compressBound(SIZE);
		fill(plain, (unsigned)(intptr_t)arg * ROUNDS + (unsigned)i);
		must(compress2(packed, &packed_size, plain, SIZE, 1 + i) == Z_OK);
		must(packed_size < SIZE);
		fiber_yield();
		must(uncompress(again, &size, packed, packed_size) == Z_OK);
		must(size == SIZE && memcmp(again, plain, SIZE) == 0);
		packed[packed_size / 2] ^= 1;
		size = SIZE;
		must(uncompress(again, &size, packed, packed_size) != Z_OK);
	}
	free(packed);
	free(again);
	free(plain);
	return arg;
}

static void test_hundred_fibers_compress_and_inflate(void **state)
{
	(void)state;
	hundred_run_well(compresses);
}

/* Give and take pieces of a stream in turn with all others. */
static void *inflates_in_pieces(void *arg)
{
	unsigned char *plain = malloc(SIZE), *again = malloc(SIZE), piece[512];
	z_stream out = {0}, in = {0};
	int e = Z_OK;

	fill(plain, (unsigned)(intptr_t)arg);
	must(deflateInit(&out, 1) == Z_OK && inflateInit(&in) == Z_OK);
	out.next_in = plain;
	out.avail_in = SIZE;
	in.next_out = again;
	in.avail_out = SIZE;
	while (e == Z_OK) {
		out.next_out = piece;
		out.avail_out = sizeof piece;
		(void)deflate(&out, Z_FINISH);
		fiber_yield();
		in.next_in = piece;
		in.avail_in = (uInt)(sizeof piece - out.avail_out);
		e = inflate(&in, Z_NO_FLUSH);
	}
	must(e == Z_STREAM_END && in.total_out == SIZE && memcmp(again, plain, SIZE) == 0);
	deflateEnd(&out);
	inflateEnd(&in);
	free(again);
	free(plain);
	return arg;
}

static void test_streams_of_a_hundred_fibers_take_turns(void **state)
{
	(void)state;
	hundred_run_well(inflates_in_pieces);
}

/* -- pipes -- */

static int ends[FIBERS / 2][2];

/* Even fibers write, odd ones read what their neighbour has written. */
static void *is_an_end(void *arg)
{
	const int i = (int)(intptr_t)arg, pair = i / 2;
	unsigned char *plain = malloc(SIZE), *again = malloc(SIZE);
	gzFile file = gzdopen(ends[pair][i % 2 == 0], i % 2 ? "r" : "w1");

	gzbuffer(file, 4096);
	for (unsigned k = 0; k < ROUNDS; k++) {
		fill(plain, (unsigned)pair + k);
		if (i % 2) {
			must(gzread(file, again, SIZE) == (int)SIZE);
			must(memcmp(again, plain, SIZE) == 0);
		} else {
			must(gzwrite(file, plain, SIZE) == (int)SIZE);
		}
	}
	if (i % 2)
		must(gzgetc(file) == -1 && gzeof(file));
	must(gzclose(file) == Z_OK);
	free(again);
	free(plain);
	return arg;
}

static void test_fifty_pairs_of_fibers_compress_through_a_pipe(void **state)
{
	(void)state;
	for (int i = 0; i < FIBERS / 2; i++)
		assert_int_equal(pipe(ends[i]), 0);
	hundred_run_well(is_an_end);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hundred_fibers_compress_and_inflate),
		cmocka_unit_test(test_streams_of_a_hundred_fibers_take_turns),
		cmocka_unit_test(test_fifty_pairs_of_fibers_compress_through_a_pipe),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
