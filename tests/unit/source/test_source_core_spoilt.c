/* SPDX-License-Identifier: MIT */
/*
 * test_source_core_spoilt.c - damage a small core in twenty thousand ways
 *
 * A generator with a fixed seed chooses the damage, so that a failure is reproducible: bytes and
 * words anywhere in the file, and in what the program itself wrote. Each core is refused with a
 * message, or read to an end at which missing data is reported. read_core.h checks that.
 */
#include <string.h>

#include "tests/harness/inspect/head.h"
#include "tests/fuzz/read_core.h"
#include "tests/fuzz/small_core.h"

#define TIMES 10000

static struct small_core whole, spoilt;
static uint64_t seed;
static unsigned wholly, refused;

static unsigned next(unsigned limit)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)((seed >> 33) % limit);
}

static void spoil(size_t from, unsigned size)
{
	static const uint64_t lies[] = {
		0,	    1,	       0x1000,	      UINT32_MAX,	 INT64_MAX,
		UINT64_MAX, INT64_MIN, SMALL_PROGRAM, SMALL_DATA + 0x700};
	const uint64_t word = lies[next(sizeof lies / sizeof lies[0])];
	const size_t at = from + next(size - 8);

	if (next(2))
		memcpy(spoilt.elf.at + at, &word, (size_t)1 << next(4));
	else
		spoilt.elf.at[at] ^= (unsigned char)(1u << next(8));
}

/* Damage one to four places from `from` on, and read the core. */
static void spoil_and_read(size_t from)
{
	unsigned i, n;

	wholly = refused = 0;
	for (i = 0; i < TIMES; i++) {
		spoilt = whole;
		for (n = 1 + next(4); n; n--)
			spoil(from, (unsigned)(whole.elf.size - from));
		if (read_core(spoilt.elf.at,
			      spoilt.elf.size - (next(8) ? 0 : next((unsigned)whole.elf.size))) ==
		    0)
			wholly++;
		else
			refused++;
	}
	assert_true(wholly > TIMES / 10);
	assert_true(refused > TIMES / 100);
}

static void test_files_spoilt_anywhere_are_refused_or_read_to_an_end(void **state)
{
	(void)state;
	seed = 1;
	spoil_and_read(0);
}

static void test_registries_spoilt_anywhere_are_refused_or_read_to_an_end(void **state)
{
	(void)state;
	seed = 2;
	spoil_and_read(whole.data);
}

static int start(void **state)
{
	(void)state;
	small_core(&whole);
	return read_core(whole.elf.at, whole.elf.size);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files_spoilt_anywhere_are_refused_or_read_to_an_end),
		cmocka_unit_test(test_registries_spoilt_anywhere_are_refused_or_read_to_an_end),
	};

	return HEAD_RUN(tests, start, NULL);
}
