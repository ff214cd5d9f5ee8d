/* SPDX-License-Identifier: MIT */
/*
 * spawn.c - create a fiber
 *
 * A fiber needs a record, the promise of a stack, and a place in a queue. Everything that can fail
 * comes before the fiber gets its id, so a failed spawn leaves nothing that another thread could
 * have seen. The fiber gets its stack and its context when it starts (switch.c), which cannot fail
 * any more.
 */
#include "choice.h"
#include "fault.h"
#include "order.h"
#include "life/spawn.h"

#include <errno.h>
#include <string.h>

#include "core/locals.h"
#include "core/names.h"
#include "core/registry.h"
#include "life/background.h"
#include "life/discard.h"
#include "life/join.h"
#include "life/live_count.h"
#include "life/own_thread.h"
#include "os/own_tls.h"
#include "os/os.h"
#include "probe.h"
#include "sched/own_tls.h"

#define FLAGS_KNOWN                                                                    \
	(FIBER_DETACHED | FIBER_BOUND | FIBER_BACKGROUND | FIBER_IDLE | FIBER_UNWIND | \
	 FIBER_MIGRATES | FIBER_OWN_TLS)

static struct fiber *self(void)
{
	struct fib_carrier *c = fib_carrier_self();

	return c ? c->current : NULL;
}

/*
 * The fields of the struct's first version; fields that an older program does not have count as 0.
 */
#define ATTR_LEAST offsetof(struct fiber_attr, guard_size)
#define ATTR_HAS(attr, field) \
	((attr)->size >= offsetof(struct fiber_attr, field) + sizeof(attr)->field)

static inline size_t guard_wanted(const struct fiber_attr *attr)
{
	return ATTR_HAS(attr, guard_size) ? attr->guard_size : 0;
}

static int check_attr(const struct fiber_attr *attr)
{
	const unsigned char *bytes = (const unsigned char *)attr;
	size_t i;

	if (attr->size < ATTR_LEAST || attr->size > 4096)
		return -EINVAL;
	/* A newer program may have fields unknown here, as long as they are 0. */
	for (i = sizeof *attr; i < attr->size; i++)
		if (bytes[i])
			return -EINVAL;
	if (attr->flags & ~(unsigned)FLAGS_KNOWN)
		return -EINVAL;
	if ((attr->flags & FIBER_BOUND) && (attr->flags & FIBER_MIGRATES))
		return -EINVAL;
	if (attr->nlocals && !attr->locals)
		return -EINVAL;
	/* There is no room for a guard below the caller's memory. */
	if (attr->stack && guard_wanted(attr))
		return -EINVAL;
	return 0;
}

void fib_fiber_main(void *arg)
{
	struct fiber *fiber = arg;

	fib_context_begun(&fiber->announce);
	fib_order_begin(fiber);
	if (fib_unlikely(fiber->flags & FIBER_OWN_TLS))
		fiber->result.value = fib_own_thread_run(fiber->fn, fiber->arg);
	else
		fiber->result.value = fiber->fn(fiber->arg);
	fib_choice_exit(fiber->fn);
	fib_fiber_end(fiber);
}

/*
 * A fiber starts on the caller's memory directly. From the pool it gets a promise, and starts later
 * on whichever stack is warm.
 */
static int provide_stack(struct fib_carrier *c, const struct fiber_attr *attr,
			 const struct fib_sched *s, struct fiber *fiber)
{
	size_t size = s ? s->stack_size : FIB_STACK_DEFAULT, guard = s ? s->guard_size : 0;
	unsigned class;
	int rc;

	if (attr && attr->stack) {
		rc = fib_stack_foreign(attr->stack, attr->stack_size, &fiber->stack);
		return rc < 0 ? rc : fib_start_on(fiber, &fiber->stack, fib_fiber_main);
	}
	if (attr && attr->stack_size)
		size = attr->stack_size;
	if (attr && guard_wanted(attr))
		guard = guard_wanted(attr);
	fiber->stack.low = NULL;
	rc = fib_stack_class(size, guard, &class, &fiber->stack.size);
	if (rc == 0)
		rc = fib_stack_promise(c ? &c->stacks : NULL, class);
	fiber->stack.class = (uint16_t) class;
	return rc;
}

/*
 * Reset a record to its unused state, except for the parker's ticket, which only counts up. Fields
 * that an exit leaves empty are not written: they are in cache lines that are otherwise not
 * touched. life, state, born: what it begins with; a store less for each.
 */
