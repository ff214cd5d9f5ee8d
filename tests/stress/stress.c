/* SPDX-License-Identifier: MIT */
/*
 * stress.c - the driver: run each theme on 2 and 4 carriers, then all at once
 *
 * stress [--seconds N] [--seed N] [--carriers N] [--patience N] [--stay] [--stall] [THEME...]
 *
 * The time is shared evenly; the default is $STRESS_SECONDS or a few seconds. The output is TAP,
 * with one test for each theme and number of carriers, and the seed of the random choices. An actor
 * that takes no step for `patience` seconds stalls the run: the driver names the actor, dumps every
 * fiber, and aborts, or with --stay remains for fibertrace or gdb. --stall is a theme that does
 * stall.
 */
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/compiler.h"
#include "tests/harness/paths.h"
#include "tests/stress/actors.h"

#define TICK_NS	   100000000
#define TICKS_EACH 10 /* per second */

static const struct stress_theme *const themes[] = {
	&stress_mutex,	  &stress_park,	  &stress_cond,	  &stress_chan,	   &stress_close,
	&stress_sem,	  &stress_rwlock, &stress_event,  &stress_barrier, &stress_waitgroup,
	&stress_life,	  &stress_group,  &stress_time,	  &stress_block,   &stress_stream,
	&stress_runtimes, &stress_call,	  &stress_cancel, &stress_crowd,   &stress_look,
	&stress_accept,	  &stress_mask,
};

static struct {
	double seconds;
	uint64_t seed;
	unsigned carriers; /* 0: 2, then 4 */
	unsigned patience; /* seconds */
	bool stay;
	const struct stress_theme *chosen[fib_countof(themes)];
	size_t count;
} options;

static void tick(void)
{
	const struct timespec pause = {0, TICK_NS};

	nanosleep(&pause, NULL);
}

_Noreturn static void give_up(void)
{
	fflush(stdout);
	fiber_dump(STDERR_FILENO);
	fprintf(stderr, "# again with: --seed %llu\n", (unsigned long long)options.seed);
	if (options.stay) {
		fprintf(stderr, "# process %d stays as it is\n", getpid());
		for (;;)
			pause();
	}
	abort();
}

void stress_wrong(const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	fprintf(stderr, "# wrong: %s\n", text);
	give_up();
}

/* Count ticks instead of reading a clock, so that a pause of the machine does not look like a
 * stall. */
static void watch(const struct stress_theme *theme, unsigned carriers)
{
	const struct stress_actor *still = stress_still(options.patience * TICKS_EACH);

	if (!still)
		return;
	fprintf(stderr, "# stall: %s with %u carriers: nothing for %u s from:\n", theme->name,
		carriers, options.patience);
	stress_tell_still(options.patience * TICKS_EACH / 2);
	give_up();
}

/* Run one theme, or all (NULL), for a while. */
static uint64_t run(const struct stress_theme *theme, unsigned carriers, double seconds)
{
	static const struct stress_theme together = {"all", NULL, NULL};
	struct timespec began, now;
	size_t i;

	stress_prepare(carriers, options.seed);
	if (theme)
		stress_begin(theme);
	for (i = 0; !theme && i < options.count; i++)
		stress_begin(options.chosen[i]);
	clock_gettime(CLOCK_MONOTONIC, &began);
	stress_start();
	do {
		tick();
		watch(theme ? theme : &together, carriers);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((double)(now.tv_sec - began.tv_sec) + (double)(now.tv_nsec - began.tv_nsec) / 1e9 <
		 seconds);
	stress_stop();
	while (!stress_all_ended()) {
		tick();
		watch(theme ? theme : &together, carriers);
	}
	return stress_finish();
}

static void run_all(void)
{
	static const unsigned usual[] = {2, 4};
	const size_t rows = options.count + (options.count > 1), times = options.carriers ? 1 : 2;
	const double each = options.seconds / (double)(rows * times);
	size_t i, j, n = 0;

	printf("1..%zu\n# seed %llu, %.1f s each\n", rows * times, (unsigned long long)options.seed,
	       each);
	for (i = 0; i < rows; i++) {
		for (j = 0; j < times; j++) {
			const struct stress_theme *theme =
				i < options.count ? options.chosen[i] : NULL;
			const unsigned carriers = options.carriers ? options.carriers : usual[j];
			const uint64_t steps = run(theme, carriers, each);

			printf("ok %zu - %s, %u carriers: %llu steps\n", ++n,
			       theme ? theme->name : "all at once", carriers,
			       (unsigned long long)steps);
			fflush(stdout);
		}
	}
}

_Noreturn static void usage(void)
{
	size_t i;

	fprintf(stderr, "usage: stress [--seconds N] [--seed N] [--carriers N] [--patience N] "
			"[--stay] [--stall] [THEME...]\nthemes:");
	for (i = 0; i < fib_countof(themes); i++)
		fprintf(stderr, " %s", themes[i]->name);
	fprintf(stderr, "\n");
	exit(64);
}

static void choose(const char *name)
{
	size_t i;

	for (i = 0; i < fib_countof(themes); i++) {
		if (strcmp(themes[i]->name, name))
			continue;
		if (options.count == fib_countof(themes))
			usage();
		options.chosen[options.count++] = themes[i];
		return;
	}
	usage();
}

static double number(const char *text)
{
	char *end;
	double value = strtod(text, &end);

	if (!*text || *end || value < 0)
		usage();
	return value;
}

static void set_defaults(void)
{
	const char *seconds = getenv("STRESS_SECONDS");
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	options.seconds = seconds && *seconds ? number(seconds) : 8;
	options.seed = (uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 20 ^ (uint64_t)getpid();
	/* Sanitizers are much slower, even more so while many tests run. */
	options.patience = *harness_sanitizer() ? 60 : 15;
}

static bool parse(int argc, char **argv)
{
	static const struct option known[] = {
		{"seconds", 1, NULL, 's'},  {"seed", 1, NULL, 'r'}, {"carriers", 1, NULL, 'c'},
		{"patience", 1, NULL, 'p'}, {"stay", 0, NULL, 'y'}, {"stall", 0, NULL, 'l'},
		{NULL, 0, NULL, 0}};
	bool stall = false;
	int c;

	while ((c = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (c == 's')
			options.seconds = number(optarg);
		else if (c == 'r')
			options.seed = strtoull(optarg, NULL, 10);
		else if (c == 'c')
			options.carriers = (unsigned)number(optarg);
		else if (c == 'p')
			options.patience = (unsigned)number(optarg);
		else if (c == 'y')
			options.stay = true;
		else if (c == 'l')
			stall = true;
		else
			usage();
	}
	for (; optind < argc; optind++)
		choose(argv[optind]);
	return stall;
}

int main(int argc, char **argv)
{
	size_t i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	set_defaults();
	if (parse(argc, argv)) {
		options.chosen[0] = &stress_stall;
		options.count = 1;
	}
	for (i = 0; !options.count && i < fib_countof(themes); i++)
		options.chosen[i] = themes[i];
	if (!options.count)
		options.count = fib_countof(themes);
	run_all();
	return 0;
}
