/* SPDX-License-Identifier: MIT */
/* options.c - all options of the tools, and the parser of the command line */
#include "tool/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/report.h"
#include "tool/tool.h"
#include "inspect/text/duration.h"
#include "inspect/render/render.h"
#include "inspect/query/select.h"

const struct tool_option tool_options[TOOL_OPT_COUNT] = {
	[TOOL_OPT_ALL] = {"all", 'a', NULL, "all fibers, or all columns"},
	[TOOL_OPT_ALL_FRAMES] = {"all-frames", 0, NULL, "show frames inside libfiber too"},
	[TOOL_OPT_ALLOW_CHANGES] = {"allow-changes", 0, NULL, "let viewers change programs too"},
	[TOOL_OPT_ARGS] = {"args", 0, NULL, "show the arguments of each call"},
	[TOOL_OPT_BLOCK] = {"block", 0, NULL, "where fibers waited for what others hold"},
	[TOOL_OPT_COLUMNS] = {"columns", 'c', "NAMES", "what to show of each, with commas between"},
	[TOOL_OPT_CORE] = {"core", 0, "CORE", "the core file to read, in place of PROCESS"},
	[TOOL_OPT_CPU] = {"cpu", 0, NULL, "where the carriers used their CPUs"},
	[TOOL_OPT_DEBUG_DIR] = {"debug-dir", 0, "DIR:...",
				"look for debug files in these folders too"},
	[TOOL_OPT_DEEP] = {"deep", 0, NULL, "search the memory for lost fibers too"},
	[TOOL_OPT_DOT] = {"dot", 0, NULL, "print a graph for dot(1)"},
	[TOOL_OPT_EACH] = {"each", 'e', NULL, "print every fiber, and not groups"},
	[TOOL_OPT_EXE] = {"exe", 0, "FILE", "the executable of the core file"},
	[TOOL_OPT_FOLDED] = {"folded", 0, NULL, "print folded stacks for flame graphs"},
	[TOOL_OPT_FOLLOW] = {"follow", 'f', NULL, "print new ones until interrupted"},
	[TOOL_OPT_FOR] = {"for", 0, "TIME", "how long: 5s, 200ms"},
	[TOOL_OPT_FORCE] = {"force", 0, NULL, "replace the file"},
	[TOOL_OPT_FRAMES] = {"frames", 0, "N", "no more than the N innermost frames of a stack"},
	[TOOL_OPT_GROUP_BY] = {"group-by", 'g', "NAME", "count the fibers that share it"},
	[TOOL_OPT_HTML] = {"html", 0, NULL, "one page for a browser"},
	[TOOL_OPT_INTERVAL] = {"interval", 'n', "SECONDS", "the time between two looks"},
	[TOOL_OPT_LIMIT] = {"limit", 'l', "N", "show no more than N"},
	[TOOL_OPT_LISTEN] = {"listen", 0, "WHERE", "ADDRESS:PORT, or unix:PATH"},
	[TOOL_OPT_LOCALS] = {"locals", 0, NULL, "show the local variables of each call"},
	[TOOL_OPT_MIN] = {"min", 'm', "N", "leave out groups of fewer than N"},
	[TOOL_OPT_MODULE] = {"module", 0, "NAME", "of several libraries with fibers, this one"},
	[TOOL_OPT_NO_FINDINGS] = {"no-findings", 0, NULL, "do not look at the fibers for findings"},
	[TOOL_OPT_NO_PAUSE] = {"no-pause", 0, NULL, "stop no thread: running fibers have no stack"},
	[TOOL_OPT_ONCE] = {"once", '1', NULL, "one look, or one screen, and end"},
	[TOOL_OPT_OUTPUT] = {"output", 'o', "FILE", "write to FILE"},
	[TOOL_OPT_PERFETTO] = {"perfetto", 0, NULL, "the Trace Event Format (JSON)"},
	[TOOL_OPT_PPROF] = {"pprof", 0, "FILE", "write a profile for pprof to FILE"},
	[TOOL_OPT_RING] = {"ring", 0, "EVENTS", "how many a carrier can note between two readings"},
	[TOOL_OPT_SINCE] = {"since", 0, "SNAPSHOT", "an older snapshot to compare with"},
	[TOOL_OPT_SNAPSHOT] = {"snapshot", 0, "FILE", "the snapshot to read, in place of PROCESS"},
	[TOOL_OPT_SORT] = {"sort", 's', "NAME", "order by it; '-' before it: the largest first"},
	[TOOL_OPT_SOURCE] = {"source", 0, "N", "show N lines of source around each place"},
	[TOOL_OPT_SPEEDSCOPE] = {"speedscope", 0, "FILE", "write a profile for speedscope to FILE"},
	[TOOL_OPT_STACKS_EVERY] = {"stacks-every", 0, "TIME",
				   "the time between two looks at all stacks"},
	[TOOL_OPT_STACKS_ONLY] = {"stacks-only", 0, NULL, "leave out what files have"},
	[TOOL_OPT_STOP] = {"stop", 0, NULL, "stop the program while it is looked at"},
	[TOOL_OPT_SVG] = {"svg", 0, "FILE", "write a flame graph to FILE"},
	[TOOL_OPT_SYSROOT] = {"sysroot", 0, "DIR", "look for the files of a core below DIR first"},
	[TOOL_OPT_THREADS] = {"threads", 0, NULL, "show the threads, and not the fibers"},
	[TOOL_OPT_TOKEN_FILE] = {"token-file", 0, "FILE", "clients must know the token in FILE"},
	[TOOL_OPT_VERBOSE] = {"verbose", 'v', NULL, "say on standard error what was done"},
	[TOOL_OPT_WAIT] = {"wait", 0, NULL, "where fibers waited"},
	[TOOL_OPT_WHERE] = {"where", 'w', "EXPR", "only fibers for which it is true"},
};

