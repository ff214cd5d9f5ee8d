/* SPDX-License-Identifier: MIT */
/*
 * main.c - fibertrace: the backtraces of every fiber of a process or a core file
 *
 * Nothing is asked of the program: its memory is read, whether it runs, hangs, was stopped or is a
 * core file.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fibertrace/trace.h"
#include "inspect/source.h"
#include "inspect/torn.h"

static const char usage[] =
	"usage: fibertrace [--each] [--json] PID\n"
	"       fibertrace [--each] [--json] --core CORE [EXE]\n"
	"\n"
	"Print the backtraces of every fiber of a process, or of a core file, without\n"
	"its cooperation. Fibers in the same place are grouped and counted.\n"
	"\n"
	"      --core CORE   read a core file; EXE is its executable where the one that\n"
	"                    the core names is not there any more\n"
	"  -e, --each        print every fiber\n"
	"  -j, --json        print one JSON object\n"
	"  -h, --help        print this text\n"
	"  -V, --version     print the version\n"
	"\n"
	"Exit status: 0 all well, 1 something is missing (the output says what and why),\n"
	"2 cannot read the process or core, 64 wrong usage.\n";

static int wrong(const char *what, const char *why)
{
	fprintf(stderr, "fibertrace: %s%s%s\n", what, why[0] ? ": " : "", why);
	fprintf(stderr, "Try 'fibertrace --help'.\n");
	return TRACE_USAGE;
}

static bool parse_pid(const char *text, pid_t *ret)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || errno || n <= 0 || n > INT_MAX)
		return false;
	*ret = (pid_t)n;
	return true;
}

static int run(const char *core, char **args, int n, const struct trace_options *options)
{
	struct ins_error error = {""};
	struct ins_source *source;
	pid_t pid = 0;
	int rc;

	if (core && n > 1)
		return wrong(args[1], "one executable at most belongs to a core");
	if (!core && n != 1)
		return wrong(n ? args[1] : "no process",
			     n ? "one process at a time" : "give a PID");
	if (!core && !parse_pid(args[0], &pid))
		return wrong(args[0], "is no process id");
	rc = core ? ins_source_open_core(core, n ? args[0] : NULL, &error, &source)
		  : ins_source_open_live(pid, &error, &source);
	if (rc < 0) {
		fprintf(stderr, "fibertrace: %s\n", error.text);
		return TRACE_CANNOT;
	}
	rc = trace_dump(source, options);
	ins_source_close(source);
	return rc;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{"core", required_argument, NULL, 'c'}, {"each", no_argument, NULL, 'e'},
		{"json", no_argument, NULL, 'j'},	{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'V'},	{NULL, 0, NULL, 0},
	};
	struct trace_options options = {0};
	const char *core = NULL;
	int c;

	ins_torn_guard("fibertrace");
	argv[0] = (char *)"fibertrace"; /* the name getopt's messages begin with */
	while ((c = getopt_long(argc, argv, "ejhV", longs, NULL)) != -1) {
		switch (c) {
		case 'c':
			core = optarg;
			break;
		case 'e':
			options.each = true;
			break;
		case 'j':
			options.json = true;
			break;
		case 'h':
			fputs(usage, stdout);
			return TRACE_WELL;
		case 'V':
			puts("fibertrace " FIBER_VERSION);
			return TRACE_WELL;
		default:
			fputs("Try 'fibertrace --help'.\n", stderr);
			return TRACE_USAGE;
		}
	}
	return run(core, argv + optind, argc - optind, &options);
}
