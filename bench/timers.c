/* SPDX-License-Identifier: MIT */
/*
 * timers.c - what a deadline costs in each kind of timer
 *
 * Each row arms a timer and disarms it again, beside `armed` others that are armed. The rows of a
 * heap and of a wheel also let timers expire: all are armed at random deadlines within 100 ms, and
 * taken out in order. The kernel's timers are not let expire here: that costs a wake-up as well. The
 * output is the CPU time of one operation in nanoseconds, the least of the repeats. For conclusions
 * see docs/timers.md. Usage: timers [REPEATS].
 *
 * The wheel has one level of 4,096 slots of 100 us. A timer is in a list of its slot, so it is armed
 * and disarmed in constant time. A look at the wheel visits each slot that has passed.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/rand.h"
#include "bench/work.h"
#include "core/parker.h"
#include "sched/timers.h"

#define FEW    100
#define MANY   100000
#define SYSTEM 1000 /* kernel timers that are armed, and operations */
#define SPAN   INT64_C(100000000)
#define TICK   INT64_C(100000)
#define SLOTS  4096

static uint64_t dice = 1;

static int64_t random_deadline(void)
{
	return 1 + (int64_t)fib_rand_below(&dice, (uint32_t)SPAN);
}

/* -- libfiber's heap -- */

static struct fib_timers heap;
static struct fiber *fibers;

static void heap_arm(long i, int64_t deadline)
{
	uint32_t armed = fib_parker_arm(&fibers[i].parker, FIB_OUTCOME_ARMED);

	if (fib_timers_add(&heap, &fibers[i], armed, deadline) < 0)
		work_die("fib_timers_add");
}

static void heap_disarm(long i)
{
	fib_timers_drop(&fibers[i]);
}

static long heap_expire(int64_t now)
{
	struct fiber *due[FIB_TIMERS_BATCH];
	long count = 0;
	unsigned n;

	while ((n = fib_timers_expire(&heap, now, due, FIB_TIMERS_BATCH)))
		count += n;
	return count;
}

/* -- a wheel -- */

struct spoke {
	struct spoke *next, **at;
	int64_t deadline;
};

static struct spoke *slots[SLOTS], *spokes;
static int64_t wheel_now; /* the slots before this time are empty */

static void wheel_arm(long i, int64_t deadline)
{
	struct spoke *s = &spokes[i], **slot = &slots[deadline / TICK % SLOTS];

	s->deadline = deadline;
	s->next = *slot;
	s->at = slot;
	if (s->next)
		s->next->at = &s->next;
	*slot = s;
}

static void wheel_disarm(long i)
{
	struct spoke *s = &spokes[i];

	*s->at = s->next;
	if (s->next)
		s->next->at = s->at;
}

static long wheel_expire(int64_t now)
{
	long count = 0;

	for (; wheel_now < now; wheel_now += TICK)
		while (slots[wheel_now / TICK % SLOTS]) {
			wheel_disarm(slots[wheel_now / TICK % SLOTS] - spokes);
			count++;
		}
	return count;
}

/* -- the kernel's -- */

static int fds[SYSTEM];
static timer_t ids[SYSTEM];

static struct itimerspec in_an_hour(long i)
{
	return (struct itimerspec){.it_value = {.tv_sec = 3600 + i}};
}

static void timerfd_arm(long i, int64_t deadline)
{
	const struct itimerspec t = in_an_hour(i);

	(void)deadline;
	if (timerfd_settime(fds[i], 0, &t, NULL) < 0)
		work_die("timerfd_settime");
}

static void timerfd_disarm(long i)
{
	const struct itimerspec none = {.it_value = {0, 0}};

	timerfd_settime(fds[i], 0, &none, NULL);
}

static void posix_arm(long i, int64_t deadline)
{
	const struct itimerspec t = in_an_hour(i);

	(void)deadline;
	if (timer_settime(ids[i], 0, &t, NULL) < 0)
		work_die("timer_settime");
}

static void posix_disarm(long i)
{
	const struct itimerspec none = {.it_value = {0, 0}};

	timer_settime(ids[i], 0, &none, NULL);
}

static void interval_arm(long i, int64_t deadline)
{
	const struct itimerval t = {.it_value = {.tv_sec = 3600 + i}};

	(void)deadline;
	setitimer(ITIMER_REAL, &t, NULL);
}

