/* SPDX-License-Identifier: MIT */
/* core_fibers.h - the fibers of a source as threads of a new core */
#ifndef INS_CORE_FIBERS_H
#define INS_CORE_FIBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/procfs.h>
#include <sys/types.h>

#include "inspect/corefile/core_write.h"
#include "inspect/text/error.h"
#include "inspect/model/registers.h"
#include "inspect/model/source.h"

/*
 * A fiber's thread number is FIRST plus its id. Fibers with larger ids are numbered from LARGE on,
 * in the order of their ids.
 */
#define INS_CORE_FIBER_FIRST 1000000000
#define INS_CORE_FIBER_LARGE 2000000000

struct ins_core_fiber {
	uint64_t id, record;
	uint64_t stack_low, stack_size;
	uint64_t sp, fp, pc;
	struct ins_registers *others; /* further known registers; NULL: none, the walk finds them */
	pid_t thread;		      /* its number as a thread; 0: it has no thread of its own */
	pid_t carrier; /* the thread that it runs on; 0: unknown, or it does not run */
	bool own;      /* it gets a thread of its own */
	bool stack;    /* its stack was copied */
	bool runs;
	bool gone; /* it exited during the copy and is not in the core */
	unsigned turn;
	char name[16];
};

struct ins_core_fibers {
	struct ins_source *source;
	struct ins_core_writer *w;
	bool live;
	struct ins_core_fiber *at; /* by id, once sorted */
	size_t count, room;
	size_t *by_stack;
	uint64_t threads; /* fibers that get a thread of their own */
	uint64_t ended, running;
	uint64_t lost;		  /* stacks that are missing */
	struct elf_prpsinfo info; /* of the process */
};

/*
 * Read every fiber of the source. For a live source, the stack and the record that were read
 * together overwrite the memory copied before. Returns 0, or a negative errno with error set;
 * -ENOSPC and the like if the core cannot be written. Free *ret also after an error.
 */
int ins_core_fibers_read(struct ins_core_fibers *ret, struct ins_source *source,
			 struct ins_core_writer *w, bool live, struct ins_summary *summary,
			 struct ins_error *error);

/* The fiber whose stack has sp, or NULL. */
struct ins_core_fiber *ins_core_fibers_on(struct ins_core_fibers *f, uint64_t sp);

/* Remove a fiber that has exited from the core. Returns 0, or a negative errno of writing. */
int ins_core_fibers_drop(struct ins_core_fibers *f, struct ins_core_fiber *fiber);

/*
 * Number every fiber that does not run, and write their notes. Returns 0, or a negative errno of
 * writing.
 */
void ins_core_fibers_number(struct ins_core_fibers *f);
int ins_core_fibers_notes(struct ins_core_fibers *f);

/*
 * Write the note that names a thread; it precedes the thread's status. Some debuggers show this
 * name.
 */
int ins_core_fibers_name(struct ins_core_fibers *f, const char *name);

void ins_core_fibers_free(struct ins_core_fibers *f);

#endif
