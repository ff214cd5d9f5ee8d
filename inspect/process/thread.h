/* SPDX-License-Identifier: MIT */
/* thread.h - a plain thread of a process, of which only the kernel has data */
#ifndef INS_THREAD_H
#define INS_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "layout/sleeper.h"

#define INS_THREAD_NAME 64

enum ins_thread {
	INS_THREAD_UNKNOWN, /* no live process, no permission, or another pid namespace */
	INS_THREAD_ALIVE,
	INS_THREAD_ENDED,
};

/*
 * The state of thread tid of process pid (0: no process, as for a core). tid is the process' own
 * number: if its pid namespace differs from ours, the state is unknown. name: as the kernel has it,
 * not escaped; or "".
 */
enum ins_thread ins_thread_look(pid_t pid, uint64_t tid, char name[INS_THREAD_NAME]);

/* The name of a thread by its number in our pid namespace. False and "" if it cannot be read. */
bool ins_thread_name(pid_t pid, uint64_t tid, char name[INS_THREAD_NAME]);

/*
 * Read the line "key:\tvalue" of the thread's status, like ins_permission_status(). Returns 0 or a
 * negative errno.
 */
int ins_thread_status(pid_t pid, uint64_t tid, const char *key, char *buf, size_t size);

/*
 * Find where the thread sleeps in the kernel. Returns 1 and *ret; 0: it runs or waits for a CPU; or
 * a negative errno: it has ended, or there is no permission.
 */
int ins_thread_place(pid_t pid, uint64_t tid, struct fib_sleeper_place *ret);

#endif
