/* SPDX-License-Identifier: MIT */
/*
 * cmd_profile.c - where a program used its CPUs, or where its fibers waited, over some time
 *
 * Three modes collect stacks with a number and a time each (profile.h). All of them have the same
 * outputs (profile_show.h).
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "fiberctl/fiberctl.h"
#include "fiberctl/interrupt.h"
#include "fiberctl/profile_show.h"
#include "inspect/symbols/fiber_names.h"
#include "inspect/text/escape.h"
#include "inspect/text/timestamp.h"
#include "tool/cmd/flames.h"
#include "tool/process.h"
#include "tool/report.h"
#include "wire/wire.h"

#define LENGTH	INT64_C(10000000000)   /* ns, without --for */
#define LONGEST INT64_C(3600000000000) /* ns */
#define ROWS	30		       /* of the table, without --limit */
#define MODES	(TOOL_TAKES(TOOL_OPT_CPU) | TOOL_TAKES(TOOL_OPT_WAIT) | TOOL_TAKES(TOOL_OPT_BLOCK))

/* One of the three: its option, and what is collected. */
struct mode {
	const char *name;
	int (*collect)(struct ctl_profile *p, struct ins_error *error);
	bool block;
	struct ins_flame_kind kind;
};

static const struct mode modes[] = {
	{.name = "cpu",
	 .collect = ctl_profile_cpu,
	 .kind = {.number = {"samples", "count", "samples"},
		  .time = {"cpu", "nanoseconds", "CPU time"},
		  .one = "sample",
		  .by_time = true,
		  .period = 1000000000 / FIB_WIRE_PROFILE_HZ}},
	{.name = "wait",
	 .collect = ctl_profile_waits,
	 .kind = {.number = {"waits", "count", "waits"},
		  .time = {"delay", "nanoseconds", "time in waits"},
		  .one = "wait",
		  .by_time = true}},
	{.name = "block",
	 .collect = ctl_profile_waits,
	 .block = true,
	 .kind = {.number = {"waits", "count", "waits behind others"},
		  .time = {"delay", "nanoseconds", "time in waits behind others"},
		  .one = "wait",
		  .by_time = true}},
};

struct asked {
	const struct tool_arguments *arguments;
	const struct mode *mode;
	uint64_t limit;
	struct ctl_profile p;
};

static int collect(struct asked *a)
{
	const struct ctl_profile_show show = {
		.arguments = a->arguments,
		.mode = a->mode->name,
		.kind = &a->mode->kind,
		.limit = a->limit,
		.began = ins_timestamp_wall(),
		.p = &a->p,
	};
	struct ins_error error = {""};
	int rc = ins_unwinder_new(a->p.source, &a->p.unwinder);

	if (rc == 0)
		ins_unwinder_hide(a->p.unwinder, !a->arguments->option[TOOL_OPT_ALL_FRAMES]);
	if (rc == 0)
		rc = ins_profile_new(&a->p.profile);
	ctl_interrupt_begin();
	if (rc == 0)
		rc = a->mode->collect(&a->p, &error);
	ctl_interrupt_end();
	if (rc < 0)
		return tool_cannot("%s", error.text[0] ? error.text : strerror(-rc));
	return ctl_profile_show(&show);
}

/* Standard output has one format. */
static int one_format(const struct tool_arguments *arguments)
{
	const bool folded = arguments->option[TOOL_OPT_FOLDED] != NULL;
	const bool files = ctl_profile_files(arguments);

	if (arguments->json && folded)
		return tool_wrong(&ctl_profile, "--folded: cannot be combined with --json");
	if (files && (arguments->json || folded))
		return tool_wrong(&ctl_profile, "--%s: cannot be combined with a file",
				  folded ? "folded" : "json");
	if (!files && arguments->option[TOOL_OPT_FORCE])
		return tool_wrong(&ctl_profile,
				  "--force: needs -o, --svg, --speedscope or --pprof");
	if (tool_flames_to_output(arguments) > 1)
		return tool_wrong(&ctl_profile, "only one file can be standard output ('-')");
	if (tool_flames_to_output(arguments) && isatty(STDOUT_FILENO))
		return tool_wrong(&ctl_profile, "-o -: not to a terminal");
	return TOOL_WELL;
}

