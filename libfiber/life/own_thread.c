/* SPDX-License-Identifier: MIT */
/* own_thread.c - a fiber with thread-locals of its own, as libfiber-posix sees it: a thread */
#include "life/own_thread.h"

#include <stddef.h>

#include "arch/arch.h"
#include "base/atomic.h"
#include "base/tls.h"
#include "core/record.h"
#include "layout/own_tls.h"
#include "os/own_tls.h"
#include "sched/own_tls.h"

static void *(*_Atomic own_main)(fiber_fn *fn, void *arg);

void fiber_own_tls_set_main(void *(*main)(fiber_fn *fn, void *arg))
{
	fib_store(&own_main, main);
}

void *fib_own_thread_run(fiber_fn *fn, void *arg)
{
	void *(*main)(fiber_fn *, void *) = fib_load(&own_main);

	fib_os_own_tls_begin();
	return main ? main(fn, arg) : fn(arg);
}

ptrdiff_t fiber_carrier_word(void)
{
	return fib_tls_carrier_offset(fib_arch_tp());
}

int fiber_own_tls_check(const char **ret_why)
{
	return fib_own_tls_check(ret_why);
}

void *fiber_own_tls(const struct fiber *fiber)
{
	return fiber->tls;
}

bool fiber_own_tls_is(const void *block)
{
	return fib_os_own_tls_is(block);
}

int fiber_own_tls_number(void)
{
	return fib_os_own_tls_number();
}

void **fiber_own_tls_word(void *block)
{
	return fib_os_own_tls_word(block);
}

void fiber_own_tls_give(void *block)
{
	fib_os_own_tls_give(block);
}

void fiber_own_tls_finish(void)
{
	fib_os_own_tls_end();
}
