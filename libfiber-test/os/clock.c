/* SPDX-License-Identifier: MIT */
/*
 * clock.c - virtual time, in place of libfiber/os/posix/clock.c
 *
 * The clock stands still while a fiber can run. When none can, the loop moves it to the nearest
 * deadline (sched/loop.c). A fiber that reads the clock in a loop until it is late must end: from
 * the READINGS-th reading in a row without a choice, each reading moves the clock to the nearest
 * deadline, but at most by STEP.
 */
#include "os/os.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/compiler.h"
#include "os/virtual.h"

#define BEGINNING INT64_C(1000000000) /* ns */
#define READINGS  1000u
#define STEP	  INT64_C(1000000) /* ns */
#define TICK	  INT64_C(1000)	   /* ns */

static struct {
	bool on;
	int64_t now;
	int64_t patience;
	int64_t tick; /* the last one */
	int64_t (*nearest)(void);
	unsigned readings;
} clock_of_schedule = {.patience = INT64_C(10000000000)};

/* How this thread lives in virtual time. */
static _Thread_local enum { NOT, RUNS_SCHEDULE, FOLLOWS } lives;

/* Past the functions that take libc's place in the program (libc/). */
static int64_t read_clock(clockid_t clock)
{
	struct timespec t;

	if (syscall(SYS_clock_gettime, clock, &t) < 0)
		return -errno;
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t fib_virtual_real(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

int64_t fib_virtual_cpu(void)
{
	struct rusage children;

	getrusage(RUSAGE_CHILDREN, &children);
	return read_clock(CLOCK_PROCESS_CPUTIME_ID) +
	       (children.ru_utime.tv_sec + children.ru_stime.tv_sec) * INT64_C(1000000000) +
	       (children.ru_utime.tv_usec + children.ru_stime.tv_usec) * INT64_C(1000);
}

void fib_virtual_begin(int64_t (*nearest)(void))
{
	clock_of_schedule.nearest = nearest;
	clock_of_schedule.on = true;
	lives = RUNS_SCHEDULE;
	clock_of_schedule.now = BEGINNING;
	clock_of_schedule.tick = 0;
	clock_of_schedule.readings = 0;
}

void fib_virtual_end(void)
{
	clock_of_schedule.on = false;
	lives = NOT;
}

void fib_virtual_follow(void)
{
	lives = clock_of_schedule.on ? FOLLOWS : NOT;
}

bool fib_virtual_here(void)
{
	return lives != NOT;
}

bool fib_virtual_follows(void)
{
	return lives == FOLLOWS;
}

void fib_virtual_reach(int64_t at)
{
	const struct timespec until = {(time_t)(at / 1000000000), (long)(at % 1000000000)};

	if (!clock_of_schedule.on)
		syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	else if (at > clock_of_schedule.now)
		clock_of_schedule.now = at;
}

void fib_virtual_set_patience(int64_t ns)
{
	clock_of_schedule.patience = ns;
}

int64_t fib_virtual_patience(void)
{
	return clock_of_schedule.patience;
}

int64_t fib_virtual_now(void)
{
	return clock_of_schedule.on ? clock_of_schedule.now : fib_virtual_real();
}

int64_t fib_virtual_tick(void)
{
	const int64_t now = fib_virtual_now(), least = clock_of_schedule.tick + TICK;

	clock_of_schedule.tick = now > least ? now : least;
	return clock_of_schedule.tick;
}

void fib_virtual_chosen(void)
{
	clock_of_schedule.readings = 0;
}

static void move_on(void)
{
	const int64_t nearest = clock_of_schedule.nearest(), next = clock_of_schedule.now + STEP;

	clock_of_schedule.now = nearest > clock_of_schedule.now && nearest < next ? nearest : next;
}

fib_noinline int64_t fib_os_now(void)
{
	if (clock_of_schedule.on && ++clock_of_schedule.readings >= READINGS)
		move_on();
	return fib_virtual_now();
}

fib_noinline int64_t fib_os_thread_cpu(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

fib_noinline int64_t fib_os_process_cpu(void)
{
	return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

fib_noinline int64_t fib_os_wall(void)
{
	return read_clock(CLOCK_REALTIME);
}
