/* SPDX-License-Identifier: MIT */
/* to_core.h - write a core in which every fiber is a thread, or only of the threads of a program */
#ifndef FIBERTRACE_TO_CORE_H
#define FIBERTRACE_TO_CORE_H

#include "inspect/corefile/core_fibers.h"
#include "inspect/corefile/core_write.h"
#include "inspect/elf/mappings.h"
#include "inspect/model/source.h"

struct to_core {
	struct ins_source *source;
	bool stacks_only;
	bool threads_only; /* no fiber is a thread: there are none, or none is wanted */
	int fd;		   /* of the empty file */
	struct ins_core_writer writer;
	struct ins_core_fibers fibers;
	struct ins_summary summary;
	uint64_t threads; /* plain threads */
	uint64_t disk;	  /* bytes of disk space that the file uses */
	struct ins_error *error;
};

/*
 * Write the core from a live process, or from the core at path. 0, or a negative errno with error
 * set; problems are in the source. Free t in both cases.
 */
int to_core_live(struct to_core *t);
int to_core_core(struct to_core *t, const char *path);
void to_core_free(struct to_core *t);

/* Read the fibers, if they are wanted. 0, or a negative errno with error set. */
int to_core_fibers(struct to_core *t, bool live);

/* Write the notes of the process that do not change while it runs. */
int to_core_process_notes(struct to_core *t, const struct ins_mappings *mappings);

#endif
