/* SPDX-License-Identifier: MIT */
/* core_threads.h - the threads that a core's notes describe */
#ifndef INS_CORE_THREADS_H
#define INS_CORE_THREADS_H

#include "inspect/corefile/core.h"
#include "inspect/model/registers.h"

struct ins_core_thread {
	pid_t tid;
	int signal; /* the signal that ended it, or 0 */
	struct ins_registers registers;
	uint64_t at, end; /* its notes in the file, up to the next thread's status */
};

/*
 * List the threads in the order of the core: the first one failed. Returns 0 or -ENOMEM; the caller
 * frees *ret.
 */
int ins_core_threads(const struct ins_core *core, struct ins_core_thread **ret, size_t *ret_count);

/* Whether this signal ends a program because of an action of one of its threads. */
bool ins_core_fatal(int number);

/*
 * Call fn for the notes of a thread that are not the process': name, type, contents. Stops at the
 * first result that is not 0 and returns it, else 0; -EIO, -ENOMEM.
 */
typedef int ins_core_note_fn(void *context, const char *name, uint32_t type, const void *contents,
			     size_t size);
int ins_core_thread_notes(const struct ins_core *core, const struct ins_core_thread *thread,
			  ins_core_note_fn *fn, void *context);

#endif
