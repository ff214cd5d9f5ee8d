/* SPDX-License-Identifier: MIT */
/*
 * machine.c - carriers, the clock, futexes and the service thread in virtual time
 *
 * In place of libfiber/os/posix/clock.c, os/linux/futex.c, libfiber/base/tls.c, the service thread and
 * runtime/carriers/threads.
 */
#include "bench/model/machine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/tls.h"
#include "bench/model/costs.h"
#include "bench/model/engine.h"
#include "carriers.h"
#include "os/os.h"
#include "service/service.h"
#include "watch/tick.h"

#define LONGEST (60 * 1000 * 1000 * US)

uint64_t fib_model_seed = 1;

int64_t fib_model_now(void)
{
	return fib_cpu->now / NS;
}

void fib_model_compute(int64_t ns)
{
	fib_engine_pass(ns * NS);
}

/* Let time pass in a spin loop. That of a search is no waiting for a lock. */
static void spin(int64_t ps)
{
	if (!fib_cpu->search_began)
		fib_cpu->spun += ps;
	fib_engine_pass(ps);
}

void fib_model_relax(void)
{
	spin(COST_RELAX);
}

void fib_model_switch(void)
{
	if (fib_cpu)
		fib_engine_pass(COST_SWITCH);
}

static void call(void)
{
	fib_engine_pass(COST_CALL);
}

/* -- carriers -- */

void *fib_tls_carrier_call(void)
{
	return fib_cpu ? fib_cpu->carrier : NULL;
}

ptrdiff_t fib_tls_carrier_offset(const void *thread_pointer)
{
	(void)thread_pointer;
	return 0;
}

void fib_tls_set_carrier(void *carrier)
{
	fib_cpu->carrier = carrier;
}

/* Nothing is a signal handler here. */
void fib_tls_enter_thread(void)
{
}

void fib_tls_leave_thread(void)
{
}

bool fib_tls_defer(void (*later)(void))
{
	(void)later;
	return false;
}

static void run_carrier(void *c)
{
	fib_carrier_main(c);
}

int fib_carrier_start(struct fib_carrier *c)
{
	c->rand ^= fib_model_seed * UINT64_C(0xd1342543de82ef95);
	fib_engine_start(run_carrier, c);
	return 0;
}

/* A run ends with the process while its carriers wait. */
void fib_carrier_join(struct fib_carrier *c)
{
	(void)c;
}

/* -- clocks -- */

int64_t fib_os_now(void)
{
	fib_engine_pass(COST_CLOCK);
	return fib_cpu->now / NS;
}

int64_t fib_os_wall(void)
{
	return fib_os_now();
}

int64_t fib_os_thread_cpu(void)
{
	call();
	return (fib_cpu->now - fib_cpu->slept) / NS;
}

int64_t fib_os_process_cpu(void)
{
	return fib_os_thread_cpu();
}

/* Works read this clock. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret)
{
	const int64_t now = clock == CLOCK_PROCESS_CPUTIME_ID ? fib_os_process_cpu() : fib_os_now();

	ret->tv_sec = now / 1000000000;
	ret->tv_nsec = now % 1000000000;
	return 0;
}

/* -- futexes -- */

/* ns to ps, without overflow */
static int64_t time_of(int64_t deadline)
{
	return deadline > INT64_MAX / NS ? INT64_MAX : deadline * NS;
}

int fib_os_futex_wait(_Atomic uint32_t *word, uint32_t expected, int64_t deadline)
{
	call();
	fib_engine_sync();
	if (fib_load(word) != expected)
		return -EAGAIN;
	return fib_engine_block(word, time_of(deadline)) ? 0 : -ETIMEDOUT;
}

void fib_os_futex_wake(_Atomic uint32_t *word, int count)
{
	if (fib_engine_wake(word, (unsigned)count))
		fib_engine_pass(COST_WAKE);
	else
		call();
}

/* A carrier has a CPU to itself. */
uint32_t __wrap_fib_os_cpu(void);
uint32_t __wrap_fib_os_cpu(void)
{
	fib_engine_pass(COST_CLOCK);
	return fib_cpu->index;
}

unsigned __wrap_fib_os_cpus(void);
unsigned __wrap_fib_os_cpus(void)
{
	return FIB_CARRIERS_MAX;
}

void __wrap_fib_os_yield(void);
void __wrap_fib_os_yield(void)
{
	spin(COST_YIELD);
}

/* -- the service thread: only its clock -- */

static void run_service(void *arg)
{
	const int64_t began = fib_cpu->now;

	(void)arg;
	for (;;) {
		const int64_t pause = fib_tick(fib_cpu->now / NS);

		if (fib_cpu->now - began > LONGEST) {
			fprintf(stderr, "model: the work does not end in a minute of its time\n");
			exit(2);
		}

		fib_engine_block(&fib_model_seed,
				 fib_cpu->now + (pause ? pause : FIB_TICK) * NS - COST_WAKING);
	}
}

int fib_service_enter(const char *path, const char *name)
{
	(void)path;
	(void)name;
	fib_engine_start(run_service, NULL);
	return 0;
}

void fib_service_leave(void)
{
}
