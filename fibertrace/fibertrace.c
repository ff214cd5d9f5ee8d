/* SPDX-License-Identifier: MIT */
/*
 * fibertrace.c - the fibers of a process, a core file or a snapshot, without anybody's help: the table of commands
 *
 * Nothing is asked of the program: its memory is read, whether it runs, hangs, was stopped or is a core file.
 */
#include "fibertrace/fibertrace.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "inspect/core.h"
#include "inspect/elsewhere.h"
#include "inspect/plain.h"
#include "inspect/render.h"
#include "inspect/snapshot.h"

static const struct tool_command *const commands[] = {
	/* look */
	&tool_list,
	&tool_show,
	&tool_bt,
	&tool_stacks,
	&tool_tree,
	/* why */
	&tool_waits,
	&tool_deadlock,
	/* compare, convert */
	&tool_diff,
	&trace_to_core,
	/* over time */
	&trace_record,
	&trace_export,
	&trace_report,
	/* shells */
	&tool_completion,
	NULL,
};

/* Of the process that was looked at. */
static struct ins_pauses pauses;

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

/* The file that an option names is the first word, as a process would be. */
static int arrange(struct tool_arguments *a)
{
	const char *core = a->option[TOOL_OPT_CORE], *snapshot = a->option[TOOL_OPT_SNAPSHOT];
	int i;

	if (core && snapshot)
		return tool_wrong(NULL, "--snapshot: either that or --core");
	if (!core && !snapshot)
		return TOOL_WELL;
	if (a->words == TOOL_WORDS)
		return tool_wrong(NULL, "%s: one argument too many", a->word[TOOL_WORDS - 1]);
	for (i = a->words++; i > 0; i--)
		a->word[i] = a->word[i - 1];
	a->word[0] = core ? core : snapshot;
	return TOOL_WELL;
}

static int open_source(const struct tool_arguments *a, const char *who, struct ins_source **ret)
{
	struct ins_error error = {""};
	char plain[4096];
	pid_t pid = 0;
	int rc = 0;

	if (a->option[TOOL_OPT_DEBUG_DIR])
		rc = ins_elsewhere_debug(a->option[TOOL_OPT_DEBUG_DIR], &error);
	if (rc == 0 && a->option[TOOL_OPT_SYSROOT])
		rc = ins_elsewhere_sysroot(a->option[TOOL_OPT_SYSROOT], &error);
	if (rc < 0)
		return tool_cannot("%s", error.text);

	if (who == a->option[TOOL_OPT_CORE])
		rc = ins_source_open_core(who, a->option[TOOL_OPT_EXE], &error, ret);
	else if (who == a->option[TOOL_OPT_SNAPSHOT])
		rc = ins_source_open_snapshot(who, &error, ret);
	else if (parse_pid(who, &pid))
		rc = ins_source_open_live(pid, &error, ret);
	else if (ins_core_meant(who))
		rc = ins_source_open_core(who, a->option[TOOL_OPT_EXE], &error, ret);
	else if (ins_snapshot_meant(who))
		rc = ins_source_open_snapshot(who, &error, ret);
	else
		return tool_wrong(NULL, "%s: is no process id, and no file",
				  ins_plain(who, plain, sizeof plain));
	if (rc < 0)
		return tool_cannot("%s", error.text);
	if (pid && !a->option[TOOL_OPT_NO_PAUSE])
		(*ret)->pauses = &pauses;
	return TOOL_WELL;
}

static void say_pauses(const struct tool_arguments *a)
{
	char longest[32], total[32], copy[32];

	if (a->option[TOOL_OPT_VERBOSE])
		fprintf(stderr,
			"fibertrace: stopped %llu times: at most %s at once, %s in all; the "
			"longest copy "
			"took %s\n",
			(unsigned long long)pauses.threads,
			ins_words_duration(pauses.longest_ns, longest, sizeof longest),
			ins_words_duration(pauses.total_ns, total, sizeof total),
			ins_words_duration(pauses.copy_ns, copy, sizeof copy));
}

const struct tool tool = {
	.name = "fibertrace",
	.usage =
		"usage: fibertrace [--each] PROCESS [OPTION]...\n"
		"       fibertrace [--each] --core CORE [EXE] [OPTION]...\n"
		"       fibertrace COMMAND PROCESS [ARGUMENTS] [OPTION]...\n"
		"\n"
		"Print the backtraces of every fiber of a process, or of a core file, without\n"
		"its cooperation; or of a snapshot that 'fiberctl snapshot' wrote. Fibers in the\n"
		"same place are grouped and counted. PROCESS is a process id, or a core file or a\n"
		"snapshot. The commands are those of fiberctl, without the program's help.\n",
	.exits = "Exit status: 0 all well, 1 something is missing (the output says what and why),\n"
		 "2 cannot read the process or file, 3 a deadlock was found, 64 wrong usage.",
	.commands = commands,
	.bare = &trace_dump,
	.bare_takes = true,
	.options = TOOL_TAKES(TOOL_OPT_CORE) | TOOL_TAKES(TOOL_OPT_EXE) |
		   TOOL_TAKES(TOOL_OPT_SNAPSHOT) | TOOL_TAKES(TOOL_OPT_NO_PAUSE) |
		   TOOL_TAKES(TOOL_OPT_VERBOSE) | TOOL_TAKES(TOOL_OPT_SYSROOT) |
		   TOOL_TAKES(TOOL_OPT_DEBUG_DIR),
	.arrange = arrange,
	.open = open_source,
	.ended = say_pauses,
};