static fib_always_inline void clear(struct fiber *fiber, uint32_t life, enum fiber_state state,
				    bool born)
{
	const int64_t now = fib_coarse_now();

	/*
	 * label: record.owner -- the last owner's id is cleared before the record's seq is 0 again.
	 */
	fib_store_release(&fiber->seq, 0);
	/* pairs: record.seq -- both are stored before anything else changes. */
	fib_fence_release();
	fiber->context.sp = 0;
	fib_store(&fiber->since, now);
	fib_store(&fiber->state, (uint8_t)state);
	fib_store(&fiber->wait_kind, FIB_WAIT_NONE);
	fib_store(&fiber->token, 0);
	if (fib_unlikely(fib_load(&fiber->cancelled))) {
		fib_store(&fiber->cancelled, 0);
		fib_store(&fiber->asked, 0);
	}
	fiber->flags = 0;
	fiber->carrier = 0;
	fiber->pins = 0;
	fiber->cpu = 0;
	fiber->runnable = 0;
	fib_store(&fiber->waited, 0);
	fiber->born = born ? now : 0;
	fiber->timers = NULL;
	if (fib_unlikely(fiber->result.error))
		fiber->failure[0] = 0;
	if (fib_unlikely(fib_load(&fiber->life) & FIB_LIFE_NAMED))
		fiber->name[0] = 0;
	fib_store(&fiber->life, life);
	fiber->result = (struct fiber_result){NULL, 0};
}

/* parent: the fiber that makes it, or NULL. */
static inline void describe(struct fiber *fiber, const struct fiber *parent, fiber_fn *fn,
			    void *arg, const void *pc)
{
	fiber->fn = fn;
	fiber->arg = arg;
	fiber->spawn_pc = (uint64_t)(uintptr_t)pc;
	fiber->parent = parent ? parent->id : 0;
	fiber->parker.fiber = fiber;
}

static int provide_tls(const struct fiber_attr *attr, struct fiber *fiber)
{
	const char *why;
	int rc;

	if (!attr || !(attr->flags & FIBER_OWN_TLS))
		return 0;
	rc = fib_own_tls_check(&why);
	return rc == 0 ? fib_os_own_tls_take(&fiber->tls) : rc;
}

static fib_noinline void apply(const struct fiber_attr *attr, struct fiber *fiber)
{
	fiber->flags = (uint8_t)attr->flags;
	if (attr->name) {
		fib_name_copy(fiber->name, sizeof fiber->name, attr->name);
		fib_or(&fiber->life, FIB_LIFE_NAMED);
	}
	if (attr->flags & FIBER_DETACHED)
		fib_or(&fiber->life, FIB_LIFE_DETACHED);
}

int fib_make(const struct fiber_attr *attr, const struct fib_sched *s, fiber_fn *fn, void *arg,
	     const void *pc, struct fiber **ret)
{
	struct fib_carrier *c = fib_carrier_self();
	struct fiber *fiber;
	int rc = attr ? check_attr(attr) : 0;

	if (rc == 0 && !fn)
		rc = -EINVAL;
	if (rc == 0 && !c) { /* a thread that runs fibers has a registry, and the time */
		rc = fib_registry_init();
		fib_coarse_set(fib_os_now());
	}
	if (rc < 0)
		return rc;
	rc = fib_record_take(fib_records_of(c), &fiber);
	if (rc < 0)
		return rc;
	clear(fiber, 0, FIBER_CREATED, false);
	fib_context_inherit(&fiber->context);
	rc = provide_stack(c, attr, s, fiber);
	if (rc == 0 && attr && attr->nlocals) {
		rc = fib_locals_preset(attr->locals, attr->nlocals, &fiber->locals);
		if (rc < 0)
			fib_withdraw_stack(c, fiber);
	}
	if (rc == 0) {
		rc = provide_tls(attr, fiber);
		if (rc < 0)
			fib_withdraw_stack(c, fiber);
	}
	if (rc < 0) {
		fib_drop_locals(fiber);
		fiber->arg = NULL; /* see runtime/gc_roots.c */
		fib_record_give(fib_records_of(c), fiber);
		return rc;
	}
	describe(fiber, c ? c->current : NULL, fn, arg, pc);
	fiber->sched = NULL;
	if (attr)
		apply(attr, fiber);
	fib_record_name(fib_records_of(c), fiber);
	*ret = fiber;
	return 0;
}

/* What is on while events are recorded, or a collector has hooks. */
#define SLOW_SPAWN (FIB_SLOW_RECORDS | FIB_SLOW_HOOKS)

static fib_noinline void spawn_slowly(struct fib_carrier *c, struct fiber *fiber)
{
	if (fib_records(c))
		fib_recorder_spawned(c->sched, fiber);
	fib_hooks_created(fiber);
}

/* Start a counted fiber, which no other thread can submit. */
static fib_always_inline void start(struct fib_sched *s, struct fiber *fiber)
{
	fiber->sched = s;
	if (s->shared_fpu)
		fib_context_share(&fiber->context);
	if (fiber->flags & FIBER_OWN_TLS)
		fib_own_tls_enable(s);
	else if (s->binds && !(fiber->flags & FIBER_MIGRATES))
		fiber->flags |= FIBER_BOUND;
	/* Bound fibers are spread over the carriers by their number. */
	if (fiber->flags & FIBER_BOUND)
		fiber->carrier = (uint16_t)(fiber->id % s->regular);
	if (fiber->flags & FIBER_BACKGROUND)
		fib_background_enter(s, fiber);
	fib_order_spawn(fiber);
	fib_bear(fiber, fib_coarse_now());
	fib_probe3(spawn, fiber->id, fiber->parent, fiber->fn);
	if (fib_unlikely(fib_load(&s->recording) != NULL))
		fib_recorder_spawned(s, fiber);
	fib_hooks_created(fiber);
	fib_ready_new(fiber);
}

