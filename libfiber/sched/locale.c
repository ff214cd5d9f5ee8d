/* SPDX-License-Identifier: MIT */
/* locale.c - let fibers take their locale along */
#include "sched/locale.h"

#include "base/atomic.h"
#include "layout/locale.h"
#include "sched/sched.h"

static locale_t (*_Atomic use_locale)(locale_t locale); /* A: the same value each time */

void fiber_locale_keep(locale_t (*use)(locale_t locale))
{
	struct fib_sched *s = fib_carrier_self()->sched;
	unsigned i;

	/* pairs: locale.kept */
	if (fib_load_acquire(&s->locales))
		return;
	fib_store(&use_locale, use);
	for (i = 0; i < s->carrier_count; i++)
		fib_or(&s->carriers[i].slow_switch, FIB_SLOW_LOCALE);
	/* label: locale.kept -- a fiber that sees it may go to any carrier, which sees the flag. */
	fib_store_release(&s->locales, true);
}

locale_t fib_locale_take(void)
{
	return fib_load(&use_locale)(LC_GLOBAL_LOCALE);
}

void fib_locale_restore(locale_t locale)
{
	locale_t (*use)(locale_t) = fib_load(&use_locale);

	if (locale != LC_GLOBAL_LOCALE)
		use(locale);
}
