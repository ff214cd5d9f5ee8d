/* SPDX-License-Identifier: MIT */
/* locale.c - uselocale(3). In the shared library alone, as threads.c. */
#include <locale.h>

#include "entry/entry.h"
#include "layout/locale.h"
#include "system/native.h"

FPX_ENTRY locale_t uselocale(locale_t locale)
{
	if (locale && !fpx_own_tls && fpx_is_fiber(FPX_CALLER))
		fiber_locale_keep(fpx_native.uselocale);
	return fpx_native.uselocale(locale);
}

FPX_ALIAS(uselocale) locale_t __uselocale(locale_t locale) __THROW;
