/* SPDX-License-Identifier: MIT */
/* lines.h - which CPUs have which cache lines, and what an access costs the running one */
#ifndef BENCH_MODEL_LINES_H
#define BENCH_MODEL_LINES_H

#include <stddef.h>
#include <stdint.h>

enum fib_line_use {
	FIB_LINE_READ,
	FIB_LINE_WRITE,	 /* goes through the store buffer: the CPU does not wait */
	FIB_LINE_LOCKED, /* the CPU waits for its earlier stores and for the line */
};

/* The running CPU is about to access size bytes. pc: where. Other CPUs may run meanwhile. */
void fib_lines_touch(const void *at, size_t size, enum fib_line_use use, const void *pc);

/* The running CPU executes a full fence. */
void fib_lines_fence(void);

/* How many lines have moved. */
uint64_t fib_lines_moved(void);

/* Forget where CPUs waited so far. */
void fib_lines_forget(void);

/* Print the n places of the program where CPUs waited longest for lines: "at PC NS COUNT". */
void fib_lines_report(unsigned n);

#endif
