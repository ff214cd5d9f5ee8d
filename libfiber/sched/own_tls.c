/* SPDX-License-Identifier: MIT */
/* own_tls.c - make fibers with thread-locals of their own possible, and end their use */
#include "sched/own_tls.h"

#include <pthread.h>

#include "context/context.h"
#include "os/own_tls.h"

static pthread_once_t found_once = PTHREAD_ONCE_INIT;
static const char *missing; /* NULL: there are blocks */

/* Also called by a signal handler. */
static void *home(void)
{
	struct fib_carrier *c = fib_carrier_self();

	return c ? c->tp : NULL;
}

static void find(void)
{
	if (fib_context_announced())
		missing = "a sanitizer keeps its own data by thread";
	else
		fib_os_own_tls_find(home, &missing);
}

int fib_own_tls_check(const char **ret_why)
{
	pthread_once(&found_once, find);
	*ret_why = missing;
	return missing ? -ENOTSUP : 0;
}

void fib_own_tls_enable(struct fib_sched *s)
{
	unsigned i;

	if (fib_load_acquire(&s->own_tls))
		return;
	for (i = 0; i < s->carrier_count; i++)
		fib_or(&s->carriers[i].slow_switch, FIB_SLOW_OWN_TLS);
	fib_store_release(&s->own_tls, true);
}

void fib_own_tls_leave(struct fib_carrier *c, struct fiber *fiber)
{
	void *const block = fiber->tls;

	fiber->tls = NULL;
	fib_use_tls(c, NULL);
	/* Else the one who has set the word gives it back, after the fiber's end. */
	if (!*fib_os_own_tls_word(block))
		fib_os_own_tls_give(block);
}
