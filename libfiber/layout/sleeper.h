/* SPDX-License-Identifier: MIT */
/*
 * sleeper.h - where a thread sleeps in the system, as /proc/PID/task/TID/syscall says it
 *
 * The library reads that of its own threads, the tools of those of a process. Who reads the file is theirs.
 */
#ifndef FIB_LAYOUT_SLEEPER_H
#define FIB_LAYOUT_SLEEPER_H

#include <stdint.h>

struct fib_sleeper_place {
	int64_t call; /* the system call's number; -1: in none, it waits for memory of its own or is stopped */
	uint64_t sp, pc;
};

/* What the file's text says: 1: it sleeps there, *ret; 0: it runs, or waits for a CPU. -EPROTO for anything else, as of a
 * thread that has no place in the program: one of the kernel's, or one that is ending. *ret is written with a 1 only. */
int fib_sleeper_parse(const char *text, struct fib_sleeper_place *ret);

#endif
