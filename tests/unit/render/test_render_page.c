/* SPDX-License-Identifier: MIT */
/* test_render_page.c - a recording as an HTML page whose data cannot be markup */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <jansson.h>

#include "tests/harness/inspect/accounted.h"
#include "inspect/render/render_page.h"
#include "tests/harness/watchdog.h"

static char *made;

static int teardown(void **state)
{
	free(made);
	made = NULL;
	return accounted_three_end(state);
}

static int make(const char *page)
{
	size_t size;
	FILE *out = open_memstream(&made, &size);
	int rc;

	assert_non_null(out);
	rc = ins_page(out, page, strlen(page), r, replay, a, 2);
	assert_int_equal(fclose(out), 0);
	return rc;
}

static void test_page_has_its_data_in_one_place(void **state)
{
	json_t *data;
	char *at;

	(void)state;
	assert_int_equal(make("<script>@DATA@</script>"), 0);
	at = strstr(made, "</script>");
	assert_ptr_equal(made, strstr(made, "<script>"));
	/* The function name "serve</script>" does not end the element. */
	assert_non_null(at);
	assert_string_equal(at, "</script>");
	assert_null(memchr(made + 8, '<', (size_t)(at - made) - 8));
	*at = 0;
	data = json_loads(made + 8, 0, NULL);
	assert_non_null(data);
	assert_string_equal(
		json_string_value(json_object_get(
			json_array_get(json_object_get(data, "fibers"), 0), "function")),
		"serve</script>");
	assert_int_equal(json_array_size(json_object_get(data, "fibers")), 3);
	assert_int_equal(json_array_size(json_object_get(data, "rings")), 3);
	assert_int_equal(json_array_size(json_object_get(data, "slices")), 12);
	assert_int_equal(json_array_size(json_object_get(data, "wakeups")), 3);
	assert_int_equal(json_integer_value(json_object_get(data, "slicesLeftOut")), 0);
	/* The rows are limited; the count is that of all rows. */
	assert_int_equal(json_array_size(json_object_get(data, "waits")), 2);
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(data, "counts"), "waits")), 3);
	assert_int_equal(json_integer_value(json_object_get(data, "looks")), 1);
	json_decref(data);
}

static void test_page_without_a_place_for_data_is_refused(void **state)
{
	(void)state;
	assert_int_equal(make("<script></script>"), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_page_has_its_data_in_one_place,
						accounted_three, teardown),
		cmocka_unit_test_setup_teardown(test_page_without_a_place_for_data_is_refused,
						accounted_three, teardown),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
