/* SPDX-License-Identifier: MIT */
/* options.c - the options that test programs and fibertest have in common */
#include "api/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explore/settings.h"
#include "strategy/strategy.h"
#include "text/escape.h"

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
	"  --timeline FILE     write a replay as a recording for fibertrace export and report\n"
	"  --no-minimize       keep the schedule as it was found\n"
	"  --keep-going        go on after a finding; report each distinct one once\n"
	"  --format FORMAT     text, tap, junit, json\n"
	"  -o FILE             write there, completely or not at all; default: standard output\n"
	"  --progress WHEN     a line on a terminal: auto, always, never\n"
	"  --help, --version\n"
	"\n"
	"Exit status: 0 nothing was found, 1 something was found, 2 bad usage or it could not be "
	"run,\n"
	"130 and 143 after SIGINT and SIGTERM.\n";

static struct fib_options options;

const struct fib_options *fib_options(void)
{
	return &options;
}

_Noreturn void fib_refuse(const char *program, const char *what, const char *why)
{
	char plain[96];

	fprintf(stderr, "%s: %s: %s\n", program, fib_plain(what, plain, sizeof plain), why);
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

/* Note an option that only a replay has. */
static void note_replays(const char *option)
{
	static const char *const all[] = {"--trace", "--timeline", "--at-failure"};
	unsigned i;

	for (i = 0; i < sizeof all / sizeof *all; i++)
		if (strncmp(option, all[i], strlen(all[i])) == 0)
			options.of_replays = all[i];
}

/* Options that say where and how to report. */
static bool take_report(int argc, char *argv[], int *i)
{
	const char *const word = argv[*i], *value = value_of(argc, argv, i, "format");
	char what[128];

	if (value) {
		options.format = fib_format_find(value);
		snprintf(what, sizeof what, "--format %s", value);
		if (!options.format)
			fib_refuse(argv[0], what, "it is text, tap, junit or json");
	} else if (strcmp(word, "-o") == 0) {
		if (*i + 1 == argc)
			fib_refuse(argv[0], "-o", "needs a value");
		options.file = argv[++*i];
	} else if (strncmp(word, "-o", 2) == 0) {
		options.file = word + 2;
	} else {
		return false;
	}
	return true;
}

static bool take_setting(int argc, char *argv[], int *i)
{
	static const char *const names[] = {"replay",	   "schedules",	  "seed",	"strategy",
					    "steps",	   "preemptions", "slack",	"time",
					    "hang",	   "jobs",	  "at-failure", "faults",
					    "fault-limit", "timeline",	  "progress"};
	unsigned k;

	for (k = 0; k < sizeof names / sizeof *names; k++) {
		const char *value = value_of(argc, argv, i, names[k]);

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
	else if (strcmp(argv[*i], "--keep-going") == 0)
		set(argv[0], "keep-going", "1");
	else
		return false;
	return true;
}

bool fib_option_take(int argc, char *argv[], int *i)
{
	note_replays(argv[*i]);
	return take_report(argc, argv, i) || take_setting(argc, argv, i);
}

void fib_options_check(const char *program)
{
	const struct fib_settings *s = fib_settings();

	if (s->replay && s->keep_going)
		fib_refuse(program, "--keep-going", "does not go with --replay");
	if (s->replay && (options.format || options.file))
		fib_refuse(program, "--replay", "does not go with --format and -o");
	if (options.of_replays && !s->replay)
		fib_refuse(program, options.of_replays, "needs --replay");
}
