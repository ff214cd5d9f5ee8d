/* SPDX-License-Identifier: MIT */
/*
 * work.h - what every program of the benchmark does alike, whatever it measures
 *
 * A program is called as PROGRAM WORK COUNT [ARG] by bench/run.py, does the work once and prints one
 * line "NAME VALUE" for each thing it measured. How often and beside whom it runs is the runner's
 * business. Time is CPU time of the process where one thread works: on an idle machine it is the
 * same as the clock's, and neighbours do not move it. Where several threads work it is the clock's.
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
/* What stands between a call and the return keeps the call a call. */
#define WORK_NO_TAIL_CALL __asm__ volatile("")

static inline double work_clock(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ns of CPU that the process used, ns of the clock */
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

/* Report the ns of CPU that each of n operations took, since cpu (work_cpu() then). */
static inline void work_report_each(double cpu, long n)
{
	work_report("ns", (work_cpu() - cpu) / (double)n);
}

/* The end of a program that cannot do its work: 2, so that the runner says so. */
__attribute__((noreturn)) static inline void work_die(const char *what)
{
	fprintf(stderr, "bench: %s failed\n", what);
	exit(2);
}

/* One of the things a program can do. Unknown to it: exit status 64. */
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

/* A sleep of 1-100 ms in ns, the same sequence for everybody who starts with the same state. */
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

/* What n sleeps report: lateness in us at p50 and p99, CPU per wake-up in us. late: us each. */
static inline void work_report_naps(float *late, size_t n, double cpu)
{
	qsort(late, n, sizeof(*late), work_by_value);
	work_report("p50", (double)late[n / 2]);
	work_report("p99", (double)late[n - 1 - n / 100]);
	work_report("cpu", cpu / (double)n / 1e3);
}

#endif
