/* SPDX-License-Identifier: MIT */
/* test_render_taken.c - when and where an answer of render_json.c was taken. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/harness/inspect/head.h"
#include "inspect/text/timestamp.h"
#include "inspect/render/render.h"

static struct ins_summary summary;

static json_t *answer(const char *source)
{
	const struct ins_problems none = {0};
	struct ins_json json;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	json_t *ret;

	assert_non_null(out);
	ins_json_begin(&json, out, 42, "name", source, "fibers");
	assert_int_equal(ins_json_end(&json, &summary, &none), 0);
	fclose(out);
	ret = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	free(text);
	assert_non_null(ret);
	return ret;
}

static const char *host_of(const json_t *answer)
{
	return json_string_value(json_object_get(answer, "host"));
}

static void test_an_answer_of_a_process_is_taken_now_and_here(void **state)
{
	static const char *const sources[] = {"control", "live"};
	char host[256] = "";

	(void)state;
	gethostname(host, sizeof host - 1);
	for (size_t i = 0; i < 2; i++) {
		const int64_t before = ins_timestamp_wall();
		json_t *a = answer(sources[i]);
		const json_int_t taken = json_integer_value(json_object_get(a, "takenNs"));

		assert_true(taken >= before && taken <= ins_timestamp_wall());
		assert_string_equal(host_of(a), host);
		json_decref(a);
	}
}

static void test_an_answer_of_a_file_is_taken_when_that_was(void **state)
{
	json_t *a;

	(void)state;
	summary.taken = 1234;
	summary.host = "vm1";
	a = answer("snapshot");
	assert_int_equal(json_integer_value(json_object_get(a, "takenNs")), 1234);
	assert_string_equal(host_of(a), "vm1");
	json_decref(a);
	summary.host = "";
	a = answer("snapshot");
	assert_true(json_is_null(json_object_get(a, "host")));
	json_decref(a);
	summary.taken = 0;
	summary.host = NULL;
}

static void test_an_answer_of_a_core_does_not_say(void **state)
{
	json_t *a = answer("core");

	(void)state;
	assert_true(json_is_null(json_object_get(a, "takenNs")));
	assert_true(json_is_null(json_object_get(a, "host")));
	json_decref(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_answer_of_a_process_is_taken_now_and_here),
		cmocka_unit_test(test_an_answer_of_a_file_is_taken_when_that_was),
		cmocka_unit_test(test_an_answer_of_a_core_does_not_say),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
