/* SPDX-License-Identifier: MIT */
/* options.c - the options that test programs and fibertest have in common */
#include "api/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explore/settings.h"
#include "strategy/strategy.h"

const char fib_options_help[] =
	"  --replay TOKEN      run the one schedule of a token in this process\n"
	"  --schedules N       run at most N schedules of each test\n"
	"  --seed N            the same seed gives the same schedules\n"
	"  --strategy LIST     random, pct, pct:DEPTH, pos, urw, surw, bound, exhaustive, "
	"each-fault,\n"
	"                      or the default portfolio, which is " FIB_PORTFOLIO "\n"
	"  --steps N           choices in one schedule\n"
	"  --preemptions N     exhaustive: at most N switches away from a fiber that could go on\n"
	"  --faults LIST       memory, short, reset, descriptors, cancel, spurious, disk, spawn,\n"
	"                      all, none\n"
	"  --fault-limit N     faults in one schedule\n"
	"  --slack TIME        how far the clock may run ahead while fibers can run\n"
	"  --time TIME         real time for each test: 5s, 200ms, none\n"
	"  --hang TIME         real time without a choice\n"
	"  -j, --jobs N        processes\n"
	"  --trace[=FILE]      print every step of a replay\n"
	"  --at-failure WHAT   of a replay: report, abort, stop\n"
	"  --no-minimize       keep the schedule as it was found\n"
	"  --help, --version\n"
	"\n"
	"Exit status: 0 nothing was found, 1 something was found, 2 bad usage or it could not be "
	"run.\n";

_Noreturn void fib_refuse(const char *program, const char *what, const char *why)
{
	fprintf(stderr, "%s: %.80s: %s\n", program, what, why);
	exit(2);
}

/* Take "--name VALUE" or "--name=VALUE"; *i moves on. Returns NULL if argv[*i] is another option. */
static const char *value_of(int argc, char *argv[], int *i, const char *name)
{
	const char *at = argv[*i];
	const size_t n = strlen(name);

	if (strncmp(at, "--", 2) != 0 || strncmp(at + 2, name, n) != 0)
		return NULL;
	if (at[2 + n] == '=')
		return at + 3 + n;
	if (at[2 + n])
		return NULL;
	if (*i + 1 == argc)
		fib_refuse(argv[0], at, "needs a value");
	return argv[++*i];
}

static void set(const char *program, const char *name, const char *value)
{
	char what[128];
	const char *why;

	snprintf(what, sizeof what, "--%s %s", name, value);
	if (fib_setting_set(name, value, &why) < 0)
		fib_refuse(program, what, why);
}

bool fib_option_take(int argc, char *argv[], int *i)
{
	static const char *const names[] = {
		"replay", "schedules", "seed", "strategy",   "steps",  "preemptions", "slack",
		"time",	  "hang",      "jobs", "at-failure", "faults", "fault-limit"};
	unsigned k;

	for (k = 0; k < sizeof names / sizeof *names; k++) {
		const char *value = argv[*i] ? value_of(argc, argv, i, names[k]) : NULL;

		if (!value)
			continue;
		set(argv[0], names[k], value);
		return true;
	}
	if (strcmp(argv[*i], "-j") == 0 && *i + 1 < argc)
		set(argv[0], "jobs", argv[++*i]);
	else if (strcmp(argv[*i], "--trace") == 0)
		set(argv[0], "trace", "1");
	else if (strncmp(argv[*i], "--trace=", 8) == 0)
		set(argv[0], "trace", argv[*i] + 8);
	else if (strcmp(argv[*i], "--no-minimize") == 0)
		set(argv[0], "minimize", "0");
	else
		return false;
	return true;
}
