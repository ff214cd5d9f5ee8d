/* SPDX-License-Identifier: MIT */
/*
 * longrun.c - find fibers that hold their carrier for too long
 *
 * The carriers count nothing for this. The service thread looks at each carrier at every tick. A
 * record's sequence number moves at every switch, so a fiber seen twice with the same odd number
 * has held its carrier in between. (A fiber that yields while no other is runnable does not switch,
 * but counts down `picks`.) The time starts at the look that saw the fiber first, not at the
 * record's own time: the coarse clock stands still while the service thread gets no CPU, and that
 * would look like a long run.
 *
 * A long run is recorded once, with what the fiber does and its stack. If the fiber sleeps in a
 * system call, the kernel says where its stack is (os/sample.h), and the stack does not change
 * meanwhile. If the fiber computes, a signal interrupts it, and its carrier copies the stack
 * (longrun_sample.c). A fiber that neither sleeps nor gets a CPU is not recorded: the machine is
 * the cause.
 *
 * A line is printed only about a run that delays other fibers (longrun_report.c): past the
 * threshold, some looks in succession found a fiber that no carrier runs, a deadline that has passed, or descriptors
 * that no carrier looks at.
 *
 * All of this belongs to the service thread; the lock of the list of schedulers excludes callers
 * from other threads.
 */
#include "watch/longrun.h"

#include <errno.h>
#include <string.h>

#include "core/registry.h"
#include "os/os.h"
#include "os/sample.h"
#include "os/threads.h"
#include "sched/running.h"
#include "sched/sched.h"
#include "watch/longrun_report.h"
#include "watch/longrun_ring.h"
#include "watch/longrun_sample.h"

#define PATIENCE    INT64_C(2000000000) /* ns that a carrier may take to answer the signal */
#define CLOSE_LOOKS INT64_C(6000000)	/* ns between two looks that count as close */
#define STOPPED	    INT64_C(1000000000) /* ns between two looks: the whole process was stopped */
#define UNREAD	    INT64_MIN		/* CPU time not read yet */
#define DELAYS	    3 /* looks in succession that see other fibers wait: it is no moment */
#define CPU_PART    8 /* at least one ns in so many must be on a CPU to count as computing */

enum { SEEN, ASKED, RECORDED };

static struct {
	int64_t before, now; /* the previous look, and this one */
} looks;

static fib_longrun_pipe_fn *_Atomic through; /* A: set by the service thread's start */

void fib_longrun_set_pipe(fib_longrun_pipe_fn *pipe)
{
	fib_store(&through, pipe);
}

struct fib_os_pipe *fib_longrun_pipe(void)
{
	static struct fib_os_pipe none = FIB_OS_NO_PIPE;
	fib_longrun_pipe_fn *const pipe = fib_load(&through);

	return pipe ? pipe() : &none;
}

/* A snapshot of a running fiber: only the numbers are sure to belong together. */
struct glimpse {
	uint64_t fiber, seq;
	unsigned picks;
	int64_t since;
	uint8_t wait_kind;
	bool pinned;
	uint64_t object, arg;
	uint64_t stack_low, stack_room;
	uint64_t entry;
	char name[32];
};

/*
 * Half of the mapping of samples: whole pages, with one sample for each carrier. The second half is
 * for profiles; its pages go back to the system after each (fib_longrun_discard_profiles()).
 */
static size_t samples_size(const struct fib_sched *s)
{
	const size_t page = fib_os_page_size();

	return (s->carrier_count * sizeof *s->carriers->sample + page - 1) / page * page;
}

int fib_longrun_init(struct fib_sched *s)
{
	const size_t half = samples_size(s);
	void *samples = NULL;
	unsigned i;
	int rc = fib_longrun_ring_map();

	if (rc == 0)
		rc = fib_os_map_stacks(2 * half, &samples);
	if (rc < 0)
		return rc;
	for (i = 0; i < s->carrier_count; i++) {
		struct fib_carrier *c = &s->carriers[i];

		c->sample = (struct fib_longrun_sample *)samples + i;
		c->profile.sample = (struct fib_longrun_sample *)((char *)samples + half) + i;
	}
	s->interruptible = fib_os_may_interrupt();
	return 0;
}

