/* SPDX-License-Identifier: MIT */
/* options.c - check and complete a program's options; an older program's struct is shorter, a newer
 * one's longer */
#include <errno.h>
#include <string.h>

#include "os/os.h"
#include "runtime/runtime.h"
#include "watch/longrun.h"

static int check(const struct fiber_runtime_options *o)
{
	if (o->carriers > FIB_CARRIERS_MAX || o->carriers_max > FIB_CARRIERS_MAX ||
	    (o->carriers_max && o->carriers > o->carriers_max) || o->stack_size > FIB_STACK_MAX)
		return -EINVAL;
	if (o->guard_size > FIB_GUARD_MAX || o->trim_waiting_ns < 0)
		return -EINVAL;
	if ((unsigned)o->pinned_policy > FIBER_PINNED_SILENT)
		return -EINVAL;
	if ((unsigned)o->relock_policy > FIBER_RELOCK_WAIT ||
	    (unsigned)o->held_policy > FIBER_HELD_SILENT)
		return -EINVAL;
	return 0;
}

static void complete_carriers(struct fiber_runtime_options *o)
{
	const unsigned most = o->carriers_max ? o->carriers_max : FIB_CARRIERS_MAX;

	if (!o->carriers) {
		o->carriers = fib_os_cpus();
		if (o->carriers > most)
			o->carriers = most;
	}
	if (!o->carriers_max)
		o->carriers_max = o->carriers;
}

int fib_options_complete(const struct fiber_runtime_options *options,
			 struct fiber_runtime_options *ret)
{
	size_t i, known = sizeof *ret;
	int rc;

	memset(ret, 0, sizeof *ret);
	if (options) {
		if (options->size < offsetof(struct fiber_runtime_options, carriers) ||
		    options->size > 4096)
			return -EINVAL;
		/* Unknown fields are allowed as long as they are zero. */
		for (i = known; i < options->size; i++)
			if (((const unsigned char *)options)[i])
				return -EINVAL;
		memcpy(ret, options, options->size < known ? options->size : known);
		rc = check(ret);
		if (rc < 0)
			return rc;
	}
	ret->size = known;
	if (!ret->name)
		ret->name = fib_os_program();
	complete_carriers(ret);
	if (!ret->long_run_ns)
		ret->long_run_ns = FIB_LONGRUN_DEFAULT;
	if (!ret->stack_size)
		ret->stack_size = FIB_STACK_DEFAULT;
	if (!ret->guard_size)
		ret->guard_size = FIB_STACK_GUARD;
	return 0;
}
