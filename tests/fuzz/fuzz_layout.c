/* SPDX-License-Identifier: MIT */
/*
 * fuzz_layout.c - arbitrary registries in an otherwise valid core
 *
 * An input is a sequence of triples: an offset of two bytes, and the byte to write there: into the
 * note, the registry, the records, the labels or the stacks.
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
	const size_t from = whole.data - 256; /* the note is shortly before the data */
	size_t i;

	spoilt = whole;
	for (i = 0; i + 3 <= size; i += 3)
		spoilt.elf
			.at[from + (data[i] | (size_t)data[i + 1] << 8) % (whole.elf.size - from)] =
			data[i + 2];
	read_core(spoilt.elf.at, spoilt.elf.size);
	return 0;
}
