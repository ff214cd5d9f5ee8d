/* SPDX-License-Identifier: MIT */
/*
 * profile.c - sample what the carriers compute, while a client asks for it
 *
 * A client holds a lease: each request renews it, and it expires when the client stops.
 * Without a lease a tick of the service thread costs one load, and there is no memory.
 *
 * With a lease the service thread looks at every carrier at times that are random around the period,
 * so that a program with the same period does not show one side only. A carrier that sleeps, or is
 * in a system call, does not compute and is left alone: it gets no signal. A carrier that runs a
 * fiber is interrupted and copies the fiber's stack (longrun_sample.c); the next tick collects it. A
 * carrier that runs without a fiber is counted without a stack.
 *
 * A sample stands for the CPU time that its carrier has used since its previous sample, as the
 * kernel has measured it. So the sum over all samples is the CPU time of the carriers, also if the
 * service thread is late, and a carrier that only waits for a CPU counts little. A carrier that has
 * used less than an eighth of a period since then gives no sample.
 *
 * All of this belongs to the service thread; the lock of the list of schedulers excludes callers
 * from other threads.
 */
#include "watch/profile.h"

#include <errno.h>
#include <string.h>

#include "os/os.h"
#include "os/sample.h"
#include "os/threads.h"
#include "sched/running.h"
#include "sched/sched.h"
#include "watch/longrun.h"
#include "watch/longrun_sample.h"
#include "wire/wire.h"

#define SECOND	     INT64_C(1000000000)
#define PATIENCE     (2 * SECOND) /* that a carrier may take to answer the signal */
#define CPU_PART     8		  /* see above */
#define CARRIER_ROOM (512u << 10) /* bytes of the ring for each carrier: 200 samples of 2.5 KiB */
#define ROOM_MAX     (32u << 20)

static struct {
	unsigned hz; /* 0: off */
	_Atomic int64_t
		until; /* A: the end of the lease; the service thread reads it without the lock */
	int64_t due;   /* when to look next */
	uint64_t rand;
	struct fib_profile_ring ring;
} profile;

static int64_t period(void)
{
	return SECOND / profile.hz;
}

/* From half a period to one and a half. */
static int64_t pause(void)
{
	uint64_t r = profile.rand;

	r ^= r << 13;
	r ^= r >> 7;
	r ^= r << 17;
	profile.rand = r;
	return period() / 2 + (int64_t)(r % (uint64_t)period());
}

int fib_profile_renew(unsigned hz, unsigned carriers, int64_t now)
{
	const size_t room = (size_t)CARRIER_ROOM * carriers;
	int rc;

	if (!profile.hz) {
		rc = fib_profile_ring_open(&profile.ring, room < ROOM_MAX ? room : ROOM_MAX);
		if (rc < 0)
			return rc;
		profile.rand = (uint64_t)now | 1;
		profile.due = now;
	}
	if (hz > profile.hz)
		profile.hz = hz;
	fib_store(&profile.until, now + FIB_WIRE_PROFILE_LEASE);
	return 0;
}

unsigned fib_profile_hz(void)
{
	return profile.hz;
}

int64_t fib_profile_ends(void)
{
	const int64_t until = fib_load(&profile.until);

	return until ? until : INT64_MAX;
}

void fib_profile_end(void)
{
	profile.hz = 0;
	fib_store(&profile.until, 0);
	fib_profile_ring_close(&profile.ring);
}

uint64_t fib_profile_taken(void)
{
	return profile.ring.next;
}

uint64_t fib_profile_oldest(void)
{
	return profile.ring.first;
}

const struct fib_profile_sample *fib_profile_at(uint64_t number)
{
	return fib_profile_ring_at(&profile.ring, number);
}

bool fib_profile_due(int64_t now)
{
	if (!profile.hz)
		return false;
	if (now >= fib_load(&profile.until)) {
		fib_profile_end();
		return false;
	}
	if (now < profile.due)
		return false;
	profile.due += pause();
	/* This thread had no CPU: what was missed is in the samples' CPU time. */
	if (profile.due <= now)
		profile.due = now + pause();
	return true;
}

/* -- one carrier -- */

static void add(const struct fib_carrier *c, const struct fib_longrun_sample *of,
		enum fib_longrun_lack lack, int64_t cpu, int64_t now)
{
	struct fib_profile_sample sample = {
		.at = now,
		.cpu = cpu,
		.carrier = c->index,
		.lack = lack,
	};

