/* SPDX-License-Identifier: MIT */
/*
 * main.c - fibertrace: the backtraces of every fiber of a process, a core file or a snapshot
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
#include "inspect/snapshot.h"
#include "inspect/source.h"
#include "inspect/torn.h"

static const char usage[] =
	"usage: fibertrace [--each] [--json] PID\n"
	"       fibertrace [--each] [--json] --core CORE [EXE]\n"
	"       fibertrace [--each] [--json] [--snapshot] FILE\n"
	"\n"
	"Print the backtraces of every fiber of a process, or of a core file, without\n"
	"its cooperation; or of a snapshot that 'fiberctl snapshot' wrote. Fibers in the\n"
	"same place are grouped and counted.\n"
	"\n"
	"      --core CORE   read a core file; EXE is its executable where the one that\n"
	"                    the core names is not there any more\n"
	"  -s, --snapshot FILE\n"
	"                    read a snapshot; --snapshot may be left out\n"
	"  -e, --each        print every fiber\n"
	"  -j, --json        print one JSON object\n"
	"  -h, --help        print this text\n"
	"  -V, --version     print the version\n"
	"\n"
	"Exit status: 0 all well, 1 something is missing (the output says what and why),\n"
	"2 cannot read the process or file, 64 wrong usage.\n";

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

/* The files that were named with an option; NULL: not given. */
struct files {
	const char *core, *snapshot;
};

/* The one source that was asked for. 0; or an exit code after saying what is wrong. */
static int choose(const struct files *files, char **args, int n, struct ins_source **ret)
{
	struct ins_error error = {""};
	pid_t pid = 0;
	int rc;

	if (files->core && files->snapshot)
		return wrong("--snapshot", "either that or --core");
	if (files->core && n > 1)
		return wrong(args[1], "one executable at most belongs to a core");
	if (files->snapshot && n)
		return wrong(args[0], "nothing else goes with a snapshot");
	if (!files->core && !files->snapshot && n != 1)
		return wrong(n ? args[1] : "no process",
			     n ? "one process at a time" : "give a PID");
	if (files->core)
		rc = ins_source_open_core(files->core, n ? args[0] : NULL, &error, ret);
	else if (files->snapshot)
		rc = ins_source_open_snapshot(files->snapshot, &error, ret);
	else if (parse_pid(args[0], &pid))
		rc = ins_source_open_live(pid, &error, ret);
	else if (ins_snapshot_meant(args[0]))
		rc = ins_source_open_snapshot(args[0], &error, ret);
	else
		return wrong(args[0], "is no process id, and no file");
	if (rc == 0)
		return TRACE_WELL;
	fprintf(stderr, "fibertrace: %s\n", error.text);
	return TRACE_CANNOT;
}

static int run(const struct files *files, char **args, int n, const struct trace_options *options)
{
	struct ins_source *source;
	int code = choose(files, args, n, &source);

	if (code != TRACE_WELL)
		return code;
	code = trace_dump(source, options);
	ins_source_close(source);
	return code;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{"core", required_argument, NULL, 'c'},
		{"each", no_argument, NULL, 'e'},
		{"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},
		{"snapshot", required_argument, NULL, 's'},
		{"version", no_argument, NULL, 'V'},
		{NULL, 0, NULL, 0},
	};
	struct trace_options options = {0};
	struct files files = {NULL, NULL};
	int c;

	ins_torn_guard("fibertrace");
	argv[0] = (char *)"fibertrace"; /* the name getopt's messages begin with */
	while ((c = getopt_long(argc, argv, "ejs:hV", longs, NULL)) != -1) {
		switch (c) {
		case 'c':
			files.core = optarg;
			break;
		case 's':
			files.snapshot = optarg;
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
	return run(&files, argv + optind, argc - optind, &options);
}
