/* SPDX-License-Identifier: MIT */
/* threads.h - list the threads of a process and where each is, without stopping any */
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
	bool late;   /* it did not stop in time; used by the code that stops threads */
	uint64_t sp; /* when it was last stopped; 0: never */
};

struct ins_threads {
	struct ins_threads_one *at;
	size_t count, room;
};

/*
 * Replace the list with the threads of this moment. Threads that cannot be read, or for which there
 * is no memory, are left out.
 */
void ins_threads_list(pid_t pid, struct ins_threads *threads);
/*
 * The number of threads of a process, without those that the kernel runs for io_uring; 0: unknown, or
 * pid is 0.
 */
uint32_t ins_threads_count(pid_t pid);
void ins_threads_free(struct ins_threads *threads);

enum ins_sight {
	INS_SIGHT_RUNS,	   /* or unknown */
	INS_SIGHT_WAITS,   /* in the kernel */
	INS_SIGHT_FRAGILE, /* in a system call that fails with EINTR after a stop */
};

/*
 * What a thread does. If it waits, also the stack pointer and pc with which it entered the kernel.
 */
enum ins_sight ins_threads_look(pid_t pid, pid_t tid, uint64_t *ret_sp, uint64_t *ret_pc);

#endif
