/* SPDX-License-Identifier: MIT */
/*
 * runtime.c - start a runtime, submit fibers, finish it
 *
 * A runtime is finished when it has no fibers but background ones and has been closed (live_count.c):
 * after that nothing can be submitted. Then background fibers are made to exit, and no work can
 * arrive any more when the carriers stop.
 */
#include "choice.h"
#include "fault.h"
#include "runtime/runtime.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "base/check.h"
#include "base/log.h"
#include "carriers.h"
#include "core/registry.h"
#include "io/await.h"
#include "io/descriptor.h"
#include "io/op.h"
#include "life/background.h"
#include "life/live_count.h"
#include "life/spawn.h"
#include "os/needs.h"
#include "os/os.h"
#include "runtime/roots.h"
#include "runtime/sanitizer.h"
#include "service/service.h"
#include "sync/relock.h"
#include "watch/longrun.h"
#include "watch/tick.h"

/* Written by fiber_runtime_bind(), read by each start. */
static _Atomic uint32_t binds;

int fiber_runtime_bind(void)
{
	fib_store(&binds, 1);
	/* libfiber-posix calls this when it is loaded, and tells libfiber's own calls by it. */
	fib_registry_publish_code();
	return 0;
}

static void name_program(const char *name)
{
	/* The first runtime names the process for readers outside. Two threads may start the first
	 * one at once. */
	fib_registry_lock();
	if (fib_tick_carriers() == 0) {
		memset(fiber_registry.program, 0, sizeof fiber_registry.program);
		strncpy(fiber_registry.program, name, sizeof fiber_registry.program - 1);
	}
	fib_registry_unlock();
}

static inline void dispatch_one(const struct fib_poll_event *event)
{
	if (fib_unlikely(!event->events))
		fib_op_ended(event->token);
	else if (fib_unlikely(event->token == FIB_OP_RING))
		fib_op_reap();
	else
		fib_descriptor_ready(event->token, event->events);
}

/* Deliver the events of the poller to their waiters. */
static void dispatch(const struct fib_poll_event *events, int n)
{
	int i;

	fib_descriptor_prefetch(events, n);
	for (i = 0; i < n; i++)
		dispatch_one(&events[i]);
}

/* Report the call that a sandbox or the kernel refuses. Returns rc. */
static int refused(int rc, const char *call)
{
	fib_log("the runtime cannot start: the system refuses %s (%s); libfiber(7) lists the calls "
		"that it makes",
		call, strerror(-rc));
	return rc;
}

static int check_system(void)
{
	const char *call;
	const int rc = fib_os_needs(&call);

	return rc < 0 ? refused(rc, call) : 0;
}

/* What the first runtime of a process needs, and later ones find done. */
static int prepare(void)
{
	int rc = fib_fault(SPAWN);

	if (rc == 0)
		rc = check_system();
	if (rc == 0)
		rc = fib_registry_init();
	if (rc == 0) {
		fib_os_stay_loaded();
		rc = fib_fault_report();
	}
	return rc == 0 ? fib_roots_watch() : rc;
}

