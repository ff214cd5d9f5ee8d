/* SPDX-License-Identifier: MIT */
/*
 * watched.c - the cost of being observed, and of being observable
 *
 * The first work yields as in fibers.c, with the control socket and the watchdog that a program has
 * by default.
 *
 * The second work is one busy fiber among many that wait. Its carrier has a CPU of its own, and the
 * fiber reads the clock in every turn. It measures how long it was kept from its work, for any
 * reason, and how much of that time the service thread ran, which answers observers.
 * bench/observer.py starts this program and observes it.
 *
 * CPU times exclude what a hypervisor gave to others, if the kernel knows of it
 * (CONFIG_PARAVIRT_TIME_ACCOUNTING).
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench/libfiber/bench.h"

void bench_watchable_yield(long count, long fibers)
{
	const char *control = getenv("FIBER_CONTROL");

	bench_watchable = !control || strcmp(control, "off") != 0;
	bench_yield(count, fibers);
}

struct observed {
	long waiting, seconds;
};

static void *waits(void *arg)
{
	fiber_park(FIBER_FOREVER);
	return arg;
}

static bool is_named(const char *tid, const char *name)
{
	char path[300], text[32] = "";
	FILE *file;

	snprintf(path, sizeof path, "/proc/self/task/%s/comm", tid);
	file = fopen(path, "r");
	if (file && !fgets(text, sizeof text, file))
		text[0] = 0;
	if (file)
		fclose(file);
	text[strcspn(text, "\n")] = 0;
	return strcmp(text, name) == 0;
}

/* The CPU clock of this process's thread of that name. */
static clockid_t cpu_clock_of(const char *name)
{
	DIR *threads = opendir("/proc/self/task");
	struct dirent *thread;
	long tid = 0;

	while (!tid && threads && (thread = readdir(threads)))
		if (is_named(thread->d_name, name))
			tid = atol(thread->d_name);
	if (!tid)
		work_die(name);
	closedir(threads);
	return (clockid_t)(~(unsigned)tid << 3 | 6); /* as pthread_getcpuclockid(3) */
}

static double cpu_now(clockid_t clock)
{
	struct timespec t;

	if (clock_gettime(clock, &t) < 0)
		work_die("clock_gettime");
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

#define AWAY 2e3   /* ns; a longer turn was interrupted */
#define LATE 100e3 /* ns; a longer gap is late */

struct second {
	long count;
	long late;   /* late gaps */
	long served; /* gaps in which the service thread ran */
	long over
		[3]; /* gaps in which the service thread ran for over LATE / 4, LATE / 2, or LATE */
	double longest, all; /* ns of service thread CPU: most in one gap, in all gaps */
};

static void add_gap(struct second *s, double gap, double service)
{
	s->longest = service > s->longest ? service : s->longest;
	s->all += service;
	s->late += gap > LATE;
	s->served += service > 0;
	s->over[0] += service > LATE / 4;
	s->over[1] += service > LATE / 2;
	s->over[2] += service > LATE;
}

/* Yield for a second and measure each gap between two turns. */
static struct second one_second(clockid_t service)
{
	double began = work_now(), last = began, now;
	double before = cpu_now(service), used;
	struct second s = {0};

	do {
		fiber_yield();
		now = work_now();
		if (now - last > AWAY) {
			used = cpu_now(service);
			add_gap(&s, now - last, used - before);
			before = used;
			now = work_now();
		}
		last = now;
		s.count++;
	} while (now - began < 1e9);
	return s;
}

/* Print a line every second, with the values of struct second. */
static void *turns(void *arg)
{
	const struct observed *o = arg;
	clockid_t service = cpu_clock_of("fiber-service");

	for (long i = 0; i < o->seconds; i++) {
		struct second s = one_second(service);

		printf("turns %ld late %ld served %ld over %ld %ld %ld longest_us %.1f all_us "
		       "%.1f\n",
		       s.count, s.late, s.served, s.over[0], s.over[1], s.over[2], s.longest / 1e3,
		       s.all / 1e3);
		fflush(stdout);
	}
	_exit(0); /* the waiting fibers are never woken */
}

static void *observed_main(void *arg)
{
	const struct observed *o = arg;

	for (long i = 0; i < o->waiting; i++)
		if (fiber_spawn(waits, NULL, NULL))
			work_die("fiber_spawn");
	return turns(arg);
}

void bench_observed(long waiting, long seconds)
{
	struct observed o = {waiting, seconds};

	bench_watchable = true;
	bench_run(observed_main, &o, 1);
}
