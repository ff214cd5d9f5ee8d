/* SPDX-License-Identifier: MIT */
/*
 * memory.c - what a fiber takes in each of its states
 *
 *   memory-new      it was spawned and has not begun
 *   memory          it has run and waits
 *   memory-ended    it has run to its end without a wait, and was not joined
 *   memory-joined   it waited beside all others, and was joined: what the process keeps, at once
 *                   and after IDLE_S, when the pool has returned the memory of unused stacks
 *
 * The output is the additional resident memory of the process, and its page tables separately. This
 * includes the record, the guarded stack and all else that the library allocates for a fiber. The
 * array of handles, which the program allocates, is not included.
 */
#include <sys/mman.h>

#include "bench/libfiber/bench.h"
#include "bench/resident.h"

#define IDLE_S 5

static struct fiber_sem gate;
static long begun;

static void *waiter(void *arg)
{
	begun++;
	fiber_sem_wait(&gate, FIBER_FOREVER);
	return arg;
}

static void *ends(void *arg)
{
	begun++;
	return arg;
}

/* Room for n handles, all of it resident. */
static struct fiber **handles(long n)
{
	struct fiber **room = malloc((size_t)n * sizeof(struct fiber *));

	if (!room)
		work_die("malloc");
	memset(room, 1, (size_t)n * sizeof(struct fiber *));
	return room;
}

/* Spawn n fibers; room may be NULL: then they cannot be joined. */
static void spawn_all(long n, fiber_fn *fn, struct fiber **room)
{
	for (long i = 0; i < n; i++)
		if (fiber_spawn(fn, NULL, room ? &room[i] : NULL))
			work_die("fiber_spawn");
}

/* Let all n run before this fiber runs again. */
static void run_all(long n)
{
	fiber_yield();
	if (begun != n)
		work_die("fiber_yield");
}

/* cpu: when making them began, by work_cpu() */
static void report(const struct resident *before, long n, double cpu)
{
	struct resident after;

	cpu = work_cpu() - cpu;
	after = resident_now();
	resident_report(before, &after, n, cpu);
}

/* Report the us of CPU that the first touch of a page costs here and now. */
static void report_touch(void)
{
	const long pages = 100000;
	const size_t page = 4096;
	char *memory = mmap(NULL, (size_t)pages * page, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	double cpu = work_cpu();

	if (memory == MAP_FAILED)
		work_die("mmap");
	madvise(memory, (size_t)pages * page, MADV_NOHUGEPAGE);
	for (long i = 0; i < pages; i++)
		((volatile char *)memory)[(size_t)i * page] = 1;
	work_report("touch", (work_cpu() - cpu) / (double)pages / 1e3);
}

/* End the process: ending so many fibers would take as long, and is not measured. */
static void quit(void)
{
	fflush(stdout);
	_Exit(0);
}

static void *new_main(void *arg)
{
	long n = *(long *)arg;
	struct resident before = resident_now();
	double cpu = work_cpu();

	spawn_all(n, waiter, NULL);
	if (begun)
		work_die("spawning without running");
	report(&before, n, cpu);
	quit();
	return NULL;
}

static void *memory_main(void *arg)
{
	long n = *(long *)arg;
	struct resident before = resident_now();
	double cpu = work_cpu();

	spawn_all(n, waiter, NULL);
	run_all(n);
	report(&before, n, cpu);
	report_touch();
	quit();
	return NULL;
}

static void *ended_main(void *arg)
{
	long n = *(long *)arg;
	struct fiber **fibers = handles(n);
	struct resident before = resident_now();
	double cpu = work_cpu();

	spawn_all(n, ends, fibers);
	run_all(n);
	report(&before, n, cpu);
	quit();
	return NULL;
}

static void *joined_main(void *arg)
{
	long n = *(long *)arg;
	struct fiber **fibers = handles(n);
	struct resident before = resident_now(), after;
	double cpu = work_cpu();

	spawn_all(n, waiter, fibers);
	run_all(n);
	for (long i = 0; i < n; i++)
		fiber_sem_post(&gate);
	for (long i = 0; i < n; i++)
		if (fiber_join(fibers[i], NULL, FIBER_FOREVER))
			work_die("fiber_join");
	report(&before, n, cpu);
	/* A carrier returns memory when it is about to sleep. */
	for (int s = 0; s < IDLE_S; s++)
		fiber_sleep_until(fiber_after(INT64_C(1000000000)));
	after = resident_now();
	work_report("later", resident_all(&before, &after) / (double)n);
	quit();
	return NULL;
}

void bench_memory_new(long fibers, long arg)
{
	(void)arg;
	bench_run(new_main, &fibers, 1);
}

void bench_memory(long fibers, long arg)
{
	(void)arg;
	bench_run(memory_main, &fibers, 1);
}

void bench_memory_ended(long fibers, long arg)
{
	(void)arg;
	bench_run(ended_main, &fibers, 1);
}

void bench_memory_joined(long fibers, long arg)
{
	(void)arg;
	bench_run(joined_main, &fibers, 1);
}
