/* SPDX-License-Identifier: MIT */
/* completion_fish.c - lines for fish's `complete`, each with the condition under which it holds. */
#include <stdio.h>
#include <string.h>

#include "tool/completion.h"
#include "tool/topics.h"

/* Text between single quotes. */
static void put_text(const char *text)
{
	putchar('\'');
	for (; *text; text++) {
		if (strchr("'\\", *text))
			putchar('\\');
		putchar(*text);
	}
	putchar('\'');
}

static void put_option(const struct tool_command *c, const struct tool_option *o)
{
	printf("complete -c %s -n '__%s_command %s' -l %s", tool.name, tool.name, c->name, o->name);
	if (o->letter)
		printf(" -s %c", o->letter);
	if (o->argument)
		fputs(tool_hint(o->argument) == TOOL_HINT_FILE ? " -r -F" : " -x", stdout);
	fputs(" -d ", stdout);
	put_text(o->summary);
	putchar('\n');
}

static void put_command(const struct tool_command *c)
{
	char word[256];
	int i;

	printf("complete -c %s -n __%s_no_command -a %s -d ", tool.name, tool.name, c->name);
	put_text(c->summary);
	printf("\ncomplete -c %s -n '__%s_command help' -a %s -d ", tool.name, tool.name, c->name);
	put_text(c->summary);
	putchar('\n');
	for (i = 0; i < TOOL_OPT_COUNT; i++)
		if ((c->options | tool.options) & TOOL_TAKES(i))
			put_option(c, &tool_options[i]);
	for (i = 0; i < TOOL_WORDS && tool_usage_word(c->usage, i, word, sizeof word); i++) {
		if (tool_hint(word) == TOOL_HINT_NONE)
			continue;
		printf("complete -c %s -n '__%s_word %s %d' ", tool.name, tool.name, c->name, i);
		if (tool_hint(word) == TOOL_HINT_PROCESS)
			tool_completion_say("-a '(__" TOOL_NAME "_processes)'");
		else if (tool_hint(word) == TOOL_HINT_FILE)
			puts("-F");
		else
			printf("-a '%s'\n", word);
	}
}

void tool_completion_fish(void)
{
	size_t i;

	tool_completion_say(
		"# fish completion for " TOOL_NAME ", printed by '" TOOL_NAME " completion fish'\n"
		"function __" TOOL_NAME "_processes\n"
		"\t" TOOL_COMPLETION_PROCESSES "\nend\n\n"
		"# The words that are no options, without the one that is being typed.\n"
		"function __" TOOL_NAME "_words\n"
		"\tstring match -v -- '-*' (commandline -opc)[2..-1]\nend\n\n"
		"function __" TOOL_NAME "_no_command\n"
		"\ttest (count (__" TOOL_NAME "_words)) -eq 0\nend\n\n"
		"function __" TOOL_NAME "_command\n"
		"\tset -l words (__" TOOL_NAME "_words)\n"
		"\ttest (count $words) -ge 1; and test $words[1] = $argv[1]\nend\n\n"
		"function __" TOOL_NAME "_word\n"
		"\tset -l words (__" TOOL_NAME "_words)\n"
		"\ttest (count $words) -eq (math $argv[2] + 1); and test $words[1] = "
		"$argv[1]\nend\n\n"
		"complete -c " TOOL_NAME " -f\n"
		"complete -c " TOOL_NAME " -s j -l json -d 'print JSON'\n"
		"complete -c " TOOL_NAME " -l color -x -a 'auto always never' -d 'use colors'\n"
		"complete -c " TOOL_NAME " -s h -l help -d 'print help'\n"
		"complete -c " TOOL_NAME " -s V -l version -d 'print the version'\n"
		"complete -c " TOOL_NAME " -n __" TOOL_NAME
		"_no_command -a help -d 'explain a command or a "
		"topic'");
	for (i = 0; tool_topics[i]; i++) {
		printf("complete -c %s -n '__%s_command help' -a %s -d ", tool.name, tool.name,
		       tool_topics[i]->name);
		put_text(tool_topics[i]->summary);
		putchar('\n');
	}
	if (tool.bare_takes)
		tool_completion_say("complete -c " TOOL_NAME " -n __" TOOL_NAME
				    "_no_command -a '(__" TOOL_NAME "_processes)'");
	for (i = 0; tool.commands[i]; i++)
		put_command(tool.commands[i]);
}
