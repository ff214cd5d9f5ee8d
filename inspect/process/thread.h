/* SPDX-License-Identifier: MIT */
/* thread.h - a plain thread of a process, of which only the system knows anything. */
#ifndef INS_THREAD_H
#define INS_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "layout/sleeper.h"

#define INS_THREAD_NAME 64

enum ins_thread {
	INS_THREAD_UNKNOWN, /* no live process, not ours to look at, or of another pid namespace */
	INS_THREAD_ALIVE,
	INS_THREAD_ENDED,
};

/*
 * What became of thread tid of process pid (0: there is none, as of a core). The number is the process' own: where it
 * knows itself by another one than we do, nothing is known of it. name: as the system has it, not made harmless; "".
 */
enum ins_thread ins_thread_look(pid_t pid, uint64_t tid, char name[INS_THREAD_NAME]);

/* The same name, of a thread by the number that we know it by; "" where it cannot be read. False then. */
bool ins_thread_name(pid_t pid, uint64_t tid, char name[INS_THREAD_NAME]);

/* A line "key:\tvalue" of the thread's status, like ins_permission_status(). 0, or a negative errno. */
int ins_thread_status(pid_t pid, uint64_t tid, const char *key, char *buf, size_t size);

/* Where the thread sleeps in the system, from outside: 1: *ret; 0: it runs, or waits for a CPU. Or a negative errno: it has
 * ended, or we may not know. */
int ins_thread_place(pid_t pid, uint64_t tid, struct fib_sleeper_place *ret);

#endif