void fib_longrun_release(struct fib_sched *s)
{
	unsigned i;

	for (i = 0; i < s->carrier_count; i++)
		fib_os_kept_close(&s->carriers[i].place);
	if (s->carrier_count && s->carriers->sample)
		fib_os_unmap(s->carriers->sample, 2 * samples_size(s));
}

void fib_longrun_discard_profiles(struct fib_sched *s)
{
	fib_os_discard(s->carriers->profile.sample, samples_size(s));
}

void fib_longrun_set(struct fib_sched *s, int64_t ns)
{
	fib_store(&s->long_run, ns < 0 ? 0 : ns);
}

int64_t fib_longrun_threshold(struct fib_sched *s)
{
	return fib_load(&s->long_run);
}

/* Reads what the carrier and its fiber change at any time; both stay mapped. */
fib_unwatched static bool glance(struct fib_carrier *c, struct glimpse *ret)
{
	struct fiber *const f = fib_running_on(c);
	const volatile char *name;
	size_t i;

	if (!f)
		return false;
	ret->fiber = fib_observe(&f->id);
	ret->seq = fib_load_acquire(&f->seq);
	ret->picks = *(volatile unsigned *)&c->picks;
	ret->since = fib_load(&f->since);
	ret->wait_kind = fib_load(&f->wait_kind);
	ret->pinned = *(volatile uint16_t *)&f->pins > 0;
	ret->object = *(volatile uint64_t *)&f->wait_object;
	ret->arg = *(volatile uint64_t *)&f->wait_arg;
	ret->stack_low = (uint64_t)(uintptr_t) * (void *volatile *)&f->stack.low;
	ret->stack_room = *(volatile size_t *)&f->stack.size;
	ret->entry = (uint64_t)(uintptr_t) * (fiber_fn *volatile *)&f->fn;
	name = f->name;
	for (i = 0; i < sizeof ret->name - 1; i++)
		ret->name[i] = name[i];
	ret->name[i] = 0;
	return ret->fiber && (ret->seq & 1);
}

static bool same(const struct fib_longrun_hold *h, const struct glimpse *g)
{
	return h->fiber == g->fiber && h->seq == g->seq && h->picks == g->picks;
}

/* -- recording -- */

/* Add an event about c's hold, without a stack. */
static struct fib_longrun_event *record(struct fib_carrier *c, const struct glimpse *g,
					enum fib_longrun_doing doing, enum fib_longrun_lack lack)
{
	struct fib_longrun_hold *h = &c->hold;
	struct fib_longrun_event *e = fib_longrun_ring_add();

	e->fiber = h->fiber;
	e->began = h->began;
	e->duration = h->last - h->began;
	e->doing = doing;
	e->lack = lack;
	e->carrier = c->index;
	e->lasts = 1;
	e->stack_low = g->stack_low;
	e->stack_room = g->stack_room;
	e->entry = g->entry;
	memcpy(e->name, g->name, sizeof e->name);
	if (doing == FIB_LONGRUN_WAITS) {
		e->wait_kind = g->wait_kind;
		e->object = g->object;
		e->arg = g->arg;
	}
	h->event = e->number;
	h->stage = RECORDED;
	fib_recorder_slow(c->sched, e->fiber, c->index, e->duration);
	return e;
}

/* Copy the stack of a fiber that sleeps. */
static void copy_sleeper(struct fib_longrun_event *e, const struct fib_sleeper_place *place)
{
	uint64_t size = e->stack_low + e->stack_room - place->sp;

	e->context.sp = place->sp;
	e->context.pc = place->pc;
	e->lack = FIB_LONGRUN_MEMORY;
	e->stack_size = fib_longrun_copy(fib_longrun_pipe(), place->sp,
					 size <= e->stack_room ? size : 0, e->stack);
	if (e->stack_size)
		e->lack = FIB_LONGRUN_NOTHING;
}

