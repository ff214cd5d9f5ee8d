/* SPDX-License-Identifier: MIT */
/*
 * guards.c - what a guard below a stack costs, by its size, its kind and the number of stacks
 *
 * Each row runs in a process of its own. It maps slabs of stacks of 256 KiB as libfiber does, makes
 * the guards, and touches the top page of the first 20,000 stacks. The rows run interleaved; a row
 * is the median of its runs. For conclusions see docs/performance.md.
 * Usage: guards [STACKS [REPEATS]].
 *
 * inside: MADV_GUARD_INSTALL, 64 guards per call where the kernel can.
 * split: mprotect, as many as vm.max_map_count allows.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/resident.h"
#include "os/os.h"

#define STACK	   (256u << 10)
#define SLAB	   (16u << 20)
#define TOUCHED	   20000
#define VECTOR	   64
#define MAX_REPEAT 31
#define SPLITS	   30000 /* two mappings per stack */

static const size_t sizes[] = {4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20};
#define SIZES (sizeof sizes / sizeof sizes[0])

struct figures {
	double ns, tables; /* per stack */
};

static void make(char *slab, size_t guard, size_t stride, long n, bool inside)
{
	for (long i = 0; i < n;) {
		char *at = slab + (size_t)i * stride;
		int rc = inside ? fib_os_guard_inside_many(at, guard, stride,
							   n - i < VECTOR ? (unsigned)(n - i)
									  : VECTOR)
				: fib_os_guard_split(at, guard);

		if (rc < 0) {
			fprintf(stderr, "guards: the kernel makes no such guard\n");
			exit(1);
		}
		i += inside ? rc : 1;
	}
}

static struct figures run(size_t guard, long stacks, bool inside)
{
	const size_t stride = STACK + guard;
	const long a_slab = SLAB / (long)stride;
	struct resident before = resident_now(), after;
	double cpu = 0;

	for (long i = 0; i < stacks; i += a_slab) {
		const long n = stacks - i < a_slab ? stacks - i : a_slab;
		double began;
		void *slab;

		if (fib_os_map_stacks((size_t)a_slab * stride, &slab) < 0)
			work_die("fib_os_map_stacks");
		began = work_cpu();
		make(slab, guard, stride, n, inside);
		cpu += work_cpu() - began;
		for (long k = 0; k < n && i + k < TOUCHED; k++)
			((volatile char *)slab)[(size_t)(k + 1) * stride - 1] = 1;
	}
	after = resident_now();
	return (struct figures){cpu / (double)stacks,
				(after.tables - before.tables) / (double)stacks};
}

static struct figures run_apart(size_t guard, long stacks, bool inside)
{
	struct figures f = {-1, -1};
	int ends[2], status;
	pid_t child;

	if (pipe(ends) < 0 || (child = fork()) < 0)
		work_die("fork");
	if (!child) {
		f = run(guard, stacks, inside);
		_exit(write(ends[1], &f, sizeof f) != sizeof f);
	}
	close(ends[1]);
	if (read(ends[0], &f, sizeof f) != sizeof f)
		f = (struct figures){-1, -1};
	close(ends[0]);
	waitpid(child, &status, 0);
	return f;
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *all, int n)
{
	qsort(all, (size_t)n, sizeof *all, compare);
	return all[n / 2];
}

int main(int argc, char **argv)
{
	const long stacks = argc > 1 ? atol(argv[1]) : 100000;
	const int repeats = argc > 2 ? atoi(argv[2]) : 5;
	static double ns[SIZES][2][MAX_REPEAT], tables[SIZES][2][MAX_REPEAT];

	if (stacks < 1 || repeats < 1 || repeats > MAX_REPEAT) {
		fprintf(stderr, "usage: guards [STACKS [REPEATS, up to %d]]\n", MAX_REPEAT);
		return 64;
	}
	for (int r = 0; r < repeats; r++)
		for (size_t i = 0; i < SIZES; i++)
			for (int kind = 0; kind < 2; kind++) {
				const long n = kind || stacks < SPLITS ? stacks : SPLITS;
				const struct figures f = run_apart(sizes[i], n, kind);

				ns[i][kind][r] = f.ns;
				tables[i][kind][r] = f.tables;
			}
	printf("guard KiB  kind    stacks    ns a stack  bytes of page tables a stack\n");
	for (size_t i = 0; i < SIZES; i++)
		for (int kind = 0; kind < 2; kind++)
			printf("%9zu  %-6s  %-8ld  %10.0f  %10.0f\n", sizes[i] >> 10,
			       kind ? "inside" : "split",
			       kind || stacks < SPLITS ? stacks : (long)SPLITS,
			       median(ns[i][kind], repeats), median(tables[i][kind], repeats));
	return 0;
}
