/* SPDX-License-Identifier: MIT */
/* completion_fish.c - lines for fish's `complete`, each with the condition under which it holds. */
#include <stdio.h>
#include <string.h>

#include "fiberctl/completion.h"
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
	printf("complete -c fiberctl -n '__fiberctl_command %s' -l %s", c->name, o->name);
	if (o->letter)
		printf(" -s %c", o->letter);
	if (o->argument)
		fputs(ctl_hint(o->argument) == CTL_HINT_FILE ? " -r -F" : " -x", stdout);
	fputs(" -d ", stdout);
	put_text(o->summary);
	putchar('\n');
}

static void put_command(const struct tool_command *c)
{
	char word[256];
	int i;

	printf("complete -c fiberctl -n __fiberctl_no_command -a %s -d ", c->name);
	put_text(c->summary);
	printf("\ncomplete -c fiberctl -n '__fiberctl_command help' -a %s -d ", c->name);
	put_text(c->summary);
	putchar('\n');
	for (i = 0; i < TOOL_OPT_COUNT; i++)
		if (c->options & TOOL_TAKES(i))
			put_option(c, &tool_options[i]);
	for (i = 0; i < TOOL_WORDS && ctl_usage_word(c->usage, i, word, sizeof word); i++) {
		if (ctl_hint(word) == CTL_HINT_NONE)
			continue;
		printf("complete -c fiberctl -n '__fiberctl_word %s %d' ", c->name, i);
		if (ctl_hint(word) == CTL_HINT_PROCESS)
			puts("-a '(__fiberctl_processes)'");
		else if (ctl_hint(word) == CTL_HINT_FILE)
			puts("-F");
		else
			printf("-a '%s'\n", word);
	}
}

void ctl_completion_fish(void)
{
	size_t i;

	puts("# fish completion for fiberctl, printed by 'fiberctl completion fish'\n"
	     "function __fiberctl_processes\n"
	     "\t" CTL_COMPLETION_PROCESSES "\nend\n\n"
	     "# The words that are no options, without the one that is being typed.\n"
	     "function __fiberctl_words\n"
	     "\tstring match -v -- '-*' (commandline -opc)[2..-1]\nend\n\n"
	     "function __fiberctl_no_command\n"
	     "\ttest (count (__fiberctl_words)) -eq 0\nend\n\n"
	     "function __fiberctl_command\n"
	     "\tset -l words (__fiberctl_words)\n"
	     "\ttest (count $words) -ge 1; and test $words[1] = $argv[1]\nend\n\n"
	     "function __fiberctl_word\n"
	     "\tset -l words (__fiberctl_words)\n"
	     "\ttest (count $words) -eq (math $argv[2] + 1); and test $words[1] = $argv[1]\nend\n\n"
	     "complete -c fiberctl -f\n"
	     "complete -c fiberctl -s j -l json -d 'print JSON'\n"
	     "complete -c fiberctl -l color -x -a 'auto always never' -d 'use colors'\n"
	     "complete -c fiberctl -s h -l help -d 'print help'\n"
	     "complete -c fiberctl -s V -l version -d 'print the version'\n"
	     "complete -c fiberctl -n __fiberctl_no_command -a help -d 'explain a command or a "
	     "topic'");
	for (i = 0; tool_topics[i]; i++) {
		printf("complete -c fiberctl -n '__fiberctl_command help' -a %s -d ",
		       tool_topics[i]->name);
		put_text(tool_topics[i]->summary);
		putchar('\n');
	}
	for (i = 0; tool.commands[i]; i++)
		put_command(tool.commands[i]);
}