static void record_sleeper(struct fib_carrier *c, const struct glimpse *g,
			   const struct fib_sleeper_place *place)
{
	const bool waits = g->pinned && g->wait_kind != FIB_WAIT_NONE;
	struct fib_longrun_event *e = record(c, g,
					     waits	       ? FIB_LONGRUN_WAITS
					     : place->call < 0 ? FIB_LONGRUN_FAULTS
							       : FIB_LONGRUN_CALLS,
					     FIB_LONGRUN_MISSED);
	struct fib_sleeper_place after = {0};
	struct glimpse now;

	e->call = place->call;
	if (fib_arch_recipe == FIB_RECIPE_NONE) {
		e->lack = FIB_LONGRUN_PORT;
		return;
	}
	copy_sleeper(e, place);
	if (glance(c, &now) && same(&c->hold, &now) &&
	    fib_os_thread_place_of(&c->place, fib_load(&c->tid), &after) == 1 &&
	    after.call == place->call && after.sp == place->sp && after.pc == place->pc)
		return;
	/* It has woken meanwhile: these bytes may be of two moments. */
	e->lack = FIB_LONGRUN_MISSED;
	e->stack_size = 0;
}

/* Record what the carrier has copied. */
static void record_sample(struct fib_carrier *c, const struct glimpse *g,
			  const struct fib_longrun_sample *sample)
{
	struct fib_longrun_event *e = record(c, g, FIB_LONGRUN_COMPUTES, sample->lack);

	e->context = sample->context;
	e->stack_size = sample->stack_size;
	memcpy(e->stack, sample->stack, sample->stack_size);
}

/* -- looking -- */

/* The fiber is not in a system call: have its carrier copy the stack. */
static void ask(struct fib_carrier *c, const struct glimpse *g, int64_t now)
{
	struct fib_longrun_hold *h = &c->hold;
	const int64_t threshold = fib_load(&c->sched->long_run);
	int64_t used = fib_os_thread_cpu_of(fib_load(&c->tid));
	int rc;

	if (used >= 0 && h->used >= 0 && used - h->used < threshold / CPU_PART)
		return;
	rc = fib_arch_recipe == FIB_RECIPE_NONE ? -ENOSYS
	     : !fib_load(&c->interruptible)
		     ? -EBUSY
		     : fib_longrun_sample_ask(c, c->sample, h->fiber, h->seq);
	if (rc < 0 && rc != -EAGAIN)
		record(c, g, FIB_LONGRUN_COMPUTES,
		       rc == -ENOSYS ? FIB_LONGRUN_PORT : FIB_LONGRUN_SIGNAL);
	if (rc < 0)
		return;
	h->asked_at = now;
	h->stage = ASKED;
}

/* The fiber has held its carrier for longer than the threshold. */
static void look_closer(struct fib_carrier *c, const struct glimpse *g, int64_t now)
{
	struct fib_sleeper_place place;
	struct glimpse after;

	if (fib_os_thread_place_of(&c->place, fib_load(&c->tid), &place) != 1)
		ask(c, g, now);
	/* Else the fiber has left meanwhile, and the carrier sleeps in the poller. */
	else if (glance(c, &after) && same(&c->hold, &after))
		record_sleeper(c, g, &place);
}

/* Get a requested sample, if it is there. gone: the fiber has left the carrier. */
static void collect(struct fib_carrier *c, const struct glimpse *g, int64_t now, bool gone)
{
	const struct fib_longrun_sample *sample = fib_longrun_sample_get(c);
	enum fib_longrun_lack lack = gone ? FIB_LONGRUN_MISSED : FIB_LONGRUN_SIGNAL;

	if (sample) {
		record_sample(c, g, sample);
		fib_longrun_sample_done(c->sample);
	} else if (gone || now - c->hold.asked_at > PATIENCE) {
		/* If the handler is running just now, its sample will be ignored. */
		fib_longrun_sample_cancel(c->sample);
		record(c, g, FIB_LONGRUN_COMPUTES, lack);
	}
}

/* Clamp a reported time to a range. */
static int64_t between(int64_t low, int64_t said, int64_t high)
{
	return said < low ? low : said > high ? high : said;
}

/* Have a line printed about c's hold, once, if it is recorded and has delayed other fibers. */
static void tell(struct fib_carrier *c, int64_t now, fib_longrun_pipe_fn *pipe)
{
	struct fib_longrun_hold *h = &c->hold;
	const struct fib_longrun_event *e;

	if (h->stage != RECORDED || h->behind < DELAYS || h->told)
		return;
	h->told = true;
	e = fib_longrun_ring_at(h->event);
	if (e)
		fib_longrun_report_add(e, now, pipe());
}

