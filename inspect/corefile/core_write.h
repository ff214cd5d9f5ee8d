/* SPDX-License-Identifier: MIT */
/*
 * core_write.h - write an ELF core file piece by piece
 *
 * The order: first the parts of memory, which fixes their places in the file; then memory in any
 * order and as often as needed, also memory that was mapped later; then notes; then the headers.
 * Without the headers the file is not a core.
 */
#ifndef INS_CORE_WRITE_H
#define INS_CORE_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inspect/corefile/core_late.h"
#include "inspect/elf/machine.h"

struct ins_core_part {
	uint64_t start, end;
	uint64_t size;	 /* bytes that the file has of it, from start on; 0: the debugger finds them
		       * elsewhere */
	uint32_t flags;	 /* PF_R, PF_W, PF_X */
	bool withheld;	 /* nothing of it is ever written */
	bool file;	 /* pages that are not in memory come from a file and are not zero */
	uint64_t offset; /* in the file; set by the writer */
};

struct ins_core_writer {
	int fd;
	struct ins_machine machine; /* of the core; at first this one */
	struct ins_core_part *part; /* by ascending start; the caller's */
	size_t parts;
	struct ins_core_late late;
	uint64_t left_out; /* bytes without a place that were to replace missing memory */
	uint64_t notes_at; /* behind memory */
	uint64_t end;	   /* the end of the file, once it is complete */
	unsigned char *notes;
	size_t pending; /* bytes of notes not yet in the file */
	uint64_t noted; /* bytes of notes already in the file */
};

/* Start a core in an empty file, which is borrowed. Returns 0 or -ENOMEM. */
int ins_core_writer_begin(struct ins_core_writer *ret, int fd, struct ins_core_part *part,
			  size_t parts);

/*
 * Write memory at address. over: it replaces earlier writes, and memory that is in no part gets a
 * place as long as there are no notes. Without over, memory in no part is left out, and pages of
 * zeros stay holes. Returns 0, or a negative errno: -ENOSPC, -EFBIG, ...
 */
int ins_core_writer_memory(struct ins_core_writer *w, uint64_t address, const void *buf,
			   size_t size, bool over);

/* Add a note. The first note of a thread is its status. Returns 0 or a negative errno. */
int ins_core_writer_note(struct ins_core_writer *w, const char *name, uint32_t type,
			 const void *contents, size_t size);

/* Add bytes that are complete notes already, aligned to 4. */
int ins_core_writer_notes(struct ins_core_writer *w, const void *bytes, size_t size);

/* Write the rest: pending notes and headers. Returns 0 or a negative errno. */
int ins_core_writer_end(struct ins_core_writer *w);

void ins_core_writer_free(struct ins_core_writer *w);

#endif
