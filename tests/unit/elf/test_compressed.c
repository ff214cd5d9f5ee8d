/* SPDX-License-Identifier: MIT */
/* test_compressed.c - data unpacks as it was packed, and damage is reported */
#include "inspect/elf/compressed.h"

#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "tests/harness/inspect/head.h"
#include "tests/harness/paths.h"

#define PLAIN (3u << 20)
#define ROOM  (1u << 20)
#define HOLE  (1u << 20) /* a run of this many zeros starts at this offset */

static unsigned char plain[PLAIN], packed[2 * ROOM];
static uint64_t seed;

static const enum ins_compression ways[] = {INS_COMPRESSED_ZSTD, INS_COMPRESSED_XZ,
					    INS_COMPRESSED_GZIP};

static unsigned next(unsigned limit)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)((seed >> 33) % limit);
}

static size_t gzip(const unsigned char *from, size_t size, unsigned char *to)
{
	z_stream z = {0};

	assert_int_equal(deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = (unsigned char *)from;
	z.avail_in = (unsigned)size;
	z.next_out = to;
	z.avail_out = ROOM;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	return z.total_out;
}

static size_t pack(enum ins_compression as, const unsigned char *from, size_t size,
		   unsigned char *to)
{
	size_t used = 0;

	if (as == INS_COMPRESSED_GZIP)
		return gzip(from, size, to);
	if (as == INS_COMPRESSED_XZ) {
		assert_int_equal(lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, NULL, from, size, to,
							 &used, ROOM),
				 LZMA_OK);
		return used;
	}
	used = ZSTD_compress(to, ROOM, from, size, 1);
	assert_false(ZSTD_isError(used));
	return used;
}

static int unpack(enum ins_compression as, size_t size, struct ins_unpacked *ret)
{
	struct ins_error error = {""};
	const int fd = memfd_create("packed", MFD_CLOEXEC);
	int rc;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, packed, size), size);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	rc = ins_compressed_unpack("the file", fd, as, &error, ret);
	if (rc < 0)
		assert_non_null(strstr(error.text, "the file: "));
	close(fd);
	return rc;
}

static void expect(int fd, uint64_t from, const unsigned char *bytes, size_t size)
{
	unsigned char *const got = malloc(size + 1);

	assert_non_null(got);
	assert_int_equal(pread(fd, got, size, (off_t)from), size);
	assert_memory_equal(got, bytes, size);
	free(got);
}

static void test_each_way_is_known_by_its_first_bytes(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		pack(ways[i], plain, 1000, packed);
		assert_int_equal(ins_compressed_as(packed, 8), ways[i]);
		assert_int_equal(ins_compressed_as(packed, 2), INS_COMPRESSED_NOT);
	}
	assert_int_equal(ins_compressed_as("\177ELF\2\1\1", 8), INS_COMPRESSED_NOT);
	assert_int_equal(ins_compressed_as("\x04\x22\x4d\x18", 4), INS_COMPRESSED_OTHER);
	assert_int_equal(ins_compressed_as("BZh9", 4), INS_COMPRESSED_OTHER);
}

static void test_what_went_in_comes_out_and_zeros_are_holes(void **state)
{
	struct ins_unpacked u;
	struct stat st;
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		assert_int_equal(unpack(ways[i], pack(ways[i], plain, PLAIN, packed), &u), 0);
		assert_string_equal(u.cut, "");
		assert_int_equal(u.size, PLAIN);
		expect(u.fd, 0, plain, PLAIN);
		assert_int_equal(fstat(u.fd, &st), 0);
		assert_int_equal(st.st_size, PLAIN);
		assert_int_equal(st.st_nlink, 0);
		assert_true(lseek(u.fd, 0, SEEK_HOLE) < 2 * (off_t)HOLE);
		close(u.fd);
	}
}