static void end_hold(struct fib_carrier *c, int64_t now, fib_longrun_pipe_fn *pipe)
{
	struct fib_longrun_hold *h = &c->hold;
	struct fib_longrun_event *e;
	struct glimpse gone = {.fiber = h->fiber};

	gone.entry = h->entry;
	memcpy(gone.name, h->name, sizeof gone.name);
	if (h->stage == ASKED)
		collect(c, &gone, now, true);
	if (h->stage == RECORDED) {
		e = fib_longrun_ring_at(h->event);
		if (e) {
			/* The end is between two looks; if these are close, take the middle. */
			e->duration = (now - h->last < CLOSE_LOOKS ? h->last + (now - h->last) / 2
								   : h->last) -
				      h->began;
			e->lasts = 0;
		}
		tell(c, now, pipe);
	}
	h->fiber = 0;
}

static void begin_hold(struct fib_carrier *c, const struct glimpse *g, int64_t now)
{
	struct fib_longrun_hold *h = &c->hold;

	memset(h, 0, sizeof *h);
	h->fiber = g->fiber;
	h->seq = g->seq;
	h->picks = g->picks;
	h->first = h->last = now;
	h->began = now - looks.before < CLOSE_LOOKS ? between(looks.before, g->since, now) : now;
	h->stage = SEEN;
	h->used = UNREAD;
	h->entry = g->entry;
	memcpy(h->name, g->name, sizeof h->name);
}

static void look_at(struct fib_carrier *c, int64_t threshold, int64_t now, bool behind)
{
	struct fib_longrun_hold *h = &c->hold;
	struct fib_longrun_event *e;
	struct glimpse g;
	/* pairs: longrun.enter -- a thread that sees tid sees the open file. */
	bool runs = fib_load_acquire(&c->tid) && glance(c, &g);

	if (h->fiber && (!runs || !same(h, &g)))
		end_hold(c, now, fib_longrun_pipe);
	if (!runs)
		return;
	if (!h->fiber)
		begin_hold(c, &g, now);
	h->last = now;
	/* A system call: only if there is a threshold. */
	if (threshold && h->used == UNREAD)
		h->used = fib_os_thread_cpu_of(fib_load(&c->tid));
	if (h->stage == ASKED)
		collect(c, &g, now, false);
	e = h->stage == RECORDED ? fib_longrun_ring_at(h->event) : NULL;
	if (e)
		e->duration = now - h->began;
	if (h->stage == SEEN && threshold && now - h->first >= threshold)
		look_closer(c, &g, now);
	/* Only c runs the fibers that are bound to it. */
	behind = behind || !fib_inbox_empty(&c->inbox);
	if (h->behind < DELAYS)
		h->behind = behind && threshold && now - h->first >= threshold ? h->behind + 1 : 0;
	tell(c, now, fib_longrun_pipe);
}

/*
 * The whole process was stopped: a fiber did not compute meanwhile, and a carrier could not answer.
 * Start both times again.
 */
static void go_on(struct fib_longrun_hold *h, int64_t now)
{
	if (h->stage == SEEN)
		h->first = h->began = now;
	else if (h->stage == ASKED)
		h->asked_at = now;
}

void fib_longrun_look(struct fib_sched *s, int64_t now, bool behind)
{
	const int64_t threshold = fib_load(&s->long_run);
	unsigned i;

	if (now != looks.now) {
		looks.before = looks.now;
		looks.now = now;
	}
	for (i = 0; i < s->carrier_count; i++) {
		struct fib_longrun_hold *h = &s->carriers[i].hold;

		if (now - looks.before > STOPPED && h->fiber)
			go_on(h, now);
		look_at(&s->carriers[i], threshold, now, behind);
	}
}

/* Any thread may finish a runtime, while the service thread uses its pipe. */
static struct fib_os_pipe *no_pipe(void)
{
	static struct fib_os_pipe none; /* T: under the lock of the list of schedulers */

	none = FIB_OS_NO_PIPE;
	return &none;
}

void fib_longrun_close(struct fib_sched *s)
{
	const int64_t now = fib_os_now();
	unsigned i;

	for (i = 0; i < s->carrier_count; i++)
		if (s->carriers[i].hold.fiber)
			end_hold(&s->carriers[i], now, no_pipe);
}

void fib_longrun_forget(void)
{
	fib_longrun_ring_clear();
	fib_longrun_report_clear();
	looks.before = looks.now = 0;
}