enum { JSON = TOOL_OPT_COUNT + 256, COLOR, HELP, VERSION };

/* Build getopt's tables from the table of options. */
static void fill(struct option longs[TOOL_OPT_COUNT + 5], char letters[2 * TOOL_OPT_COUNT + 8])
{
	static const struct option shared[] = {
		{"json", optional_argument, NULL, JSON},
		{"color", required_argument, NULL, COLOR},
		{"help", no_argument, NULL, HELP},
		{"version", no_argument, NULL, VERSION},
		{NULL, 0, NULL, 0},
	};
	char *letter = letters;
	int i;

	for (i = 0; i < TOOL_OPT_COUNT; i++) {
		const struct tool_option *o = &tool_options[i];

		longs[i] = (struct option){o->name, o->argument ? required_argument : no_argument,
					   NULL, 256 + i};
		if (o->letter)
			*letter++ = o->letter;
		if (o->letter && o->argument)
			*letter++ = ':';
	}
	memcpy(letter, "jhV", 4);
	memcpy(longs + TOOL_OPT_COUNT, shared, sizeof shared);
}

static int by_letter(int c)
{
	int i;

	for (i = 0; i < TOOL_OPT_COUNT; i++)
		if (tool_options[i].letter == c)
			return i;
	return -1;
}

static bool take_json(struct tool_arguments *a, const char *how)
{
	a->json = true;
	a->lines = how && strcmp(how, "lines") == 0;
	if (how && !a->lines)
		tool_wrong(NULL, "--json=%s: only 'lines', or nothing", how);
	return !how || a->lines;
}

static bool twice(const char *name)
{
	return tool_wrong(NULL, "--%s: given twice", name), false;
}

static bool take_color(struct tool_arguments *a, const char *when)
{
	if (a->colors++)
		return twice("color");
	if (strcmp(when, "never") == 0)
		a->color = false;
	else if (strcmp(when, "always") == 0)
		a->color = true;
	else if (strcmp(when, "auto") != 0)
		return tool_wrong(NULL, "--color=%s: auto, always or never", when), false;
	return true;
}

static bool is_expression(const char *text)
{
	struct ins_select *select;
	struct ins_error error = {""};

	if (ins_select_parse(text, &select, &error) < 0)
		return tool_wrong(NULL, "%s", error.text), false;
	ins_select_free(select);
	return true;
}

/*
 * Add one more expression that must be true. Each must be complete: otherwise ") or (" could
 * combine two of them wrongly.
 */
