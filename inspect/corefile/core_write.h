/* SPDX-License-Identifier: MIT */
/*
 * core_write.h - an ELF core file, written piece by piece
 *
 * First the parts of memory, whose places in the file are settled at once; then memory in any order, as often as need be, also
 * some that came later; then notes; then the headers. Until these are there the file is no core.
 */
#ifndef INS_CORE_WRITE_H
#define INS_CORE_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inspect/corefile/core_late.h"

struct ins_core_part {
	uint64_t start, end;
	uint64_t
		size; /* bytes that the file has of it, from start on; 0: the debugger takes them from elsewhere */
	uint32_t flags;	 /* PF_R, PF_W, PF_X */
	bool withheld;	 /* nothing of it, whatever comes */
	bool file;	 /* pages that are not in memory are those of a file, and not zero */
	uint64_t offset; /* in the file: the writer's */
};

struct ins_core_writer {
	int fd;
	struct ins_core_part *part; /* by ascending start; the caller's */
	size_t parts;
	struct ins_core_late late;
	uint64_t
		left_out; /* bytes that replace what was not there, and for which there was no place either */
	uint64_t notes_at; /* behind memory */
	uint64_t end;	   /* of what was written, once it is whole */
	unsigned char *notes;
	size_t pending; /* bytes of notes not yet in the file */
	uint64_t noted; /* bytes of notes that are */
};

/* Begin one in an empty file, borrowed. 0, -ENOMEM. */
int ins_core_writer_begin(struct ins_core_writer *ret, int fd, struct ins_core_part *part,
			  size_t parts);

/*
 * Write memory at address. over: it replaces what was written there before, and what lies in no part gets a place as long as there
 * are no notes; else that is left out, and pages of zeros stay holes. 0, or a negative errno: -ENOSPC, -EFBIG, ...
 */
int ins_core_writer_memory(struct ins_core_writer *w, uint64_t address, const void *buf,
			   size_t size, bool over);

/* Add a note; the first ones of a thread are its status. 0, or a negative errno. */
int ins_core_writer_note(struct ins_core_writer *w, const char *name, uint32_t type,
			 const void *contents, size_t size);

/* Add bytes that are whole notes already, aligned to 4. */
int ins_core_writer_notes(struct ins_core_writer *w, const void *bytes, size_t size);

/* Write what is still missing. 0, or a negative errno. */
int ins_core_writer_end(struct ins_core_writer *w);

void ins_core_writer_free(struct ins_core_writer *w);

#endif
