/* SPDX-License-Identifier: MIT */
/* test_field_values.c - a value is parsed in its field's unit, or refused */
#include <string.h>

#include "tests/harness/inspect/dice.h"
#include "tests/harness/inspect/head.h"
#include "inspect/query/fields.h"
#include "inspect/text/strbuf.h"

static struct ins_field field_of(const char *name)
{
	struct ins_field f;

	assert_true(ins_field_find(name, strlen(name), &f));
	return f;
}

static uint64_t value(const char *name, const char *text)
{
	const struct ins_field f = field_of(name);
	uint64_t ret = 0;

	if (!ins_field_parse(&f, text, &ret)) {
		print_error("%s: '%s' was refused\n", name, text);
		fail();
	}
	return ret;
}

static void refused(const char *name, const char *text)
{
	const struct ins_field f = field_of(name);
	uint64_t ret;

	if (ins_field_parse(&f, text, &ret)) {
		print_error("%s: '%s' was taken\n", name, text);
		fail();
	}
}

static void test_values_are_in_the_fields_unit(void **state)
{
	(void)state;
	assert_int_equal(value("id", "17"), 17);
	assert_int_equal(value("switches", "18446744073709551615"), UINT64_MAX);
	assert_int_equal(value("age", "20ms"), 20000000);
	assert_int_equal(value("cpu", "2"), 2000000000);
	assert_int_equal(value("left", "2m14s"), 134000000000);
	assert_int_equal(value("stack", "912"), 912);
	assert_int_equal(value("stack", "64k"), 65536);
	assert_int_equal(value("size", "8m"), 8 << 20);
	assert_int_equal(value("high-water", "1g"), 1 << 30);
	assert_int_equal(value("address", "0x5f0a"), 0x5f0a);
	assert_int_equal(value("address", "0xFFFFFFFFFFFFFFFF"), UINT64_MAX);
	assert_int_equal(value("holder", "88"), 88);
	assert_int_equal(value("holder", "thread:812"), FIB_HOLDER_THREAD | 812);
}

static void test_values_that_overflow_are_refused(void **state)
{
	(void)state;
	refused("id", "18446744073709551616");
	refused("id", "99999999999999999999999999999999999999");
	refused("age", "9223372037");
	refused("stack", "18446744073709551615k");
	refused("stack", "17179869184g");
	assert_int_equal(value("stack", "17179869183g"), UINT64_C(17179869183) << 30);
	refused("address", "0x10000000000000000");
	/* The top bit of these values would change the kind of holder. */
	refused("holder", "9223372036854775820");
	refused("holder", "thread:9223372036854775820");
}

static void test_values_that_are_none_are_refused(void **state)
{
	static const char *const bad[] = {"", " 1", "+1", "-1", "-0", "1 ", "x", "\xff", "1\x01"};
	static const char *const fields[] = {"id", "age", "stack", "address", "holder", "pins"};
	size_t i, k;

	(void)state;
	for (k = 0; k < sizeof fields / sizeof fields[0]; k++)
		for (i = 0; i < sizeof bad / sizeof bad[0]; i++)
			refused(fields[k], bad[i]);
	refused("id", "0x10");
	refused("id", "1k");
	refused("id", "a");
	refused("stack", "1kk");
	refused("stack", "k");
	refused("stack", "1t");
	refused("address", "17");
	refused("address", "0x");
	refused("address", "0x0x1");
	refused("address", "0x 1");
	refused("holder", "thread:");
	refused("holder", "thread:-1");
	refused("holder", "thread: 1");
	refused("holder", "Thread:1");
	/* Texts have no number. */
	refused("name", "1");
	refused("waiting", "1");
	refused("label.a", "1");
}

static void test_values_are_read_as_they_are_said(void **state)
{
	static const char *const exact[] = {"id", "address", "holder", "fd", "target", "parent"};
	uint64_t seed = 99;
	size_t i;
	int n;

	(void)state;
	for (i = 0; i < sizeof exact / sizeof exact[0]; i++) {
		const struct ins_field f = field_of(exact[i]);

		for (n = 0; n < 500; n++) {
			const uint64_t number =
				((uint64_t)dice(&seed, 1u << 31) << 32 | dice(&seed, 1u << 31)) |
				(uint64_t)dice(&seed, 2) << 63;
			const struct ins_value v = {.known = true, .number = number};
			char said[64];
			struct ins_strbuf l = ins_strbuf(said, sizeof said);

			ins_field_say(&l, &f, v);
			assert_int_equal(value(exact[i], said), number);
		}
	}
}

static void test_names_has_every_field(void **state)
{
	const struct ins_field_info *info;
	const char *names = ins_field_names();

	(void)state;
	for (info = ins_field_infos; info->name; info++)
		assert_non_null(strstr(names, info->name));
	assert_non_null(strstr(names, "label.KEY"));
	assert_ptr_equal(names, ins_field_names());
	assert_true(strlen(names) < 400);
}

static void test_every_kind_has_a_name(void **state)
{
	int kind;

	(void)state;
	for (kind = INS_NUMBER; kind <= INS_WORDS; kind++)
		assert_true(strlen(ins_field_kind_name((enum ins_field_kind)kind)) > 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values_are_in_the_fields_unit),
		cmocka_unit_test(test_values_that_overflow_are_refused),
		cmocka_unit_test(test_values_that_are_none_are_refused),
		cmocka_unit_test(test_values_are_read_as_they_are_said),
		cmocka_unit_test(test_names_has_every_field),
		cmocka_unit_test(test_every_kind_has_a_name),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
