/* SPDX-License-Identifier: MIT */
/* run.c - fiber_run() and fiber_run_many(): start, run, finish */
#include "choice.h"
#include <errno.h>
#include <stdlib.h>

#include <fiber/fiber.h>
#include <fiber/runtime.h>
#include <fiber/time.h>

#include "base/check.h"
#include "carriers.h"
#include "life/discard.h"
#include "life/spawn.h"
#include "runtime/runtime.h"

/* Make all fibers, or none. */
static int make_all(fiber_fn *const fns[], void *const args[], size_t n, const struct fib_sched *s,
		    const void *pc, struct fiber **fibers)
{
	size_t i;
	int rc;

	for (i = 0; i < n; i++) {
		rc = fib_make(NULL, s, fns[i], args ? args[i] : NULL, pc, &fibers[i]);
		if (rc < 0) {
			while (i--)
				fib_unmake(fibers[i]);
			return rc;
		}
	}
	return 0;
}

static int run_all(fiber_fn *const fns[], void *const args[], size_t n,
		   const struct fiber_runtime_options *options, const void *pc,
		   struct fiber **fibers, struct fiber_result *results)
{
	struct fiber_runtime *rt;
	size_t i;
	int rc = fiber_runtime_start(options, &rt);

	if (rc < 0)
		return rc;
	rc = make_all(fns, args, n, &rt->sched, pc, fibers);
	/* No fiber has run yet, so the runtime cannot have been closed. */
	for (i = 0; rc == 0 && i < n; i++)
		fib_check(fiber_submit(rt, fibers[i]) == 0);
	for (i = 0; rc == 0 && i < n; i++)
		fib_check(fiber_join(fibers[i], results ? &results[i] : NULL, FIBER_FOREVER) == 0);
	fib_check(fiber_runtime_finish(rt, FIBER_FOREVER) == 0);
	return rc;
}

static int run(fiber_fn *const fns[], void *const args[], size_t n,
	       const struct fiber_runtime_options *options, const void *pc,
	       struct fiber_result *results)
{
	struct fiber **fibers;
	int rc;

	if (!fib_may_run_runtime())
		return -EPERM;
	fibers = calloc(n ? n : 1, sizeof *fibers);
	if (!fibers)
		return -ENOMEM;
	rc = run_all(fns, args, n, options, pc, fibers, results);
	free(fibers);
	return rc;
}

int fiber_run_many(fiber_fn *const fns[], void *const args[], size_t n,
		   const struct fiber_runtime_options *options, struct fiber_result ret_results[])
{
	fib_choice_within();
	return run(fns, args, n, options, __builtin_return_address(0), ret_results);
}

int fiber_run(fiber_fn *fn, void *arg, const struct fiber_runtime_options *options,
	      struct fiber_result *ret)
{
	fib_choice_within();
	return run(&fn, &arg, 1, options, __builtin_return_address(0), ret);
}
