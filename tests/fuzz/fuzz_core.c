/* SPDX-License-Identifier: MIT */
/* fuzz_core.c - arbitrary core files: headers, notes, segments, compressed or not. The input is the
 * file. */
#include "read_core.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_core(data, size);
	return 0;
}