int fib_submit(struct fib_sched *s, struct fiber *fiber)
{
	const unsigned flags = fiber->flags;
	int rc = fib_live_enter(s, flags);

	if (rc < 0)
		return rc;
	if (fib_or(&fiber->life, FIB_LIFE_SUBMITTED) & FIB_LIFE_SUBMITTED) {
		fib_live_withdraw(s, flags);
		return -EINVAL;
	}
	if (!fib_carrier_self()) /* the coarse clock may be stopped */
		fib_coarse_set(fib_os_now());
	start(s, fiber);
	return 0;
}

int fiber_create(const struct fiber_attr *attr, fiber_fn *fn, void *arg, struct fiber **ret)
{
	struct fiber *me = self(), *fiber;
	int rc = fib_fault(SPAWN);

	if (rc == 0)
		rc = fib_make(attr, me ? me->sched : NULL, fn, arg, __builtin_return_address(0),
			      &fiber);
	if (rc < 0)
		return rc;
	if (!ret)
		fib_unmake(fiber);
	else
		*ret = fiber;
	return 0;
}

int fib_spawn(struct fib_sched *s, const struct fiber_attr *attr, fiber_fn *fn, void *arg,
	      const void *pc, struct fiber **ret)
{
	unsigned flags = attr && attr->size >= ATTR_LEAST ? attr->flags : 0;
	struct fiber *fiber;
	int rc = fib_live_enter(s, flags);

	if (rc < 0)
		return rc;
	rc = fib_make(attr, s, fn, arg, pc, &fiber);
	if (rc < 0) {
		fib_live_withdraw(s, flags);
		return rc;
	}
	/* No other thread knows the fiber yet. */
	fib_store(&fiber->life,
		  fib_load(&fiber->life) | FIB_LIFE_SUBMITTED | (ret ? 0 : FIB_LIFE_DETACHED));
	if (ret)
		*ret = fiber; /* before it runs: it may read its own handle */
	start(s, fiber);
	return 0;
}

/*
 * The common case: a fiber with default attributes, from the carrier's caches, which are filled if
 * need be. NULL: use the general path.
 */
static inline struct fiber *spawn_at_hand(struct fib_carrier *c, fiber_fn *fn, void *arg,
					  const void *pc, uint32_t life, struct fiber **ret)
{
	struct fib_sched *const s = c->sched;
	struct fiber *const me = c->current, *fiber;

	if (!fn || (me->flags & FIBER_BACKGROUND) || s->binds)
		return NULL;
	/* An error is met again, and returned, by the general path. */
	if (fib_unlikely(!c->records.first) && fib_record_fill(&c->records) < 0)
		return NULL;
	if (!fib_stack_promise_cached(&c->stacks, s->stack_class) &&
	    fib_stack_promise(&c->stacks, s->stack_class) < 0)
		return NULL;
	fiber = fib_record_pop(&c->records);
	clear(fiber, life, FIBER_RUNNABLE, true);
	if (s->shared_fpu)
		fib_context_share(&fiber->context);
	else
		fib_context_inherit(&fiber->context);
	fiber->stack = (struct fib_stack){NULL, s->stack_size, 0, (uint16_t)s->stack_class, 0};
	describe(fiber, me, fn, arg, pc);
	fiber->sched = s;
	fib_record_name(&c->records, fiber);
	fib_live_raise(&c->spawned);
	if (ret)
		*ret = fiber;
	fib_probe3(spawn, fiber->id, fiber->parent, fiber->fn);
	if (fib_unlikely(fib_load(&c->slow_switch) & SLOW_SPAWN))
		spawn_slowly(c, fiber);
	fib_order_spawn(fiber);
	fib_put_new(s, c, fiber);
	return fiber;
}

int fiber_spawn(fiber_fn *fn, void *arg, struct fiber **ret)
{
	const void *pc = __builtin_return_address(0);
	const uint32_t life = FIB_LIFE_SUBMITTED | FIB_LIFE_LOCAL | (ret ? 0 : FIB_LIFE_DETACHED);
	struct fib_carrier *c = fib_carrier_self();
	int rc;

	fib_choice(NULL);
	if (!c || !c->current)
		return -EPERM;
	rc = fib_fault(SPAWN);
	if (rc < 0)
		return rc;
	return spawn_at_hand(c, fn, arg, pc, life, ret)
		       ? 0
		       : fib_spawn(c->sched, NULL, fn, arg, pc, ret);
}

int fiber_spawn_attr(const struct fiber_attr *attr, fiber_fn *fn, void *arg, struct fiber **ret)
{
	struct fiber *me = self();
	int rc;

	fib_choice(NULL);
	rc = fib_fault(SPAWN);
	if (rc < 0)
		return rc;
	return me ? fib_spawn(me->sched, attr, fn, arg, __builtin_return_address(0), ret) : -EPERM;
}
