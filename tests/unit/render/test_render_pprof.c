/* SPDX-License-Identifier: MIT */
/* test_render_pprof.c - the bytes of a profile, field by field, as in profile.proto */
#include <zlib.h>

#include "tests/harness/inspect/flamed.h"

static unsigned char bytes[1 << 20];
static size_t length;

static void unpack(void)
{
	z_stream z = {0};

	drawn(ins_pprof_put, "t");
	assert_memory_equal(text, "\x1f\x8b", 2);
	z.next_in = (unsigned char *)text;
	z.avail_in = (unsigned)size;
	z.next_out = bytes;
	z.avail_out = sizeof bytes;
	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(z.avail_in, 0);
	length = z.total_out;
	inflateEnd(&z);
}

static void test_a_profile_is_these_bytes(void **state)
{
	static const char expected[] =
		"\x0a\x04\x08\x01\x10\x02"		       /* sample_type: fibers, count */
		"\x0a\x04\x08\x03\x10\x04"		       /* age, nanoseconds */
		"\x12\x09\x0a\x02\x01\x02\x12\x03\x02\xac\x02" /* sample: innermost first; 2, 300 */
		"\x22\x06\x08\x01\x22\x02\x08\x01"	       /* location 1: function 1 */
		"\x22\x06\x08\x02\x22\x02\x08\x02"	       /* location 2: function 2 */
		"\x2a\x08\x08\x01\x10\x06\x18\x06\x20\x07"     /* function 1: text indices */
		"\x2a\x08\x08\x02\x10\x08\x18\x08\x20\x09"     /* function 2 */
		"\x32\x00\x32\x06"
		"fibers\x32\x05"
		"count\x32\x03"
		"age\x32\x0b"
		"nanoseconds\x32\x01t" /* the table of texts */
		"\x32\x05"
		"0x100\x32\x00\x32\x05"
		"0x200\x32\x00"
		"\x68\x05\x70\x01"; /* comment, default_sample_type */

	(void)state;
	walk.count = 2;
	fiber.row.age = 100;
	add(NULL);
	fiber.row.age = 200;
	add(NULL);
	flame_all(false);
	unpack();
	assert_int_equal(length, sizeof expected - 1);
	assert_memory_equal(bytes, expected, length);
}

static const struct ins_flame_kind profile = {
	.number = {"s", "count", "samples"},
	.time = {"c", "ns", "CPU time"},
	.one = "sample",
	.by_time = true,
	.period = 10,
};

/* A profile says when it was made, of which program, and how often; its default is the time. */
static void test_a_profile_of_some_time_is_these_bytes(void **state)
{
	static const char expected[] =
		"\x0a\x04\x08\x01\x10\x02"		   /* sample_type: s, count */
		"\x0a\x04\x08\x03\x10\x04"		   /* c, ns */
		"\x12\x08\x0a\x02\x01\x02\x12\x02\x07\x09" /* sample: innermost first; 7, 9 */
		"\x1a\x0c\x08\x01\x28\x0a\x38\x01\x40\x01\x48\x01\x50\x01" /* mapping 1 */
		"\x22\x08\x08\x01\x10\x01\x22\x02\x08\x01" /* location 1: mapping 1, function 1 */
		"\x22\x08\x08\x02\x10\x01\x22\x02\x08\x02"
		"\x2a\x08\x08\x01\x10\x06\x18\x06\x20\x07"
		"\x2a\x08\x08\x02\x10\x08\x18\x08\x20\x09"
		"\x32\x00\x32\x01s\x32\x05"
		"count\x32\x01"
		"c\x32\x02ns\x32\x01t\x32\x05"
		"0x100\x32\x00\x32\x03"
		"[a]\x32\x00\x32\x04prog"
		"\x68\x05\x70\x03"		    /* comment, default_sample_type */
		"\x48\x05\x50\x06"		    /* time_nanos, duration_nanos */
		"\x5a\x04\x08\x03\x10\x04\x60\x0a"; /* period_type: c, ns; period 10 */

	(void)state;
	assert_int_equal(ins_flames_new(&profile, &flames), 0);
	ins_flames_set_span(flames, (struct ins_flame_span){5, 6, "prog"});
	walk.count = 1;
	ins_flames_begin(flames);
	assert_int_equal(ins_flames_put_walk(flames, &walk, symbols), 0);
	assert_int_equal(ins_flames_put_name(flames, "[a]"), 0);
	assert_int_equal(ins_flames_end(flames, 7, 9), 0);
	unpack();
	assert_int_equal(length, sizeof expected - 1);
	assert_memory_equal(bytes, expected, length);
}

static void test_many_stacks_are_more_than_a_piece(void **state)
{
	char key[64];
	unsigned i;

	(void)state;
	for (i = 0; i < 8000; i++) {
		snprintf(key, sizeof key, "a name that takes some room in the table, %u", i);
		add(key);
	}
	flame_all(true);
	unpack();
	assert_true(length > 8000 * 48);
	assert_memory_equal(bytes + length - 4, "\x68\x05\x70\x01", 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FLAMED_TEST(test_a_profile_is_these_bytes),
		FLAMED_TEST(test_a_profile_of_some_time_is_these_bytes),
		FLAMED_TEST(test_many_stacks_are_more_than_a_piece),
	};

	return HEAD_RUN(tests, flamed_start, flamed_stop);
}
