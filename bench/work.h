/* SPDX-License-Identifier: MIT */
/*
 * work.h - the common parts of the benchmark's programs
 *
 * bench/run.py calls a program as PROGRAM WORK COUNT [ARG]. The program does the work once and
 * prints a line "NAME VALUE" for each value that it measured. The runner decides how often it runs,
 * and beside which others.
 *
 * If one thread works, time is CPU time of the process: on an idle machine it equals wall-clock
 * time, and other processes do not change it. If several threads work, time is wall-clock time.
 *
 * C and C++.
 */
#ifndef BENCH_WORK_H
#define BENCH_WORK_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WORK_NOIPA __attribute__((noipa))
/* An instruction after the call prevents a tail call. */
#define WORK_NO_TAIL_CALL __asm__ volatile("")

static inline double work_clock(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ns of CPU that the process has used; ns of the monotonic clock */
static inline double work_cpu(void)
{
	return work_clock(CLOCK_PROCESS_CPUTIME_ID);
}

static inline double work_now(void)
{
	return work_clock(CLOCK_MONOTONIC);
}

static inline void work_report(const char *name, double value)
{
	printf("%s %.6g\n", name, value);
}

/* Report the ns of CPU per operation for n operations since cpu, an earlier work_cpu(). */
static inline void work_report_each(double cpu, long n)
{
	work_report("ns", (work_cpu() - cpu) / (double)n);
}

/* Exit with 2, which the runner reports, because the work cannot be done. */
__attribute__((noreturn)) static inline void work_die(const char *what)
{
	fprintf(stderr, "bench: %s failed\n", what);
	exit(2);
}

/* A work of a program. An unknown name exits with 64. */
struct work {
	const char *name;
	void (*run)(long count, long arg);
};

static inline int work_main(int argc, char **argv, const struct work *works, size_t n)
{
	for (size_t i = 0; argc >= 3 && i < n; i++) {
		if (strcmp(argv[1], works[i].name) != 0)
			continue;
		works[i].run(strtol(argv[2], NULL, 10), argc > 3 ? strtol(argv[3], NULL, 10) : 0);
		return 0;
	}
	fprintf(stderr, "usage: %s WORK COUNT [ARG]\n", argv[0]);
	return 64;
}

/* A sleep of 1-100 ms in ns. Equal start states give equal sequences. */
static inline int64_t work_nap(uint32_t *state)
{
	uint32_t x = *state;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	*state = x;
	return INT64_C(1000000) + (int64_t)(x % 99000u) * 1000;
}

static inline int work_by_value(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

/* Report n sleeps: lateness in us at p50 and p99, CPU per wakeup in us. late: us each. */
static inline void work_report_naps(float *late, size_t n, double cpu)
{
	qsort(late, n, sizeof(*late), work_by_value);
	work_report("p50", (double)late[n / 2]);
	work_report("p99", (double)late[n - 1 - n / 100]);
	work_report("cpu", cpu / (double)n / 1e3);
}

#endif
