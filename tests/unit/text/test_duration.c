/* SPDX-License-Identifier: MIT */
/* test_duration.c - parse and print durations; refuse anything else */
#include <string.h>

#include "tests/harness/inspect/dice.h"
#include "tests/harness/inspect/head.h"
#include "inspect/text/duration.h"

static int64_t parsed(const char *text)
{
	int64_t ns = -1;

	if (!ins_duration_parse(text, &ns)) {
		print_error("'%s' was refused\n", text);
		fail();
	}
	return ns;
}

static void test_duration_reads_every_unit(void **state)
{
	(void)state;
	assert_int_equal(parsed("150ns"), 150);
	assert_int_equal(parsed("20us"), 20000);
	assert_int_equal(parsed("20ms"), 20000000);
	assert_int_equal(parsed("3s"), 3000000000);
	assert_int_equal(parsed("2m"), 120000000000);
	assert_int_equal(parsed("3h"), 10800000000000);
	assert_int_equal(parsed("1d"), 86400000000000);
	assert_int_equal(parsed("2m14s"), 134000000000);
	assert_int_equal(parsed("1h0m1ns"), 3600000000001);
}

static void test_duration_alone_is_seconds(void **state)
{
	(void)state;
	assert_int_equal(parsed("0"), 0);
	assert_int_equal(parsed("7"), 7000000000);
	assert_int_equal(parsed("0.25"), 250000000);
}

static void test_duration_is_bare_without_any_unit(void **state)
{
	(void)state;
	assert_true(ins_duration_bare("50"));
	assert_true(ins_duration_bare("0.5"));
	assert_false(ins_duration_bare("50ms"));
	assert_false(ins_duration_bare("2m14s"));
}

static void test_duration_reads_fractions(void **state)
{
	(void)state;
	assert_int_equal(parsed("1.5s"), 1500000000);
	assert_int_equal(parsed("1.5m"), 90000000000);
	assert_int_equal(parsed("0.5us"), 500);
	assert_int_equal(parsed("0.000000001"), 1);
	assert_int_equal(parsed("1.9999999999999999999999ns"), 1);
	assert_int_equal(parsed("1.25d"), 108000000000000);
}

static void test_duration_refuses_what_is_none(void **state)
{
	static const char *const bad[] = {
		"",	"s",	"-1s",	 "+1s",	 " 1s",	  "1s ",      "1 s",	 "1x",
		"1S",	"1sec", "1.s",	 "1.",	 ".5s",	  "1.5.5s",   "1e3",	 "0x10",
		"2m14", "1..5", "1s,2s", "1msm", "1\xc2", "one",      "1s-1s",	 "\xff",
		"1nss", "1,5s", "inf",	 "nan",	 "1m s",  "2m14s3.5", "1\tus2s",
	};
	int64_t ns = 4711;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		if (ins_duration_parse(bad[i], &ns))
			print_error("'%s' was taken for %lld\n", bad[i], (long long)ns);
		assert_false(ins_duration_parse(bad[i], &ns));
	}
}

static void test_duration_refuses_what_does_not_fit(void **state)
{
	char digits[400];
	int64_t ns;

	(void)state;
	assert_int_equal(parsed("9223372036854775807ns"), INT64_MAX);
	assert_false(ins_duration_parse("9223372036854775808ns", &ns));
	assert_false(ins_duration_parse("9223372036854775807ns1ns", &ns));
	assert_int_equal(parsed("9223372036s"), 9223372036000000000);
	assert_false(ins_duration_parse("9223372037s", &ns));
	assert_false(ins_duration_parse("9223372036.9s", &ns));
	assert_false(ins_duration_parse("106752d", &ns));
	memset(digits, '9', sizeof digits);
	digits[sizeof digits - 1] = 0;
	assert_false(ins_duration_parse(digits, &ns));
	/* A fraction may have any number of digits. */
	digits[0] = '0';
	digits[1] = '.';
	assert_int_equal(parsed(digits), 999999999);
}