int fiber_runtime_start(const struct fiber_runtime_options *options, struct fiber_runtime **ret)
{
	struct fiber_runtime_options o;
	struct fiber_runtime *rt;
	int rc = fib_options_complete(options, &o);

	fib_must_have(ret, "ret");
	if (rc == 0)
		rc = prepare();
	if (rc < 0)
		return rc;
	fib_sanitizer_check();
	fib_fork_watch();
	fib_select_serve_fds(&fib_await_ops);
	rt = aligned_alloc(FIB_CACHE_LINE,
			   (sizeof *rt + FIB_CACHE_LINE - 1) & ~(size_t)(FIB_CACHE_LINE - 1));
	if (!rt)
		return -ENOMEM;
	name_program(o.name);
	o.carriers = fib_carriers_wanted(o.carriers);
	o.carriers_max = fib_carriers_wanted(o.carriers_max);
	rc = fib_sched_start(&rt->sched, &o, dispatch);
	if (rc < 0) {
		free(rt);
		/* All other calls that it needs were tried before. */
		return fib_os_is_refusal(rc) ? refused(rc, "clone3, to make a thread") : rc;
	}
	rt->sched.runtime = rt;
	rt->sched.held_policy = (uint8_t)o.held_policy;
	rt->sched.unwind = o.unwind;
	rt->sched.binds = fib_load(&binds);
	fib_relock_set(&rt->sched, o.relock_policy);
	fib_longrun_set(&rt->sched, o.long_run_ns);
	rc = fib_service_enter(o.control_path, o.name);
	if (rc == 0 && o.idle) {
		rc = fib_idle_lend(&rt->sched);
		if (rc < 0)
			fib_service_leave();
	}
	if (rc < 0) {
		fib_close(&rt->sched);
		fib_sched_stop(&rt->sched);
		free(rt);
		return rc;
	}
	*ret = rt;
	if (o.idle) {
		fib_registry_hooked();
		fib_idle_serve(&rt->sched, o.idle, o.idle_arg);
	}
	return 0;
}

int fiber_runtime_fd(struct fiber_runtime *rt)
{
	struct fib_poller *poller;

	if (!rt)
		rt = fiber_runtime_self();
	if (!rt)
		return -EPERM;
	poller = rt->sched.poller;
	return poller->ops->descriptor(poller);
}

int fiber_submit(struct fiber_runtime *rt, struct fiber *fiber)
{
	fib_choice(rt);
	fib_must_have(fiber, "the fiber");
	if (!rt)
		rt = fiber_runtime_self();
	return rt ? fib_submit(&rt->sched, fiber) : -EPERM;
}

int fiber_runtime_spawn(struct fiber_runtime *rt, const struct fiber_attr *attr, fiber_fn *fn,
			void *arg, struct fiber **ret)
{
	int rc;

	fib_choice(rt);
	fib_must_have(rt, "the runtime");
	rc = fib_fault(SPAWN);
	if (rc < 0)
		return rc;
	return fib_spawn(&rt->sched, attr, fn, arg, __builtin_return_address(0), ret);
}

bool fiber_runtime_done(struct fiber_runtime *rt)
{
	fib_must_have(rt, "the runtime");
	return fib_live_none(&rt->sched);
}

int fiber_runtime_finish(struct fiber_runtime *rt, int64_t deadline)
{
	struct fib_carrier *c = fib_carrier_self();
	struct fib_sched *s;
	int rc;

	fib_choice(rt);
	fib_must_have(rt, "the runtime");
	s = &rt->sched;
	if (c && c->sched == s)
		return -EPERM;
	/* It may also have been closed by an earlier call, whose deadline passed. */
	while (!fib_close(s) && !fib_closed(s)) {
		rc = fib_live_await(s, false, deadline);
		if (rc < 0)
			return rc;
	}
	fib_background_finish(s);
	rc = fib_live_await(s, true, deadline);
	if (rc == 0)
		rc = fib_op_finish(s, deadline);
	if (rc < 0)
		return rc;
	fib_service_leave();
	fib_sched_stop(s);
	fib_op_release(s);
	free(rt);
	return 0;
}

enum fiber_pinned_policy fiber_pinned_policy(struct fiber_runtime *rt)
{
	fib_must_have(rt, "the runtime");
	return (enum fiber_pinned_policy)fib_load(&rt->sched.pinned.policy);
}

int fiber_set_pinned_policy(struct fiber_runtime *rt, enum fiber_pinned_policy policy)
{
	fib_must_have(rt, "the runtime");
	if ((unsigned)policy > FIBER_PINNED_SILENT)
		return -EINVAL;
	fib_store(&rt->sched.pinned.policy, (uint32_t)policy);
	return 0;
}
