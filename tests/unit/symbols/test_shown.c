/* SPDX-License-Identifier: MIT */
/* test_shown.c - what is shown of a walk, numbered as in the whole one, in text, JSON and drawings */
#include "tests/harness/inspect/flamed.h"
#include "inspect/symbols/limit.h"
#include "inspect/symbols/shown.h"

/* 0x100 is internal, 0x200 was called. */
static void mark(void)
{
	walk.hide = true;
	walk.code.internal[0] = 1u << 0;
	walk.code.called[0] = 1u << 1;
}

static const char *printed(void)
{
	FILE *out;

	free(text);
	out = open_memstream(&text, &size);
	ins_text_frames(out, symbols, &walk);
	fclose(out);
	return text;
}

static void test_internal_frames_are_not_shown_and_the_others_keep_their_numbers(void **state)
{
	(void)state;
	mark();
	assert_string_equal(printed(), "  #1  0x200\n  #2  0x300\n");
	walk.hide = false;
	assert_string_equal(printed(), "  #0  0x100\n  #1  0x200\n  #2  0x300\n");
}

static void test_shown_says_which_frames_of_an_address_are_internal(void **state)
{
	struct ins_shown at;

	(void)state;
	mark();
	at = ins_shown_at(symbols, &walk, 0);
	assert_int_equal(at.count, 1);
	assert_int_equal(at.end - at.first, 0);
	assert_true(ins_shown_internal(&at, 0));
	at = ins_shown_at(symbols, &walk, 1);
	assert_int_equal(at.end - at.first, 1);
	assert_false(ins_shown_internal(&at, 0));
	walk.code.entry = 3;
	at = ins_shown_at(symbols, &walk, 2);
	assert_int_equal(at.end - at.first, 0);
	assert_true(ins_shown_internal(&at, 0));
	walk.hide = false;
	at = ins_shown_at(symbols, &walk, 0);
	assert_int_equal(at.end - at.first, 1);
	assert_true(ins_shown_internal(&at, 0));
}

static void test_json_has_all_frames_and_says_which_are_internal(void **state)
{
	json_t *frames;

	(void)state;
	mark();
	frames = ins_json_frames(symbols, &walk);
	assert_int_equal(json_array_size(frames), 3);
	assert_true(json_is_true(json_object_get(json_array_get(frames, 0), "internal")));
	assert_true(json_is_false(json_object_get(json_array_get(frames, 1), "internal")));
	assert_true(json_is_false(json_object_get(json_array_get(frames, 2), "internal")));
	json_decref(frames);
}

static void test_a_limit_counts_what_is_shown(void **state)
{
	json_t *frames;

	(void)state;
	mark();
	ins_walk_limit(&walk, symbols, 1);
	assert_int_equal(walk.left, 1);
	assert_string_equal(printed(), "  #1  0x200\n  1 frame left out\n");
	frames = ins_json_frames(symbols, &walk);
	assert_int_equal(json_array_size(frames), 2);
	json_decref(frames);
}

static void test_fibers_with_the_same_shown_frames_are_one_group(void **state)
{
	(void)state;
	mark();
	add(NULL);
	walk.pc[0] = 0x104;
	add(NULL);
	assert_int_equal(ins_groups_count(groups), 1);
	walk.pc[1] = 0x204;
	add(NULL);
	assert_int_equal(ins_groups_count(groups), 2);
	walk.hide = false;
	walk.pc[0] = 0x108;
	add(NULL);
	assert_int_equal(ins_groups_count(groups), 3);
}

static void test_a_drawing_has_no_internal_frames(void **state)
{
	(void)state;
	mark();
	add(NULL);
	flame_all(false);
	assert_int_equal(ins_flames_at(flames, 0)->depth, 2);
	assert_int_equal(ins_flames_functions(flames), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FLAMED_TEST(test_internal_frames_are_not_shown_and_the_others_keep_their_numbers),
		FLAMED_TEST(test_shown_says_which_frames_of_an_address_are_internal),
		FLAMED_TEST(test_json_has_all_frames_and_says_which_are_internal),
		FLAMED_TEST(test_a_limit_counts_what_is_shown),
		FLAMED_TEST(test_fibers_with_the_same_shown_frames_are_one_group),
		FLAMED_TEST(test_a_drawing_has_no_internal_frames),
	};

	return HEAD_RUN(tests, flamed_start, flamed_stop);
}
