/* SPDX-License-Identifier: MIT */
/* test_render_speedscope.c - valid JSON for any names; samples name frames, and weights sum up */
#include "tests/harness/inspect/flamed.h"

static json_t *speedscope(bool keyed)
{
	json_t *ret;

	flame_all(keyed);
	drawn(ins_speedscope_put, "a \"program\"\xff");
	ret = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(ret);
	return ret;
}

static void expect_profile(const json_t *file, const json_t *profile, json_int_t sum)
{
	const json_t *const samples = json_object_get(profile, "samples");
	const json_t *const weights = json_object_get(profile, "weights");
	const json_t *const frames = json_object_get(json_object_get(file, "shared"), "frames");
	const json_t *sample, *number, *weight;
	json_int_t weighed = 0;
	size_t i, k;

	assert_string_equal(json_string_value(json_object_get(profile, "type")), "sampled");
	assert_int_equal(json_array_size(samples), json_array_size(weights));
	assert_int_equal(json_integer_value(json_object_get(profile, "startValue")), 0);
	assert_int_equal(json_integer_value(json_object_get(profile, "endValue")), sum);
	json_array_foreach (samples, i, sample) {
		assert_true(json_array_size(sample) > 0);
		json_array_foreach (sample, k, number)
			assert_true((size_t)json_integer_value(number) < json_array_size(frames));
	}
	json_array_foreach (weights, i, weight)
		weighed += json_integer_value(weight);
	assert_int_equal(weighed, sum);
}

static void test_samples_and_weights_of_both_profiles(void **state)
{
	json_t *file, *profiles, *sample;

	(void)state;
	fiber.row.age = 100;
	add(NULL);
	add(NULL);
	walk.count = 2;
	add(NULL);
	file = speedscope(false);
	assert_string_equal(json_string_value(json_object_get(file, "$schema")),
			    "https://www.speedscope.app/file-format-schema.json");
	profiles = json_object_get(file, "profiles");
	assert_int_equal(json_array_size(profiles), 2);
	expect_profile(file, json_array_get(profiles, 0), 3);
	expect_profile(file, json_array_get(profiles, 1), 300);
	/* Outermost first. */
	sample = json_array_get(json_object_get(json_array_get(profiles, 0), "samples"), 0);
	assert_string_equal(
		json_string_value(json_object_get(
			json_array_get(json_object_get(json_object_get(file, "shared"), "frames"),
				       (size_t)json_integer_value(json_array_get(sample, 0))),
			"name")),
		"0x300");
	json_decref(file);
}

static void test_every_byte_in_a_name_leaves_it_json(void **state)
{
	char key[] = "a?b";
	unsigned c;

	(void)state;
	for (c = 1; c < 256; c++) {
		key[1] = (char)c;
		add(key);
	}
	json_decref(speedscope(true));
}

static void test_of_nothing_it_is_json_too(void **state)
{
	json_t *file = speedscope(false);

	(void)state;
	expect_profile(file, json_array_get(json_object_get(file, "profiles"), 0), 0);
	json_decref(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FLAMED_TEST(test_samples_and_weights_of_both_profiles),
		FLAMED_TEST(test_every_byte_in_a_name_leaves_it_json),
		FLAMED_TEST(test_of_nothing_it_is_json_too),
	};

	return HEAD_RUN(tests, flamed_start, flamed_stop);
}