static void interval_disarm(long i)
{
	const struct itimerval none = {.it_value = {0, 0}};

	(void)i;
	setitimer(ITIMER_REAL, &none, NULL);
}

static void open_kernel_timers(void)
{
	struct sigevent how = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};

	for (long i = 0; i < SYSTEM; i++) {
		fds[i] = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
		if (fds[i] < 0 || timer_create(CLOCK_MONOTONIC, &how, &ids[i]) < 0)
			work_die("timerfd_create or timer_create");
	}
}

/* -- a thread that sleeps -- */

static void *sleep_shortly(void *arg)
{
	const struct timespec t = {0, 1};

	clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
	return arg;
}

static double sleeping_threads(void)
{
	double cpu = work_cpu();
	pthread_t thread;

	for (long i = 0; i < SYSTEM; i++) {
		if (pthread_create(&thread, NULL, sleep_shortly, NULL))
			work_die("pthread_create");
		pthread_join(thread, NULL);
	}
	return (work_cpu() - cpu) / SYSTEM;
}

/* -- the rows -- */

struct kind {
	const char *name;
	void (*arm)(long i, int64_t deadline);
	void (*disarm)(long i);
	long (*expire)(int64_t now);
	long armed, rounds;
};

static const struct kind kinds[] = {
	{"heap of a carrier, 100 armed", heap_arm, heap_disarm, NULL, FEW, 1000000},
	{"heap of a carrier, 100,000 armed", heap_arm, heap_disarm, heap_expire, MANY, 1000000},
	{"wheel, 100 armed", wheel_arm, wheel_disarm, NULL, FEW, 1000000},
	{"wheel, 100,000 armed", wheel_arm, wheel_disarm, wheel_expire, MANY, 1000000},
	{"timerfd, 1,000 armed", timerfd_arm, timerfd_disarm, NULL, SYSTEM - 1, 20000},
	{"timer_create, 1,000 armed", posix_arm, posix_disarm, NULL, SYSTEM - 1, 20000},
	{"setitimer, the only one", interval_arm, interval_disarm, NULL, 0, 20000},
};

static void least(double *best, double value)
{
	if (*best == 0 || value < *best)
		*best = value;
}

/* The timer of the operation is the last of a kind, beyond the armed ones. */
static void measure(const struct kind *k, double *each, double *expiry)
{
	double cpu;
	long i;

	for (i = 0; i < k->armed; i++)
		k->arm(i, random_deadline());
	cpu = work_cpu();
	for (i = 0; i < k->rounds; i++) {
		k->arm(k->armed, 1 + i * 97 % SPAN);
		k->disarm(k->armed);
	}
	least(each, (work_cpu() - cpu) / (double)k->rounds);
	if (!k->expire) {
		for (i = 0; i < k->armed; i++)
			k->disarm(i);
		return;
	}
	wheel_now = 0;
	cpu = work_cpu();
	if (k->expire(SPAN + TICK) != k->armed)
		work_die("expiry of all");
	least(expiry, (work_cpu() - cpu) / (double)k->armed);
}

int main(int argc, char **argv)
{
	int repeats = argc > 1 ? atoi(argv[1]) : 5;
	const size_t n = sizeof kinds / sizeof kinds[0];
	double each[sizeof kinds / sizeof kinds[0]] = {0},
					  expiry[sizeof kinds / sizeof kinds[0]] = {0};
	double threads = 0;

	fibers = aligned_alloc(FIB_CACHE_LINE, (MANY + 1) * sizeof *fibers);
	spokes = calloc(MANY + 1, sizeof *spokes);
	if (!fibers || !spokes)
		work_die("malloc");
	memset(fibers, 0, (MANY + 1) * sizeof *fibers);
	for (long i = 0; i <= MANY; i++)
		fibers[i].parker.fiber = &fibers[i];
	fib_timers_init(&heap);
	open_kernel_timers();
	for (int r = 0; r < repeats; r++) {
		for (size_t i = 0; i < n; i++)
			measure(&kinds[i], &each[i], &expiry[i]);
		least(&threads, sleeping_threads());
	}
	printf("%-36s %14s %10s\n", "ns of CPU", "arm and disarm", "expire");
	for (size_t i = 0; i < n; i++) {
		printf("%-36s %14.1f", kinds[i].name, each[i]);
		if (kinds[i].expire)
			printf(" %10.1f", expiry[i]);
		puts("");
	}
	printf("%-36s %14.1f\n", "start, sleep and join a thread", threads);
	return 0;
}
