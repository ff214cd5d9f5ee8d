/* SPDX-License-Identifier: MIT */
/* threads.h - the threads of a process, and what each is at, without stopping any. */
#ifndef INS_THREADS_H
#define INS_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "inspect/process/thread.h"

struct ins_threads_one {
	pid_t tid;
	char name[INS_THREAD_NAME];
	bool late;   /* it would not stop; for who stops it */
	uint64_t sp; /* when it was last stopped; 0: never */
};

struct ins_threads {
	struct ins_threads_one *at;
	size_t count, room;
};

/* List those there are now, in place of what was listed. Those of which nothing can be read, or for which there is no memory, are missing. */
void ins_threads_list(pid_t pid, struct ins_threads *threads);
void ins_threads_free(struct ins_threads *threads);

enum ins_sight {
	INS_SIGHT_RUNS,	   /* or nothing is known */
	INS_SIGHT_WAITS,   /* in the kernel */
	INS_SIGHT_FRAGILE, /* in a system call that a stop may end with EINTR */
};

/* What a thread is at, and where it has entered the kernel: of one that waits. */
enum ins_sight ins_threads_look(pid_t pid, pid_t tid, uint64_t *ret_sp, uint64_t *ret_pc);

#endif
