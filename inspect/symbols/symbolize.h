/* SPDX-License-Identifier: MIT */
/*
 * symbolize.h - the room symbols/: from an address to function, file and line
 *
 * Takes: the addresses of a walk (unwind/unwind.h) and the modules (elf/modules.h).
 * Gives: frames with names, files and lines; the source text around a line (source_lines.h).
 * Used by: values/, query/, recording/, render/, tool/ and fibertrace/.
 *
 * One address can stand for several frames: inlined functions come first, innermost first; the
 * function that has the code is last. Answers are cached by address; a grouped dump of 50,000
 * fibers needs a few hundred.
 */
#ifndef INS_SYMBOLIZE_H
#define INS_SYMBOLIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inspect/elf/modules.h"
#include "inspect/unwind/unwind.h"

struct ins_frame {
	uint64_t pc;	      /* as found on the stack */
	const char *function; /* demangled, without offset; NULL: unknown */
	uint64_t offset;      /* from the function's start; if that is unknown, the module's */
	bool has_offset;      /* false for an inlined frame, and if there is no module */
	const char *module;   /* path as the process sees it; NULL: in no module */
	const char *file;     /* as the debug information has it; NULL: unknown */
	int line;	      /* 0: unknown */
	bool inlined;	      /* it has no code of its own here */
};

struct ins_symbols;

/* For one list of modules, which is borrowed. Use in one thread. -ENOMEM. */
int ins_symbols_new(struct ins_modules *modules, struct ins_symbols **ret);
void ins_symbols_free(struct ins_symbols *symbols);

/*
 * The frames at pc; *ret_count >= 1. returned: pc is a return address, so the call before it is
 * looked up. The array lives as long as symbols. Never NULL; without memory or information it is
 * one frame with only the pc.
 */
const struct ins_frame *ins_symbols_at(struct ins_symbols *symbols, uint64_t pc, bool returned,
				       size_t *ret_count);

/* The name of its source file without folders; NULL: not known. */
const char *ins_frame_file(const struct ins_frame *frame);

/*
 * The file name of its module without folders, as the program has it. NULL: in no module, or the
 * module has no name.
 */
const char *ins_frame_module(const struct ins_frame *frame);

#endif
