/* SPDX-License-Identifier: MIT */
/*
 * fuzz_layout.c - registries of strangers in a core that is well otherwise
 *
 * An input is pairs of a place, two bytes, and a byte that is put there: into the note, the registry, the records, the labels,
 * the stacks.
 */
#include "read_core.h"
#include "small_core.h"

static struct small_core whole, spoilt;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	small_core(&whole);
	fuzz_must(read_core(whole.elf.at, whole.elf.size) == 0);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t from = whole.data - 256; /* the note is close before the data */
	size_t i;

	spoilt = whole;
	for (i = 0; i + 3 <= size; i += 3)
		spoilt.elf
			.at[from + (data[i] | (size_t)data[i + 1] << 8) % (whole.elf.size - from)] =
			data[i + 2];
	read_core(spoilt.elf.at, spoilt.elf.size);
	return 0;
}
