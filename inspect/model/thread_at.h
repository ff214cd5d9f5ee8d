/* SPDX-License-Identifier: MIT */
/*
 * thread_at.h - what a source knows of one thread at one moment
 *
 * These are the raw data of the kernel or of a core. The room threads/ makes a row of them.
 */
#ifndef INS_THREAD_AT_H
#define INS_THREAD_AT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inspect/model/registers.h"
#include "layout/sleeper.h"

struct ins_thread_at {
	uint64_t tid;	   /* in this tool's pid namespace; in a core, the process' */
	uint64_t inner;	   /* in the pid namespace of the process, as its locks record it */
	char name[32];	   /* not escaped; "": unknown, or not asked */
	bool runs;	   /* it uses a CPU or waits for one */
	uint64_t switches; /* how often it left its CPU; unchanged: it has not run */
	uint64_t cpu;	   /* ns on a CPU; FIB_ROW_UNKNOWN: also if not asked */
	uint64_t runnable; /* ns waiting for a CPU; the same */
	/*
	 * Where it sleeps, or in a core where it was: the system call, or -1: none. Of the
	 * registers at least pc and sp are known; pc is 0 if it runs or where it sleeps may not be read.
	 */
	int64_t call;
	uint64_t argument[FIB_SLEEPER_ARGUMENTS]; /* of the call */
	struct ins_registers registers;
};

/* What is asked of a thread: everything, or only what changes when it runs. */
enum ins_thread_ask { INS_THREAD_ALL, INS_THREAD_MOVES };

/* The threads of a process, by tid as above. The caller frees tid. */
struct ins_thread_ids {
	uint64_t *tid;
	size_t count;
};

#endif
