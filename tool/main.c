/* SPDX-License-Identifier: MIT */
/*
 * main.c - run a tool: parse its command line, print help, run one command
 *
 * Options mean the same for all commands and may be anywhere on the line. The arguments of a
 * command are checked here, before it starts.
 */
#include "tool/main.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tool/command.h"
#include "tool/report.h"
#include "tool/round.h"
#include "tool/topics.h"
#include "inspect/elf/sigbus_guard.h"

#define USAGE_WIDTH 19 /* in the list of all commands, which fits into 80 columns */

static void put_option(const struct tool_option *o)
{
	char letter[8] = "", name[64];

	if (o->letter)
		snprintf(letter, sizeof letter, "-%c,", o->letter);
	snprintf(name, sizeof name, "--%s%s%s", o->name, o->argument ? " " : "",
		 o->argument ? o->argument : "");
	printf("  %-3s %-20s %s\n", letter, name, o->summary);
}

/* Print the command line and, below it, its output. */
static void put_example(const struct tool_command *command)
{
	const char *line = command->example, *end;

	printf("\nExample:\n  $ %s ", tool->name);
	for (; *line; line = end) {
		end = strchr(line, '\n') + 1;
		/* An empty line has no blanks. */
		printf("%s%.*s", line == command->example || *line == '\n' ? "" : "  ",
		       (int)(end - line), line);
	}
}

static int help_command(const struct tool_command *command)
{
	const uint64_t options = command->options | tool->options;
	int i;

	printf("usage: %s %s %s%s\n\n%s\n\n%s", tool->name, command->name, command->usage,
	       options ? " [OPTION]..." : "", command->summary, command->help);
	if (command->example)
		put_example(command);
	if (options)
		putchar('\n');
	for (i = 0; i < TOOL_OPT_COUNT; i++)
		if (options & TOOL_TAKES(i))
			put_option(&tool_options[i]);
	return tool_written(TOOL_WELL);
}

/* A usage that is too long for its column gets its own line. */
static void put_command(const struct tool_command *command)
{
	const char *end = strlen(command->usage) > USAGE_WIDTH ? "\n" : "";

	printf("  %-10s %-*s%s", command->name, *end ? 0 : USAGE_WIDTH + 1, command->usage, end);
	printf("%*s%s\n", *end ? 2 + 10 + 1 + USAGE_WIDTH + 1 : 0, "", command->summary);
}

static int help_all(void)
{
	size_t i;

	puts(tool->usage);
	for (i = 0; tool->commands[i]; i++)
		put_command(tool->commands[i]);
	printf("\n%s help TOPIC:\n", tool->name);
	for (i = 0; tool_topics[i]; i++)
		printf("  %-30s %s\n", tool_topics[i]->name, tool_topics[i]->summary);
	putchar('\n');
	for (i = 0; i < TOOL_OPT_COUNT; i++)
		if ((tool->bare->options | tool->options) & TOOL_TAKES(i))
			put_option(&tool_options[i]);
	puts("  -j, --json[=lines]   print one JSON object, or an object a line\n"
	     "      --color WHEN     auto, always or never\n"
	     "  -h, --help           print this text; 'help COMMAND' says more\n"
	     "  -V, --version        print the version\n"
	     "");
	puts(tool->exits);
	return tool_written(TOOL_WELL);
}

static int help(const struct tool_arguments *arguments)
{
	const char *name = arguments->command;
	const struct tool_topic *topic;

	if (name && strcmp(name, "help") == 0)
		name = arguments->words ? arguments->word[0] : NULL;
	if (!name)
		return help_all();
	if (tool_command_find(name))
		return help_command(tool_command_find(name));
	topic = tool_topic_find(name);
	if (!topic)
		return tool_wrong(NULL, "%s: no such command or topic", name);
	topic->print();
	return tool_written(TOOL_WELL);
}

static int run(const struct tool_command *command, const struct tool_arguments *arguments)
{
	int code = tool_command_takes(command, arguments);

	if (code != TOOL_WELL)
		return code;
	code = tool_left_out_code(command->run(arguments));
	if (tool->ended)
		tool->ended(arguments);
	return code;
}

/* The first word of the bare command is in the place of a command. */
static void make_bare(struct tool_arguments *a)
{
	int i;

	if (!a->command)
		return;
	for (i = a->words < TOOL_WORDS ? a->words++ : TOOL_WORDS - 1; i > 0; i--)
		a->word[i] = a->word[i - 1];
	a->word[0] = a->command;
	a->command = NULL;
}

/*
 * The parent may have closed 0, 1 or 2. The next opened file would get that number, and output
 * would go into a control socket or a file. So open a descriptor there that fails: a write is then
 * reported as an error.
 */
static bool hold_standard(void)
{
	static const int how[] = {O_WRONLY, O_RDONLY, O_WRONLY};
	int fd;

	for (fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", how[fd]) != fd)
			return false;
	return true;
}

int tool_main(const struct tool *program, int argc, char **argv)
{
	struct tool_arguments arguments;
	int code;

	tool = program;
	if (!hold_standard())
		return tool_cannot("/dev/null: %s", strerror(errno));
	ins_sigbus_guard(tool->name);
	argv[0] = (char *)tool->name; /* getopt's messages start with this name */
	if (!tool_options_parse(argc, argv, &arguments))
		return TOOL_USAGE;
	if (arguments.version) {
		printf("%s " FIBER_VERSION "\n", tool->name);
		return tool_written(TOOL_WELL);
	}
	if (arguments.help || (arguments.command && strcmp(arguments.command, "help") == 0))
		return help(&arguments);
	if (arguments.command && !tool_command_find(arguments.command)) {
		if (!tool->bare_takes)
			return tool_command_unknown(arguments.command);
		make_bare(&arguments);
	}
	code = tool->arrange ? tool->arrange(&arguments) : TOOL_WELL;
	if (code != TOOL_WELL)
		return code;
	return run(arguments.command ? tool_command_find(arguments.command) : tool->bare,
		   &arguments);
}