static void test_frames_that_follow_each_other_are_one_file(void **state)
{
	struct ins_unpacked u;
	size_t i, size;

	(void)state;
	for (i = 0; i < 3; i++) {
		size = pack(ways[i], plain, 100001, packed);
		size += pack(ways[i], plain + 100001, 50000, packed + size);
		assert_int_equal(unpack(ways[i], size, &u), 0);
		assert_string_equal(u.cut, "");
		assert_int_equal(u.size, 150001);
		expect(u.fd, 0, plain, 150001);
		close(u.fd);
	}
}

static void test_a_stream_cut_anywhere_says_so(void **state)
{
	struct ins_unpacked u;
	size_t i, k, size, partial = 0;

	(void)state;
	for (i = 0; i < 3; i++) {
		size = pack(ways[i], plain, PLAIN, packed);
		for (k = 0; k < 60; k++) {
			const size_t cut = k < 20 ? k : size / 41 * (k - 19);

			if (unpack(ways[i], cut, &u) < 0)
				continue;
			partial++;
			assert_true(u.cut[0] != 0);
			assert_true(u.size <= PLAIN);
			expect(u.fd, 0, plain, u.size);
			close(u.fd);
		}
		size = pack(ways[i], plain, PLAIN, packed);
		assert_true(unpack(ways[i], size - 1, &u) < 0 || u.cut[0]);
		if (u.fd >= 0)
			close(u.fd);
	}
	assert_true(partial > 30);
}

static void test_streams_with_spoilt_bytes_are_survived(void **state)
{
	struct ins_unpacked u;
	unsigned i, k, n;
	size_t size;

	(void)state;
	seed = 4711;
	for (i = 0; i < 3; i++) {
		size = pack(ways[i], plain, 20000, packed);
		for (k = 0; k < 2000; k++) {
			unsigned char was[4096];
			const size_t head = size < sizeof was ? size : sizeof was;

			memcpy(was, packed, head);
			for (n = 1 + next(4); n; n--)
				packed[next((unsigned)head)] ^= (unsigned char)(1 + next(255));
			if (unpack(ways[i], size, &u) == 0) {
				/* No bytes are invented: the result is whole or marked as cut. */
				assert_true(u.cut[0] || u.size <= PLAIN);
				close(u.fd);
			}
			memcpy(packed, was, head);
		}
	}
}

static void test_no_folder_and_an_unknown_way_are_named(void **state)
{
	struct ins_error error = {""};
	struct ins_unpacked u;
	const size_t size = pack(INS_COMPRESSED_GZIP, plain, 1000, packed);
	char *was = getenv("TMPDIR") ? strdup(getenv("TMPDIR")) : NULL;
	int fd = memfd_create("packed", MFD_CLOEXEC);

	(void)state;
	setenv("TMPDIR", "/nonexistent-folder", 1);
	assert_int_equal(write(fd, packed, size), size);
	assert_int_equal(ins_compressed_unpack("x", fd, INS_COMPRESSED_GZIP, &error, &u), -ENOENT);
	assert_non_null(strstr(error.text, "/nonexistent-folder"));
	assert_non_null(strstr(error.text, "TMPDIR"));
	if (was)
		setenv("TMPDIR", was, 1);
	else
		unsetenv("TMPDIR");
	free(was);
	assert_int_equal(ins_compressed_unpack("x", fd, INS_COMPRESSED_OTHER, &error, &u), -EINVAL);
	assert_non_null(strstr(error.text, "lz4"));
	close(fd);
}

static int start(void **state)
{
	size_t i;

	(void)state;
	seed = 1;
	for (i = 0; i < PLAIN; i++)
		plain[i] = (unsigned char)(i >= HOLE && i < 2 * HOLE ? 0 : next(8) ? 7 : next(256));
	return setenv("TMPDIR", harness_folder(), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_way_is_known_by_its_first_bytes),
		cmocka_unit_test(test_what_went_in_comes_out_and_zeros_are_holes),
		cmocka_unit_test(test_frames_that_follow_each_other_are_one_file),
		cmocka_unit_test(test_a_stream_cut_anywhere_says_so),
		cmocka_unit_test(test_streams_with_spoilt_bytes_are_survived),
		cmocka_unit_test(test_no_folder_and_an_unknown_way_are_named),
	};

	return HEAD_RUN(tests, start, NULL);
}