static bool take_where(struct tool_arguments *a, const char *text)
{
	static char *joined;
	const char *before = a->option[TOOL_OPT_WHERE];
	const bool several = before == joined;
	char *both;

	if ((!several && !is_expression(before)) || !is_expression(text))
		return false;
	if (asprintf(&both, several ? "%s and (%s)" : "(%s) and (%s)", before, text) < 0)
		return tool_cannot("out of memory"), false;
	free(joined);
	a->option[TOOL_OPT_WHERE] = joined = both;
	return true;
}

static bool take(struct tool_arguments *a, int c)
{
	int i;

	if (c == '?')
		return fprintf(stderr, "Try '%s --help'.\n", tool->name), false;
	if (c == JSON || c == 'j')
		return take_json(a, c == JSON ? optarg : NULL);
	if (c == COLOR)
		return take_color(a, optarg);
	if (c == HELP || c == 'h')
		return a->help = true;
	if (c == VERSION || c == 'V')
		return a->version = true;
	i = c >= 256 ? c - 256 : by_letter(c);
	if (i == TOOL_OPT_WHERE && a->option[i])
		return take_where(a, optarg);
	if (optarg && a->option[i])
		return twice(tool_options[i].name);
	a->given |= TOOL_TAKES(i);
	a->option[i] = optarg ? optarg : "";
	return true;
}

bool tool_option_terminal(void)
{
	const char *kind = getenv("TERM");

	return isatty(STDOUT_FILENO) && !(kind && strcmp(kind, "dumb") == 0);
}

/* https://no-color.org: an empty value counts as unset. */
static bool wants_no_color(void)
{
	const char *no = getenv("NO_COLOR");

	return no && no[0];
}

bool tool_options_parse(int argc, char **argv, struct tool_arguments *ret)
{
	struct option longs[TOOL_OPT_COUNT + 5];
	char letters[2 * TOOL_OPT_COUNT + 8];
	int c;

	*ret = (struct tool_arguments){.color = tool_option_terminal() && !wants_no_color()};
	fill(longs, letters);
	while ((c = getopt_long(argc, argv, letters, longs, NULL)) != -1)
		if (!take(ret, c))
			return false;
	if (ret->lines)
		ins_json_lines();
	if (optind < argc)
		ret->command = argv[optind++];
	for (; optind < argc; optind++) {
		if (ret->words == TOOL_WORDS)
			return tool_wrong(NULL, "%s: one argument too many", argv[optind]), false;
		ret->word[ret->words++] = argv[optind];
	}
	return true;
}

const char *tool_options_who(const struct tool_arguments *arguments, char *buf, size_t size)
{
	const char *module = arguments->option[TOOL_OPT_MODULE];

	snprintf(buf, size, "%s%s%s", arguments->word[0], module ? " --module " : "",
		 module ? module : "");
	return buf;
}

bool tool_parse_number(const char *text, uint64_t least, uint64_t most, uint64_t *ret)
{
	char *end;

	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	*ret = strtoull(text, &end, 10);
	return !*end && !errno && *ret >= least && *ret <= most;
}

bool tool_option_number(const struct tool_arguments *arguments, enum tool_option_id id,
			uint64_t least, uint64_t most, uint64_t fallback, uint64_t *ret)
{
	const char *text = arguments->option[id];

	*ret = fallback;
	if (!text || tool_parse_number(text, least, most, ret))
		return true;
	tool_wrong(NULL, "--%s %s: a number from %llu to %llu", tool_options[id].name, text,
		   (unsigned long long)least, (unsigned long long)most);
	return false;
}

bool tool_parse_id(const char *text, uint64_t *ret)
{
	return tool_parse_number(text, 1, UINT64_MAX, ret);
}

bool tool_option_frames(const struct tool_arguments *arguments, unsigned *ret)
{
	uint64_t n;

	if (!tool_option_number(arguments, TOOL_OPT_FRAMES, 1, UINT32_MAX, 0, &n))
		return false;
	*ret = (unsigned)n;
	return true;
}

bool tool_option_duration(const struct tool_arguments *arguments, enum tool_option_id id,
			  int64_t fallback, int64_t *ret)
{
	const char *text = arguments->option[id];

	*ret = fallback;
	if (!text || ins_duration_parse(text, ret))
		return true;
	tool_wrong(NULL, "--%s %s: a length of time like 20ms, 1.5s or 2m", tool_options[id].name,
		   text);
	return false;
}
