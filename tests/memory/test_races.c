/* SPDX-License-Identifier: MIT */
/*
 * test_races.c - races are found in programs with one, and in no others
 *
 * The programs are compiled with -fsanitize=thread, by each compiler, without and with optimization.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "programs.h"

static void run_program(void *arg)
{
	const struct program *p = arg;

	if (p->first)
		p->first(NULL);
	else
		run_both(p->a, p->b);
}

/* Outside the fibers: the programs find everything at zero, and no access was made. */
static void clear(void *arg)
{
	(void)arg;
	data = other = 0;
	memset(&o, 0, sizeof o);
}

static bool fits(const struct program *p, unsigned flags, struct fiber_test_result *ret)
{
	const struct fiber_test_options options = {
		.size = sizeof options,
		.name = p->name,
		.prepare = clear,
		.schedules = 300,
		.flags = flags,
	};
	const bool found =
		fiber_test_explore(run_program, (void *)(uintptr_t)p, &options, ret) != 0;

	return found ? ret->verdict == FIBER_TEST_RACE && p->races && !flags : !p->races || flags;
}

/* AddressSanitizer has the program's memcpy() and the like, which clang also copies structures with. */
static bool is_skipped(const struct program *p)
{
	const char *sanitizer = getenv("FIBER_SAN");

	return sanitizer && strcmp(sanitizer, "address") == 0 &&
	       (strncmp(p->name, "memc", 4) == 0 ||
		strcmp(p->name, "a structure and its member") == 0);
}

static void check_all(const struct program *programs, size_t n)
{
	unsigned wrong = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		struct fiber_test_result result = {.size = sizeof result};

		if (is_skipped(&programs[i]) || fits(&programs[i], 0, &result))
			continue;
		wrong++;
		print_message("%s: %s: %s\n", programs[i].name,
			      fiber_test_verdict_name(result.verdict), result.message);
	}
	assert_int_equal(wrong, 0);
}

static void test_races_of_locks(void **state)
{
	(void)state;
	check_all(lock_programs, lock_count);
}

static void test_races_of_channels_and_descriptors(void **state)
{
	(void)state;
	check_all(passing_programs, passing_count);
}

static void test_races_of_atomics(void **state)
{
	(void)state;
	check_all(atomic_programs, atomic_count);
}

static void test_races_of_memory(void **state)
{
	(void)state;
	check_all(memory_programs, memory_count);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_races_of_locks),
		cmocka_unit_test(test_races_of_channels_and_descriptors),
		cmocka_unit_test(test_races_of_atomics),
		cmocka_unit_test(test_races_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
