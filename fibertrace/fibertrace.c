/* SPDX-License-Identifier: MIT */
/*
 * fibertrace.c - the table of commands of fibertrace
 *
 * fibertrace inspects the fibers of a process, a core file or a snapshot. Nothing is asked of the
 * program: its memory is read, whether it runs, hangs, is stopped or is a core file.
 */
#include "fibertrace/fibertrace.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "inspect/corefile/core.h"
#include "inspect/elf/debug_search.h"
#include "inspect/source/source.h"
#include "inspect/text/escape.h"
#include "inspect/source/registry.h"
#include "inspect/render/render.h"
#include "inspect/source/snapshot.h"
#include "inspect/symbols/fiber_names.h"
#include "inspect/text/duration.h"
#include "inspect/threads/threads.h"
#include "tool/cmd/commands.h"
#include "tool/command.h"
#include "tool/named.h"
#include "tool/report.h"
#include "tool/sockets.h"

static const struct tool_command *const commands[] = {
	/* look */
	&tool_list,
	&tool_show,
	&tool_bt,
	&tool_stacks,
	&tool_tree,
	/* why */
	&tool_why,
	&tool_waits,
	&tool_deadlock,
	&trace_leaks,
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

/* Pauses of the inspected process. */
static struct ins_pauses pauses;

/* The file of --core or --snapshot becomes the first word, in place of a process. */
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

/* Set the folders of module files. */
static int look_elsewhere(const struct tool_arguments *a)
{
	struct ins_error error = {""};
	int rc = 0;

	if (a->option[TOOL_OPT_DEBUG_DIR])
		rc = ins_debug_search_debug(a->option[TOOL_OPT_DEBUG_DIR], &error);
	if (rc == 0 && a->option[TOOL_OPT_SYSROOT])
		rc = ins_debug_search_sysroot(a->option[TOOL_OPT_SYSROOT], &error);
	return rc < 0 ? tool_cannot("%s", error.text) : TOOL_WELL;
}

/* Whether the command can show threads. */
static bool takes_threads(const struct tool_arguments *a)
{
	const struct tool_command *command =
		a->command ? tool_command_find(a->command) : fibertrace.bare;

	return command && command->threads;
}

/* Whether the threads are to be shown, after rc: of a search for fibers, or 0 before that. */
static bool wants_threads(const struct tool_arguments *a, int rc)
{
	if (a->option[TOOL_OPT_THREADS])
		return true;
	return rc == -ENOENT && takes_threads(a) && !a->option[TOOL_OPT_MODULE];
}

/* Show the threads that fibers wait for, or that wait for fibers, where the command can. */
static int mix_threads(const struct tool_arguments *a, struct ins_error *error,
		       struct ins_source *source)
{
	int rc = takes_threads(a) ? ins_threads_mix(source) : 0;

	if (rc != -ENOMEM)
		return 0;
	ins_source_close(source);
	return ins_error_set(error, rc, "out of memory");
}

/* rc: of opening the source without regard to fibers. */
static int show_threads(const struct tool_arguments *a, int rc, struct ins_error *error,
			struct ins_source **ret)
{
	if (rc < 0)
		return rc;
	rc = ins_threads_show(*ret, !a->option[TOOL_OPT_THREADS]);
	if (rc == 0)
		return 0;
	ins_source_close(*ret);
	return ins_error_set(error, rc, "out of memory");
}

static int open_live(const struct tool_arguments *a, pid_t pid, struct ins_source **ret)
{
	struct ins_error error = {""};
	struct tool_socket socket;
	/* The registry says what threads wait for in the library. */
	int rc = ins_source_open_live(pid, &error, ret);

	if (rc == 0 && a->option[TOOL_OPT_THREADS])
		rc = show_threads(a, rc, &error, ret);
	else if (rc == 0)
		rc = mix_threads(a, &error, *ret);
	else if (wants_threads(a, rc))
		rc = show_threads(a, ins_source_open_process(pid, &error, ret), &error, ret);
	if (rc == -EPERM && tool_sockets_of(pid, &socket))
		return tool_cannot(
			"%s; or ask it itself, which takes no such right: 'fiberctl bt %d'",
			error.text, (int)pid);
	if (rc < 0)
		return tool_cannot("%s", error.text);
	if (!a->option[TOOL_OPT_NO_PAUSE])
		(*ret)->pauses = &pauses;
	return TOOL_WELL;
}

/* sought: it was searched as a process before. */
static int open_file(const struct tool_arguments *a, const char *path, bool core, bool sought,
		     struct ins_source **ret)
{
	struct ins_error error = {""};
	const char *exe = a->option[TOOL_OPT_EXE];
	int rc;

	rc = core ? ins_source_open_core(path, exe, &error, ret)
		  : ins_source_open_snapshot(path, &error, ret);
	if (rc == 0 && a->option[TOOL_OPT_THREADS])
		rc = show_threads(a, rc, &error, ret);
	else if (rc == 0)
		rc = mix_threads(a, &error, *ret);
	else if (core && wants_threads(a, rc))
		rc = show_threads(a, ins_source_open_core_process(path, exe, &error, ret), &error,
				  ret);
	if (rc == 0)
		return TOOL_WELL;
	return tool_cannot("%s%s", error.text,
			   sought ? "; and no process with fibers has that name" : "");
}

static int open_word(const struct tool_arguments *a, const char *who, struct ins_source **ret)
{
	const bool path = strchr(who, '/') != NULL;
	bool core, file;
	char plain[4096];
	pid_t pid = 0;
	int code = TOOL_WELL;

	if (who == a->option[TOOL_OPT_CORE] || who == a->option[TOOL_OPT_SNAPSHOT])
		return open_file(a, who, who == a->option[TOOL_OPT_CORE], false, ret);
	core = ins_core_meant(who);
	file = core || ins_snapshot_meant(who);
	if (path && !file)
		return tool_wrong(NULL, "%s: is no process, and no file",
				  ins_escape(who, plain, sizeof plain));
	/* A process is found by its name whatever libraries it has. */
	ins_registry_choose(NULL);
	if (!path)
		code = tool_named_look(who, file, takes_threads(a) && !a->option[TOOL_OPT_MODULE],
				       &pid);
	if (code != TOOL_WELL)
		return code;
	ins_registry_choose(a->option[TOOL_OPT_MODULE]);
	return pid ? open_live(a, pid, ret) : open_file(a, who, core, !path, ret);
}

static int open_source(const struct tool_arguments *a, const char *who, struct ins_source **ret)
{
	int code = look_elsewhere(a);

	if (a->option[TOOL_OPT_THREADS] && !takes_threads(a))
		return tool_wrong(tool_command_find(a->command),
				  "--threads: does not go with this command");
	ins_registry_choose(a->option[TOOL_OPT_MODULE]);
	if (code == TOOL_WELL)
		code = open_word(a, who, ret);
	if (code == TOOL_WELL)
		(*ret)->watched = true;
	if (code == TOOL_WELL && ins_fiber_names_begin(*ret) < 0)
		code = tool_cannot("out of memory");
	return code;
}

static void say_pauses(const struct tool_arguments *a)
{
	char longest[32], total[32], copy[32];

	if (a->option[TOOL_OPT_VERBOSE])
		fprintf(stderr,
			"fibertrace: stopped %llu time%s: at most %s at once, %s in all; the "
			"longest copy took %s\n",
			(unsigned long long)pauses.threads, pauses.threads == 1 ? "" : "s",
			ins_duration_text(pauses.longest_ns, longest, sizeof longest),
			ins_duration_text(pauses.total_ns, total, sizeof total),
			ins_duration_text(pauses.copy_ns, copy, sizeof copy));
}

const struct tool fibertrace = {
	.name = "fibertrace",
	.usage =
		"usage: fibertrace [--each] PROCESS [OPTION]...\n"
		"       fibertrace [--each] --core CORE [EXE] [OPTION]...\n"
		"       fibertrace COMMAND PROCESS [ARGUMENTS] [OPTION]...\n"
		"\n"
		"Print the backtraces of every fiber of a process, or of a core file, without\n"
		"its cooperation; or of a snapshot that 'fiberctl snapshot' wrote. Fibers in the\n"
		"same place are grouped and counted. PROCESS is a process id, the name of a\n"
		"program, or a core file or a snapshot. The commands are those of fiberctl,\n"
		"without the program's help. Of a program without fibers, the threads are shown.\n",
	.exits = "Exit status: 0 all well, 1 something is missing (the output says what and why),\n"
		 "2 cannot read the process or file, 3 a deadlock or lost fibers were found,\n"
		 "4 'why' found something slow, 64 wrong usage.",
	.commands = commands,
	.bare = &trace_dump,
	.bare_takes = true,
	.options = TOOL_TAKES(TOOL_OPT_CORE) | TOOL_TAKES(TOOL_OPT_EXE) |
		   TOOL_TAKES(TOOL_OPT_SNAPSHOT) | TOOL_TAKES(TOOL_OPT_MODULE) |
		   TOOL_TAKES(TOOL_OPT_NO_PAUSE) | TOOL_TAKES(TOOL_OPT_VERBOSE) |
		   TOOL_TAKES(TOOL_OPT_THREADS) | TOOL_TAKES(TOOL_OPT_SYSROOT) |
		   TOOL_TAKES(TOOL_OPT_DEBUG_DIR),
	.arrange = arrange,
	.open = open_source,
	.ended = say_pauses,
};
