/* SPDX-License-Identifier: MIT */
/*
 * link.c - find the system's calls when the library is loaded, and check how it was linked
 *
 * The order may be wrong: another definition comes first, and no call reaches this library. Or the
 * program contains a libfiber of its own. Both are reported in one line when the program starts.
 *
 * Other libraries keep addresses of errno and of thread-local variables across a call that parks. A
 * fiber that continued on another thread would use those of the first one. So all fibers are bound.
 */
#include "system/link.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <fiber/posix.h>
#include <fiber/runtime.h>

#include "layout/layout.h"
#include "layout/own_tls.h"
#include "system/caller.h"
#include "system/copies.h"
#include "system/native.h"
#include "system/streams.h"
#include "system/system.h"

bool fpx_linked = true;
ptrdiff_t fpx_carrier_word;

/* No call by name parks. Say why, in one line: format has one %s. */
__attribute__((format(printf, 1, 0))) static void give_up(const char *format, const char *name)
{
	char line[512];

	fpx_linked = false;
	snprintf(line, sizeof line, format, name);
	(void)!fpx_system.write(STDERR_FILENO, line, strlen(line));
}

/* In an archive the linker has made sure of the order. */
static void check_order(void)
{
	void *first = dlsym(RTLD_DEFAULT, "read");
	Dl_info own, other;

	if (!dladdr(&fpx_system, &own) || !first || !dladdr(first, &other))
		return;
	if (own.dli_fbase != other.dli_fbase && strstr(own.dli_fname, "libfiber-posix"))
		give_up("libfiber-posix: read() is that of %s, so no call parks: link "
			"libfiber-posix before it\n",
			other.dli_fname);
}

static void check_copies(void)
{
	if (fpx_linked && fpx_other_libfiber())
		give_up("libfiber-posix: %s contains another libfiber, so no call parks: link it "
			"with libfiber-posix.a, or with the shared libfiber\n",
			program_invocation_short_name);
}

extern struct fib_layout fiber_registry;

/* The tools hide frames of this code, as those of libfiber. In an archive both are one range. */
static void describe_code(void)
{
	fiber_registry.code[1].low = (uint64_t)(uintptr_t)__start_fiber_text;
	fiber_registry.code[1].high = (uint64_t)(uintptr_t)__stop_fiber_text;
}

bool fiber_posix_linked(void)
{
	return fpx_linked;
}

/*
 * Before the constructors of the program. Those of other libraries may have run: libraries that come
 * later in the order of the loader are initialised first.
 */
__attribute__((constructor(101))) static void start(void)
{
	fpx_carrier_word = fiber_carrier_word();
	fiber_runtime_bind();
	describe_code();
	if (!fpx_find_calls())
		return;
	fpx_find_native();
	fpx_find_streams();
	check_order();
	check_copies();
}
