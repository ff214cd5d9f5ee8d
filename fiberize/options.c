/* SPDX-License-Identifier: MIT */
/*
 * options.c - the command line of fiberize
 *
 * The default size of stacks is that of the C library's threads: the limit of the shell (ulimit -s),
 * usually 8 MiB. A program that runs on threads then has no less in fibers. Pages that are never
 * touched cost address space alone.
 */
#include "fiberize/options.h"

#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/text/duration.h"

#define CARRIERS_MAX 256
#define MOST_PER_CPU 4
#define STACK_MIN    ((uint64_t)16 << 10)
#define STACK_MAX    ((uint64_t)1 << 30)
#define TRIM	     INT64_C(5000000000) /* ns */

static const char help[] =
	"usage: fiberize [OPTION]... PROGRAM [ARG]...\n"
	"\n"
	"Run a program with its threads as fibers.\n"
	"\n"
	"      --carriers N     run them on N threads (default: the number of CPUs)\n"
	"      --carriers-max N and on up to N while fibers compute or block for long\n"
	"                       (default: 4 for each CPU)\n"
	"      --stack SIZE     the stack of a thread without one of its own: 256k, 8m\n"
	"                       (default: as on threads, 'ulimit -s')\n"
	"      --trim TIME      a thread that has waited for this long loses the memory of its\n"
	"                       stack that it does not use (default: 5s), or 'off'\n"
	"      --watchdog TIME  report a fiber that runs for longer than this: 20ms, 1s\n"
	"  -h, --help           print this text\n"
	"  -V, --version        print the version\n"
	"\n"
	"Exit status: that of the program; 125 wrong usage, 126 the program cannot be run\n"
	"in fibers, 127 it is not found.";

void fiberize_refuse(int status, const char *what, const char *why)
{
	fprintf(stderr, "fiberize: %s: %s\n", what, why);
	exit(status);
}

static _Noreturn void wrong(const char *option, const char *value, const char *expected)
{
	fprintf(stderr, "fiberize: --%s %s: %s\n", option, value, expected);
	exit(FIBERIZE_FAILED);
}

static bool read_number(const char *text, uint64_t *ret, const char **ret_end)
{
	char *end;

	errno = 0;
	*ret = strtoull(text, &end, 10);
	*ret_end = end;
	return text[0] >= '0' && text[0] <= '9' && !errno;
}

static unsigned read_carriers(const char *option, const char *text)
{
	const char *end;
	uint64_t n;

	if (!read_number(text, &n, &end) || *end || n < 1 || n > CARRIERS_MAX)
		wrong(option, text, "a number from 1 to 256");
	return (unsigned)n;
}

/* With substitutes, where the command line does not say. */
static unsigned default_most(unsigned carriers)
{
	cpu_set_t cpus;
	int n = 1;

	if (sched_getaffinity(0, sizeof cpus, &cpus) == 0)
		n = CPU_COUNT(&cpus);
	n = n > CARRIERS_MAX / MOST_PER_CPU ? CARRIERS_MAX : n * MOST_PER_CPU;
	return (unsigned)n > carriers ? (unsigned)n : carriers;
}

static size_t read_size(const char *text)
{
	static const char units[] = "kmg";
	const char *end, *unit;
	uint64_t n;
	bool well = read_number(text, &n, &end);

	if (well && *end) {
		unit = strchr(units, *end | 0x20);
		well = unit && !end[1] && n <= STACK_MAX;
		if (well)
			n <<= 10 * (unit - units + 1);
	}
	if (!well || n < STACK_MIN || n > STACK_MAX)
		wrong("stack", text, "a size from 16k to 1g, like 256k or 8m");
	return n;
}

static int64_t read_time(const char *option, const char *text, const char *expected)
{
	int64_t ns;

	if (!ins_duration_parse(text, &ns) || ns <= 0)
		wrong(option, text, expected);
	if (ins_duration_bare(text))
		wrong(option, text, "the unit is missing: 20ms, 1s");
	return ns;
}

static int64_t read_trim(const char *text)
{
	if (!strcmp(text, "off"))
		return 0;
	return read_time("trim", text, "a length of time like 500ms, 5s or 2m, or off");
}

/* Of a thread that asks for nothing: the limit of stacks that the C library has read at start. */
static size_t default_stack(void)
{
	pthread_attr_t attr;
	size_t size = 0;

	if (pthread_attr_init(&attr) == 0)
		pthread_attr_getstacksize(&attr, &size);
	return size < STACK_MIN ? STACK_MIN : size > STACK_MAX ? STACK_MAX : size;
}

static _Noreturn void print(const char *text)
{
	if (puts(text) < 0 || fflush(stdout) != 0)
		fiberize_refuse(FIBERIZE_FAILED, "standard output", strerror(errno));
	exit(0);
}

void fiberize_options(int argc, char *argv[], struct fiberize_options *ret)
{
	enum { CARRIERS = 256, MOST, STACK, TRIMS, WATCHDOG };
	static const struct option longs[] = {{"carriers", required_argument, NULL, CARRIERS},
					      {"carriers-max", required_argument, NULL, MOST},
					      {"stack", required_argument, NULL, STACK},
					      {"trim", required_argument, NULL, TRIMS},
					      {"watchdog", required_argument, NULL, WATCHDOG},
					      {"help", no_argument, NULL, 'h'},
					      {"version", no_argument, NULL, 'V'},
					      {NULL, 0, NULL, 0}};
	const char *most_text = NULL;
	unsigned most = 0;
	int c;

	*ret = (struct fiberize_options){.stack = default_stack(), .long_run = -1, .trim = TRIM};
	/* The first word that is no option is the program: what follows is its own. */
	while ((c = getopt_long(argc, argv, "+hV", longs, NULL)) != -1) {
		if (c == CARRIERS)
			ret->carriers = read_carriers("carriers", optarg);
		else if (c == MOST)
			most = read_carriers("carriers-max", most_text = optarg);
		else if (c == STACK)
			ret->stack = read_size(optarg);
		else if (c == WATCHDOG)
			ret->long_run = read_time("watchdog", optarg,
						  "a length of time like 20ms, 1.5s or 2m");
		else if (c == TRIMS)
			ret->trim = read_trim(optarg);
		else if (c == 'h')
			print(help);
		else if (c == 'V')
			print("fiberize " FIBER_VERSION);
		else
			exit(FIBERIZE_FAILED);
	}
	if (most && ret->carriers > most)
		wrong("carriers-max", most_text, "fewer than --carriers");
	ret->most = most ? most : default_most(ret->carriers);
	if (optind == argc)
		fiberize_refuse(FIBERIZE_FAILED, "PROGRAM", "is missing; see --help");
	ret->program = argv + optind;
}
