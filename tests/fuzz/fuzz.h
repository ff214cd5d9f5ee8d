/* SPDX-License-Identifier: MIT */
/*
 * fuzz.h - the interface of a fuzz target: libFuzzer's, which replay.c uses too
 *
 * A target prints nothing and aborts on an error that no sanitizer sees.
 */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Called once, before the first input. Returns 0. */
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* Called for each input. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Abort unless the condition holds. */
#define fuzz_must(condition)                                                                      \
	do {                                                                                      \
		if (!(condition)) {                                                               \
			dprintf(2, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                                  \
		}                                                                                 \
	} while (0)

#endif
