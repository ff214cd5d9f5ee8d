/* SPDX-License-Identifier: MIT */
/* core_threads.h - the threads that a core's notes tell of. */
#ifndef INS_CORE_THREADS_H
#define INS_CORE_THREADS_H

#include "inspect/corefile/core.h"
#include "inspect/model/registers.h"

struct ins_core_thread {
	pid_t tid;
	int signal; /* that ended it, or 0 */
	struct ins_registers registers;
	uint64_t at, end; /* its notes in the file: its status and all up to the next one's */
};

/* In the order of the core, whose first one is the one that failed. 0 or -ENOMEM; *ret is the caller's to free. */
int ins_core_threads(const struct ins_core *core, struct ins_core_thread **ret, size_t *ret_count);

/* Whether a signal ends a program because of what a thread of it did. */
bool ins_core_fatal(int number);

/*
 * Call fn for the notes of a thread that are the thread's own and not the process': name, type, contents. Ends with
 * the first return that is not 0 and gives it, else 0; -EIO, -ENOMEM.
 */
typedef int ins_core_note_fn(void *context, const char *name, uint32_t type, const void *contents,
			     size_t size);
int ins_core_thread_notes(const struct ins_core *core, const struct ins_core_thread *thread,
			  ins_core_note_fn *fn, void *context);

#endif
