/* SPDX-License-Identifier: MIT */
/*
 * locale.h - uselocale(3) for the calling fiber alone, for libfiber-posix
 *
 * Not in the installed headers. The function is exported because libfiber-posix is a library of its
 * own.
 */
#ifndef FIB_LAYOUT_LOCALE_H
#define FIB_LAYOUT_LOCALE_H

#include <locale.h>

#include <fiber/api.h>

/*
 * Before a fiber sets a locale by use(), the C library's uselocale(3): from now on fibers of its
 * runtime take their locale along. By a fiber without thread-locals of its own. Never waits.
 */
FIBER_API void fiber_locale_keep(locale_t (*use)(locale_t locale));

#endif