	if (of) {
		sample.fiber = of->ran;
		sample.sp = of->context.sp;
		sample.fp = of->context.fp;
		sample.pc = of->context.pc;
		sample.stack_size = of->stack_size;
	}
	if (of && of->ran) {
		sample.entry = of->entry;
		sample.stack_all = of->stack_low + of->stack_room - of->context.sp;
		if (sample.stack_all > of->stack_room)
			sample.stack_all = of->stack_size;
		memcpy(sample.name, of->name, sizeof sample.name);
	}
	fib_profile_ring_add(&profile.ring, &sample, of ? of->stack : NULL);
}

/* Add the requested sample, if it is there. */
static void collect(struct fib_carrier *c, int64_t now)
{
	struct fib_profile_data *p = &c->profile;

	if (!p->asked_at)
		return;
	if (fib_longrun_sample_taken(p->sample)) {
		add(c, p->sample, p->sample->lack, p->pending, p->asked_at);
		fib_longrun_sample_done(p->sample);
		p->asked_at = 0;
	} else if (now - p->asked_at > PATIENCE && fib_longrun_sample_cancel(p->sample)) {
		add(c, NULL, FIB_LONGRUN_SIGNAL, p->pending, p->asked_at);
		p->asked_at = 0;
	}
}

/* Whether the carrier uses its CPU; *ret: since its previous sample, ns. */
static bool computes(struct fib_carrier *c, uint32_t tid, int64_t *ret)
{
	struct fib_sleeper_place place;
	int64_t cpu;
	bool polls;

	if (fib_idle_is_asleep(c, &polls) || fib_os_thread_place_of(&c->place, tid, &place) == 1)
		return false;
	cpu = fib_os_thread_cpu_of(tid);
	*ret = cpu < 0 ? period() : cpu - c->profile.cpu;
	if (*ret < period() / CPU_PART)
		return false;
	if (cpu >= 0)
		c->profile.cpu = cpu;
	return true;
}

static void sample(struct fib_carrier *c, int64_t now)
{
	/* pairs: longrun.enter -- a thread that sees tid sees the open file. */
	const uint32_t tid = fib_load_acquire(&c->tid);
	struct fib_profile_data *p = &c->profile;
	int64_t cpu = 0;
	int rc;

	if (!tid || p->asked_at || !computes(c, tid, &cpu))
		return;
	if (!fib_running_on(c)) {
		add(c, NULL, FIB_LONGRUN_NOTHING, cpu, now);
		return;
	}
	rc = fib_arch_recipe == FIB_RECIPE_NONE ? -ENOSYS
	     : !fib_load(&c->interruptible)	? -EBUSY
						: fib_longrun_sample_ask(c, p->sample, 0, 0);
	if (rc == 0) {
		p->asked_at = now;
		p->pending = cpu;
	} else {
		add(c, NULL, rc == -ENOSYS ? FIB_LONGRUN_PORT : FIB_LONGRUN_SIGNAL, cpu, now);
	}
}

/* -- one scheduler -- */

static void begin(struct fib_sched *s)
{
	unsigned i;

	for (i = 0; i < s->carrier_count; i++) {
		const int64_t cpu = fib_os_thread_cpu_of(fib_load(&s->carriers[i].tid));

		s->carriers[i].profile.cpu = cpu < 0 ? 0 : cpu;
	}
	s->profiled = true;
}

/* The lease has ended. A handler may still be writing: then the next look tries again. */
static void end(struct fib_sched *s)
{
	bool idle = true;
	unsigned i;

	for (i = 0; i < s->carrier_count; i++) {
		struct fib_profile_data *p = &s->carriers[i].profile;

		if (fib_longrun_sample_taken(p->sample))
			fib_longrun_sample_done(p->sample);
		fib_longrun_sample_cancel(p->sample);
		idle = idle && fib_longrun_sample_idle(p->sample);
		p->asked_at = 0;
	}
	if (!idle)
		return;
	fib_longrun_discard_profiles(s);
	s->profiled = false;
}

void fib_profile_look(struct fib_sched *s, int64_t now, bool due)
{
	unsigned i;

	if (!profile.hz && s->profiled)
		end(s);
	if (!profile.hz)
		return;
	if (!s->profiled)
		begin(s);
	for (i = 0; i < s->carrier_count; i++) {
		collect(&s->carriers[i], now);
		if (due)
			sample(&s->carriers[i], now);
	}
}
