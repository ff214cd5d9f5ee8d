/* SPDX-License-Identifier: MIT */
/* test_locale.c - fibers take the locale that they have set along, and leave none behind */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fiber/sync.h>

#include "carriers.h"
#include "layout/locale.h"
#include "sched/locale.h"
#include "tests/harness/watchdog.h"

#define FIBERS 60
#define TURNS  200

static locale_t locales[3]; /* 0: none is set */
static struct fiber_mutex mutex;

/* As libfiber-posix does. */
static void set_locale(locale_t locale)
{
	fiber_locale_keep(uselocale);
	uselocale(locale);
}

/* What the C library says of the locale "C" and of locales[1]. */
static struct {
	char codeset[32];
	size_t longest; /* bytes of a character */
} expected[2];

static void expect(unsigned i, locale_t locale)
{
	const locale_t before = uselocale(locale);

	snprintf(expected[i].codeset, sizeof expected[i].codeset, "%s", nl_langinfo(CODESET));
	expected[i].longest = MB_CUR_MAX;
	uselocale(before);
}

static bool has(locale_t locale)
{
	const unsigned i = locale == locales[1];

	return uselocale((locale_t)0) == (locale ? locale : LC_GLOBAL_LOCALE) &&
	       strcmp(nl_langinfo(CODESET), expected[i].codeset) == 0 &&
	       MB_CUR_MAX == expected[i].longest;
}

static void leave(int turn)
{
	switch (turn % 3) {
	case 0:
		fiber_yield();
		break;
	case 1:
		fiber_sleep(1000);
		break;
	default:
		fiber_mutex_lock(&mutex, FIBER_FOREVER);
		fiber_yield();
		fiber_mutex_unlock(&mutex);
	}
}

static void *keeps(void *arg)
{
	const locale_t locale = arg;

	must(has(NULL));
	if (locale)
		set_locale(locale);
	for (int i = 0; i < TURNS; i++) {
		must(has(locale));
		leave(i);
	}
	must(has(locale));
	return NULL; /* with the locale set */
}

static void *many_keep(void *arg)
{
	struct fiber_result result;
	struct fiber *f[FIBERS];

	for (int i = 0; i < FIBERS; i++)
		must(fiber_spawn(keeps, locales[i % 3], &f[i]) == 0);
	for (int i = 0; i < FIBERS; i++) {
		must(fiber_join(f[i], &result, FIBER_FOREVER) == 0);
		if (result.value)
			return result.value;
	}
	return arg;
}

static void test_locale_is_the_fibers_on_one_carrier(void **state)
{
	(void)state;
	prove(1, many_keep, NULL);
}

static void test_locale_goes_along_from_carrier_to_carrier(void **state)
{
	(void)state;
	prove(4, many_keep, NULL);
}

static void *ends_with_one(void *arg)
{
	set_locale(locales[1]);
	return arg;
}

static void *has_none(void *arg)
{
	must(has(NULL));
	return arg;
}

/* The second starts on the stack of the first, without the idle context in between. */
static void *one_after_the_other(void *arg)
{
	struct fiber_result result;
	struct fiber *f[2];

	for (int i = 0; i < 10; i++) {
		must(fiber_spawn(ends_with_one, NULL, &f[0]) == 0);
		must(fiber_spawn(has_none, NULL, &f[1]) == 0);
		for (int k = 0; k < 2; k++) {
			must(fiber_join(f[k], &result, FIBER_FOREVER) == 0);
			if (result.value)
				return result.value;
			must(has(NULL));
		}
	}
	return arg;
}

static void test_locale_ends_with_the_fiber(void **state)
{
	(void)state;
	prove(1, one_after_the_other, NULL);
}

static bool looks(void)
{
	return fib_load(&fib_carrier_self()->slow_switch) & FIB_SLOW_LOCALE;
}

static void *looks_then(void *arg)
{
	must(!looks());
	fiber_yield();
	set_locale(locales[2]);
	for (unsigned i = 0; i < 4; i++)
		must(fib_load(&fib_carrier_self()->sched->carriers[i].slow_switch) &
		     FIB_SLOW_LOCALE);
	return arg;
}

static void test_locale_costs_nothing_before_the_first(void **state)
{
	(void)state;
	prove(4, looks_then, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_locale_costs_nothing_before_the_first),
		cmocka_unit_test(test_locale_is_the_fibers_on_one_carrier),
		cmocka_unit_test(test_locale_goes_along_from_carrier_to_carrier),
		cmocka_unit_test(test_locale_ends_with_the_fiber),
	};
	int failed;

	harness_watchdog(100);
	locales[1] = newlocale(LC_ALL_MASK, "C.UTF-8", (locale_t)0);
	/* Not the C library's own object for "C". */
	locales[2] = duplocale(LC_GLOBAL_LOCALE);
	if (!locales[1] || !locales[2])
		return 1;
	expect(0, locales[2]);
	expect(1, locales[1]);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	freelocale(locales[1]);
	freelocale(locales[2]);
	return failed;
}