static void test_duration_reads_what_the_tools_print(void **state)
{
	char said[32], again[32];
	uint64_t seed = 4711;
	int i;

	(void)state;
	for (i = 0; i < 20000; i++) {
		int64_t ns =
			(int64_t)(((uint64_t)dice(&seed, 1u << 31) << 31 | dice(&seed, 1u << 31)) >>
				  dice(&seed, 62));

		ins_duration_text(ns, said, sizeof said);
		ins_duration_text(parsed(said), again, sizeof again);
		assert_string_equal(said, again);
	}
}

#define S INT64_C(1000000000)

static const char *said_as(int64_t ns)
{
	static char buf[32];

	return ins_duration_text(ns, buf, sizeof buf);
}

static void test_durations_have_two_units_at_most(void **state)
{
	(void)state;
	assert_string_equal(said_as(0), "0s");
	assert_string_equal(said_as(-5), "0s");
	assert_string_equal(said_as(INT64_MIN), "0s");
	assert_string_equal(said_as(999), "999ns");
	assert_string_equal(said_as(12345), "12us");
	assert_string_equal(said_as(350 * S / 1000), "350ms");
	assert_string_equal(said_as(1200 * S / 1000), "1.2s");
	assert_string_equal(said_as(2 * S), "2s");
	assert_string_equal(said_as(134 * S), "2m14s");
	assert_string_equal(said_as(3600 * S), "1h0m");
	assert_string_equal(said_as(90061 * S), "1d1h");
	assert_string_equal(said_as(INT64_MAX), "106751d23h");
}

static void expect_column(int64_t ns, int64_t largest, const char *said)
{
	char buf[32];

	assert_string_equal(ins_duration_column(ns, largest, buf, sizeof buf), said);
}

static void test_a_column_has_the_unit_of_its_largest_value(void **state)
{
	(void)state;
	expect_column(450, 450, "0.450us");
	expect_column(0, 450, "0us");
	expect_column(-5, 0, "0us");
	expect_column(9999999, 9999999, "9999.999us");
	expect_column(450, 10000000, "0.000ms");
	expect_column(12345, 3200 * (S / 1000), "0.012ms");
	expect_column(3200 * (S / 1000), 3200 * (S / 1000), "3200.000ms");
	expect_column(12345678, 10 * S, "0.012s");
	expect_column(134 * S, 134 * S, "134.000s");
	expect_column(INT64_MAX, INT64_MAX, "9223372036.854s");
}

static void test_seconds_are_the_only_unit_of_a_column(void **state)
{
	static const struct {
		int64_t ns;
		const char *said;
	} values[] = {
		{0, "0s"},
		{-5, "0s"},
		{999, "0.000s"},
		{12345678, "0.012s"},
		{404 * S / 1000, "0.404s"},
		{S, "1.0s"},
		{15290 * S / 1000, "15.2s"},
		{134 * S, "134.0s"},
		{9999 * S, "9999.0s"},
		{10000 * S, "10000s"},
		{INT64_MAX, "9223372036s"},
	};
	char buf[32];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof values / sizeof *values; i++) {
		assert_string_equal(ins_duration_seconds(values[i].ns, buf, sizeof buf),
				    values[i].said);
		/* Such a value is understood by --where too. */
		assert_true(parsed(buf) <= (values[i].ns > 0 ? values[i].ns : 0));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_duration_reads_every_unit),
		cmocka_unit_test(test_duration_alone_is_seconds),
		cmocka_unit_test(test_duration_is_bare_without_any_unit),
		cmocka_unit_test(test_duration_reads_fractions),
		cmocka_unit_test(test_duration_refuses_what_is_none),
		cmocka_unit_test(test_duration_refuses_what_does_not_fit),
		cmocka_unit_test(test_duration_reads_what_the_tools_print),
		cmocka_unit_test(test_durations_have_two_units_at_most),
		cmocka_unit_test(test_a_column_has_the_unit_of_its_largest_value),
		cmocka_unit_test(test_seconds_are_the_only_unit_of_a_column),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
