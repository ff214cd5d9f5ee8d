/* SPDX-License-Identifier: MIT */
/*
 * fuzz.h - what a target is: libFuzzer's interface, which replay.c uses too
 *
 * A target prints nothing and aborts when something is wrong that no sanitizer sees.
 */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Once, before the first input. 0. */
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* One input. 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What must hold for every input. */
#define fuzz_must(condition)                                                                      \
	do {                                                                                      \
		if (!(condition)) {                                                               \
			dprintf(2, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                                  \
		}                                                                                 \
	} while (0)

#endif
