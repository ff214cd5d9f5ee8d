/* SPDX-License-Identifier: MIT */
/*
 * sanitizer.c - report a sanitizer that this libfiber does not announce switches to
 *
 * Such a program runs, but its sanitizer gives false reports or crashes, and its output does not
 * show the cause. The runtimes of sanitizers have functions with known names: a weak reference to
 * one is NULL in a process without that runtime.
 */
#include "runtime/sanitizer.h"

#include <string.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "base/log.h"
#include "context/context.h"

extern void fib_asan_init(void) __asm__("__asan_init") __attribute__((weak));
extern void fib_tsan_init(void) __asm__("__tsan_get_current_fiber") __attribute__((weak));
extern void fib_msan_init(void) __asm__("__msan_init") __attribute__((weak));
extern void fib_hwasan_init(void) __asm__("__hwasan_init") __attribute__((weak));

bool fib_sanitizer_report(const struct fib_sanitizer sanitizers[], size_t n, const char *announced)
{
	const struct fib_sanitizer *s = sanitizers, *end = sanitizers + n;

	while (s < end && !s->there)
		s++;
	if (s == end || (announced && !strcmp(announced, s->name)))
		return false;
	if (s->library)
		fib_log("this program has %s inside and this libfiber does not know it: "
			"link %s (pkg-config %s); see man libfiber-sanitizers",
			s->name, s->library, s->library);
	else
		fib_log("this program has %s inside, which no libfiber knows: its reports may be "
			"wrong; see man libfiber-sanitizers",
			s->name);
	return true;
}

void fib_sanitizer_check(void)
{
	static _Atomic unsigned char checked; /* A: the thread that sets it reports */
	const struct fib_sanitizer sanitizers[] = {
		{"AddressSanitizer", fib_asan_init != NULL, "libfiber-asan"},
		{"ThreadSanitizer", fib_tsan_init != NULL, "libfiber-tsan"},
		{"MemorySanitizer", fib_msan_init != NULL, NULL},
		{"HWAddressSanitizer", fib_hwasan_init != NULL, NULL},
	};

	if (!fib_swap(&checked, 1))
		fib_sanitizer_report(sanitizers, fib_countof(sanitizers), fib_context_announced());
}
