/* SPDX-License-Identifier: MIT */
/*
 * main.c - fiberctl: ask a running program about its fibers
 *
 * A command is a file cmd_<name>.c and a line in the table below. Options mean the same everywhere and
 * may stand anywhere; what a command takes is checked here, before anything is done.
 */
#include "fiberctl/fiberctl.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/torn.h"

static const struct ctl_command *const commands[] = {&ctl_list, &ctl_show, &ctl_bt, &ctl_policy,
						     &ctl_carriers};

#define COMMANDS (sizeof commands / sizeof commands[0])

int ctl_cannot(const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fputs("fiberctl: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
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

static const struct ctl_command *find_command(const char *name)
{
	size_t i;

	for (i = 0; i < COMMANDS; i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

static int help(const struct ctl_command *command)
{
	size_t i;

	if (command) {
		printf("usage: fiberctl %s %s\n\n%s\n\n%s", command->name, command->usage,
		       command->summary, command->help);
		return ctl_written(CTL_WELL);
	}
	puts("usage: fiberctl [--json]\n"
	     "       fiberctl COMMAND PROCESS [ARGUMENTS] [--json]\n"
	     "\n"
	     "Ask running programs about their fibers, over their control sockets. Without a\n"
	     "command: list the programs that can be asked. PROCESS is a process id, the name\n"
	     "of a program, or the path of a control socket (with a '/').\n");
	for (i = 0; i < COMMANDS; i++)
		printf("  %-8s %-34s %s\n", commands[i]->name, commands[i]->usage,
		       commands[i]->summary);
	puts("\n"
	     "  -j, --json     print one JSON object\n"
	     "  -h, --help     print this text; 'fiberctl help COMMAND' says more\n"
	     "  -V, --version  print the version\n"
	     "\n"
	     "Exit status: 0 all well, 1 something is missing (the output says what and why),\n"
	     "2 cannot reach the process or no such fiber, 64 wrong usage.");
	return ctl_written(CTL_WELL);
}

/* The words after the command's name are in arguments; are they what it takes? */
static int run(const struct ctl_command *command, const struct ctl_arguments *arguments)
{
	if (arguments->all && !command->takes_all)
		return ctl_wrong(command, "--all: does not go with this command");
	if (arguments->words < command->least)
		return ctl_wrong(command, "%s: needs %s", command->name, command->usage);
	return command->run(arguments);
}

static int take_words(int n, char **words, struct ctl_arguments *arguments, bool wants_help)
{
	const struct ctl_command *command;
	int i, most;

	if (!n)
		return wants_help ? help(NULL) : run(&ctl_processes, arguments);
	if (strcmp(words[0], "help") == 0) {
		command = n > 1 ? find_command(words[1]) : NULL;
		if (n > 1 && !command)
			return ctl_wrong(NULL, "%s: no such command", words[1]);
		return help(command);
	}
	command = find_command(words[0]);
	if (!command)
		return ctl_wrong(NULL, "%s: no such command", words[0]);
	if (wants_help)
		return help(command);
	most = command->most;
	for (i = 1; i < n; i++) {
		if (i > most)
			return ctl_wrong(command, "%s: one argument too many", words[i]);
		arguments->word[arguments->words++] = words[i];
	}
	return run(command, arguments);
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{"all", no_argument, NULL, 'a'},
		{"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'V'},
		{NULL, 0, NULL, 0},
	};
	struct ctl_arguments arguments = {0};
	bool wants_help = false;
	int c;

	ins_torn_guard("fiberctl");
	while ((c = getopt_long(argc, argv, "ajhV", longs, NULL)) != -1) {
		switch (c) {
		case 'a':
			arguments.all = true;
			break;
		case 'j':
			arguments.json = true;
			break;
		case 'h':
			wants_help = true;
			break;
		case 'V':
			puts("fiberctl " FIBER_VERSION);
			return ctl_written(CTL_WELL);
		default:
			fputs("Try 'fiberctl --help'.\n", stderr);
			return CTL_USAGE;
		}
	}
	return take_words(argc - optind, argv + optind, &arguments, wants_help);
}