static int prepare(struct asked *a)
{
	const struct tool_arguments *arguments = a->arguments;
	const uint64_t given = arguments->given & MODES;
	int code = one_format(arguments);

	if (code != TOOL_WELL)
		return code;
	if (given & (given - 1))
		return tool_wrong(&ctl_profile, "only one of --cpu, --wait and --block");
	a->mode = &modes[arguments->option[TOOL_OPT_WAIT]    ? 1
			 : arguments->option[TOOL_OPT_BLOCK] ? 2
							     : 0];
	a->p.block = a->mode->block;
	if (!tool_option_duration(arguments, TOOL_OPT_FOR, LENGTH, &a->p.length) ||
	    !tool_option_number(arguments, TOOL_OPT_LIMIT, 1, UINT64_MAX,
				arguments->json ? 0 : ROWS, &a->limit))
		return TOOL_USAGE;
	if (a->p.length <= 0 || a->p.length > LONGEST)
		return tool_wrong(&ctl_profile, "--for %s: must be more than 0 and at most an hour",
				  arguments->option[TOOL_OPT_FOR]);
	return TOOL_WELL;
}

static int open_running(struct asked *a)
{
	const char *who = a->arguments->word[0];
	char clean[512];
	int code = tool_process_open(who, &a->p.source);

	if (code != TOOL_WELL)
		return code;
	if (ins_source_still(a->p.source))
		return tool_cannot("%s: is a snapshot: only a running program can be profiled",
				   ins_escape(who, clean, sizeof clean / 4));
	return ins_fiber_names_begin(a->p.source) < 0 ? tool_cannot("out of memory") : TOOL_WELL;
}

static int run(const struct tool_arguments *arguments)
{
	struct asked a = {.arguments = arguments};
	int code = prepare(&a);

	if (code == TOOL_WELL)
		code = open_running(&a);
	if (code == TOOL_WELL)
		code = collect(&a);
	ins_profile_free(a.p.profile);
	ins_unwinder_free(a.p.unwinder);
	ins_problems_free(&a.p.problems);
	ins_source_close(a.p.source);
	return code;
}

const struct tool_command ctl_profile = {
	.name = "profile",
	.usage = "PROCESS",
	.summary = "where it computes, or where its fibers wait",
	.help = "For 10 seconds, or the time that --for gives:\n"
		"--cpu (without another mode): where the carriers used their CPUs, from 100\n"
		"samples a second of each; [scheduler]: a carrier that ran no fiber.\n"
		"--wait: where fibers waited, and for how long.\n"
		"--block: where fibers waited for what others hold, and behind whom: below the\n"
		"stack of a waiter stand what it waits for and the stack of the holder.\n"
		"The table has each function, its time and that of what it called. For a profile\n"
		"in a file: -o or --pprof for 'go tool pprof', '-o -' to standard output; --svg,\n"
		"--speedscope. An existing file is only replaced with --force. --folded: one line\n"
		"for each stack, with its time in ns. See fiberctl-profile(1).\n",
	.example = "profile compute --for 4s\n"
		   "cpu of compute (process 25346), 4s: 620 samples, 2.9s\n"
		   "       SELF      %       TOTAL      %   SAMPLES  FUNCTION\n"
		   "       2.1s  74.7%        2.1s  74.7%       463  compute_three at ...\n"
		   "     0.744s  25.3%      0.744s  25.3%       157  compute_one at ...\n"
		   "...\n",
	.least = 1,
	.most = 1,
	.live = true,
	.options = MODES | TOOL_TAKES_FLAMES | TOOL_TAKES(TOOL_OPT_ALL_FRAMES) |
		   TOOL_TAKES(TOOL_OPT_FOLDED) | TOOL_TAKES(TOOL_OPT_FOR) |
		   TOOL_TAKES(TOOL_OPT_FORCE) | TOOL_TAKES(TOOL_OPT_LIMIT) |
		   TOOL_TAKES(TOOL_OPT_OUTPUT),
	.run = run,
};
