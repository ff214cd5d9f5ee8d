/* SPDX-License-Identifier: MIT */
/*
 * main.c - fiberctl: ask a running program about its fibers
 *
 * A command is a file cmd_<name>.c and a line in the table below. Options mean the same everywhere and
 * may stand anywhere; what a command takes is checked here, before anything is done.
 */
#include "fiberctl/fiberctl.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fiberctl/topics.h"
#include "inspect/plain.h"
#include "inspect/torn.h"

#define USAGE_WIDTH 19 /* in the list of all commands, which fits into 80 columns */

const struct ctl_command *const ctl_commands[] = {
	/* look */
	&ctl_list,
	&ctl_show,
	&ctl_bt,
	&ctl_stacks,
	&ctl_tree,
	/* why */
	&ctl_waits,
	&ctl_deadlock,
	&ctl_slow,
	&ctl_pinned,
	/* load */
	&ctl_top,
	&ctl_carriers,
	&ctl_metrics,
	/* keep, compare, repeat */
	&ctl_snapshot,
	&ctl_diff,
	&ctl_watch,
	/* change */
	&ctl_policy,
	&ctl_watchdog,
	&ctl_cancel,
	&ctl_wake,
	&ctl_audit,
	/* shells */
	&ctl_completion,
	NULL,
};

int ctl_cannot(const char *fmt, ...)
{
	char text[8192], plain[4 * sizeof text];
	va_list ap;

	fflush(stdout);
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	/* A program that refuses says why in its own words. */
	fprintf(stderr, "fiberctl: %s\n", ins_plain(text, plain, sizeof plain));
	return CTL_CANNOT;
}

int ctl_wrong(const struct ctl_command *command, const char *fmt, ...)
{
	va_list ap;

	fputs("fiberctl: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	if (command && command->name)
		fprintf(stderr, "\nTry 'fiberctl help %s'.\n", command->name);
	else
		fputs("\nTry 'fiberctl --help'.\n", stderr);
	return CTL_USAGE;
}

int ctl_written(int code)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return code;
	ctl_cannot("standard output: what was written is not whole: %s", strerror(errno));
	return CTL_PARTIAL;
}

bool ctl_parse_id(const char *text, uint64_t *ret)
{
	char *end;

	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	*ret = strtoull(text, &end, 10);
	return !*end && !errno && *ret > 0;
}

const struct ctl_command *ctl_command_find(const char *name)
{
	size_t i;

	for (i = 0; ctl_commands[i]; i++)
		if (strcmp(ctl_commands[i]->name, name) == 0)
			return ctl_commands[i];
	return NULL;
}

static int no_command(const char *name)
{
	return ctl_wrong(NULL, "%s: no such command", name);
}

static void put_option(const struct ctl_option *o)
{
	char letter[8] = "", name[64];

	if (o->letter)
		snprintf(letter, sizeof letter, "-%c,", o->letter);
	snprintf(name, sizeof name, "--%s%s%s", o->name, o->argument ? " " : "",
		 o->argument ? o->argument : "");
	printf("  %-3s %-20s %s\n", letter, name, o->summary);
}

static int help_command(const struct ctl_command *command)
{
	int i;

	printf("usage: fiberctl %s %s%s\n\n%s\n\n%s", command->name, command->usage,
	       command->options ? " [OPTION]..." : "", command->summary, command->help);
	if (command->options)
		putchar('\n');
	for (i = 0; i < CTL_OPT_COUNT; i++)
		if (command->options & CTL_TAKES(i))
			put_option(&ctl_options[i]);
	return ctl_written(CTL_WELL);
}

/* A usage that is too long for its column has a line to itself. */
static void put_command(const struct ctl_command *command)
{
	const char *end = strlen(command->usage) > USAGE_WIDTH ? "\n" : "";

	printf("  %-10s %-*s%s", command->name, *end ? 0 : USAGE_WIDTH + 1, command->usage, end);
	printf("%*s%s\n", *end ? 2 + 10 + 1 + USAGE_WIDTH + 1 : 0, "", command->summary);
}

static int help_all(void)
{
	size_t i;

	puts("usage: fiberctl [--json]\n"
	     "       fiberctl COMMAND PROCESS [ARGUMENTS] [OPTION]...\n"
	     "\n"
	     "Ask running programs about their fibers, over their control sockets. Without a\n"
	     "command: list the programs that can be asked. PROCESS is a process id, the name\n"
	     "of a program, or the path of a control socket (with a '/'); or a file that\n"
	     "'fiberctl snapshot' wrote.\n");
	for (i = 0; ctl_commands[i]; i++)
		put_command(ctl_commands[i]);
	puts("\nfiberctl help TOPIC:");
	for (i = 0; ctl_topics[i]; i++)
		printf("  %-30s %s\n", ctl_topics[i]->name, ctl_topics[i]->summary);
	puts("\n"
	     "  -j, --json[=lines]   print one JSON object, or an object a line\n"
	     "      --color WHEN     auto, always or never\n"
	     "  -h, --help           print this text; 'fiberctl help COMMAND' says more\n"
	     "  -V, --version        print the version\n"
	     "\n"
	     "Exit status: 0 all well, 1 something is missing (the output says what and why),\n"
	     "2 cannot reach the process or no such fiber, 3 a deadlock was found, 64 wrong\n"
	     "usage.");
	return ctl_written(CTL_WELL);
}

static int help(const struct ctl_arguments *arguments)
{
	const char *name = arguments->command;
	const struct ctl_topic *topic;

	if (name && strcmp(name, "help") == 0)
		name = arguments->words ? arguments->word[0] : NULL;
	if (!name)
		return help_all();
	if (ctl_command_find(name))
		return help_command(ctl_command_find(name));
	topic = ctl_topic_find(name);
	if (!topic)
		return ctl_wrong(NULL, "%s: no such command or topic", name);
	topic->print();
	return ctl_written(CTL_WELL);
}

int ctl_command_takes(const struct ctl_command *command, const struct ctl_arguments *arguments)
{
	int i;

	for (i = 0; i < CTL_OPT_COUNT && !command->passes; i++)
		if (arguments->given & ~command->options & CTL_TAKES(i))
			return ctl_wrong(command, "--%s: does not go with this command",
					 ctl_options[i].name);
	if (arguments->words > command->most)
		return ctl_wrong(command, "%s: one argument too many",
				 arguments->word[command->most]);
	if (arguments->words < command->least)
		return ctl_wrong(command, "%s: needs %s", command->name, command->usage);
	return CTL_WELL;
}

static int run(const struct ctl_command *command, const struct ctl_arguments *arguments)
{
	const int code = ctl_command_takes(command, arguments);

	return code == CTL_WELL ? command->run(arguments) : code;
}

int main(int argc, char **argv)
{
	struct ctl_arguments arguments;

	ins_torn_guard("fiberctl");
	if (!ctl_options_parse(argc, argv, &arguments))
		return CTL_USAGE;
	if (arguments.version) {
		puts("fiberctl " FIBER_VERSION);
		return ctl_written(CTL_WELL);
	}
	if (arguments.help || (arguments.command && strcmp(arguments.command, "help") == 0))
		return help(&arguments);
	if (!arguments.command)
		return run(&ctl_processes, &arguments);
	if (!ctl_command_find(arguments.command))
		return no_command(arguments.command);
	return run(ctl_command_find(arguments.command), &arguments);
}
