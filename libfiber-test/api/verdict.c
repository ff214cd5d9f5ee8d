/* SPDX-License-Identifier: MIT */
/* verdict.c - the names of verdicts */
#include <fiber/test.h>

#include "base/compiler.h"

const char *fiber_test_verdict_name(enum fiber_test_verdict verdict)
{
	static const char *const names[] = {"passed",	"complete",  "failed",	  "crashed",
					    "deadlock", "leak",	     "livelock",  "hung",
					    "race",	"nonlinear", "unreached", "diverged"};

	return (unsigned)verdict < fib_countof(names) ? names[verdict] : "unknown";
}
