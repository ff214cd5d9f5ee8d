/* SPDX-License-Identifier: MIT */
/*
 * locale.h - fibers with a locale of their own, without thread-locals of their own
 *
 * The C library keeps the locale that uselocale(3) sets by thread. So a fiber that leaves takes its
 * locale along, in its own frame, and its carrier has the global locale again.
 *
 * Carriers do so once FIB_SLOW_LOCALE is set in all of them. That happens before the first fiber sets
 * a locale, and a carrier reads the flag after it has taken a fiber.
 */
#ifndef FIB_SCHED_LOCALE_H
#define FIB_SCHED_LOCALE_H

#include <locale.h>

/* The calling fiber leaves: give the carrier the global locale. Returns the fiber's. */
locale_t fib_locale_take(void);

/* It is back, maybe on another carrier. */
void fib_locale_restore(locale_t locale);

#endif
