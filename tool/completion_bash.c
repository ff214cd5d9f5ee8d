/* SPDX-License-Identifier: MIT */
/*
 * completion_bash.c - a function for bash's `complete`
 *
 * It counts the words that are no options to find the command and the place of the word that is being typed.
 */
#include <stdio.h>

#include "tool/completion.h"
#include "tool/topics.h"

static void put_option(const struct tool_option *o)
{
	if (o->letter)
		printf("-%c ", o->letter);
	printf("--%s ", o->name);
}

/* The options the argument of which is a file, as the pattern of a case. */
static void put_with_file(void)
{
	const char *bar = "\t\t";
	int i;

	for (i = 0; i < TOOL_OPT_COUNT; i++) {
		const struct tool_option *o = &tool_options[i];

		if (!o->argument || tool_hint(o->argument) != TOOL_HINT_FILE)
			continue;
		printf("%s--%s", bar, o->name);
		if (o->letter)
			printf("|-%c", o->letter);
		bar = "|";
	}
}

/* The options that take an argument, as the pattern of a case. */
static void put_with_argument(void)
{
	int i;

	fputs("--color", stdout);
	for (i = 0; i < TOOL_OPT_COUNT; i++) {
		if (!tool_options[i].argument)
			continue;
		printf("|--%s", tool_options[i].name);
		if (tool_options[i].letter)
			printf("|-%c", tool_options[i].letter);
	}
}

static void put_those(uint64_t options)
{
	int i;

	for (i = 0; i < TOOL_OPT_COUNT; i++)
		if (options & TOOL_TAKES(i))
			put_option(&tool_options[i]);
}

static void put_options_of(const struct tool_command *c)
{
	printf("\t%s) words='-j --json -h --help ", c->name);
	put_those(c->options | tool.options);
	puts("--color' ;;");
}

static void put_words_of(const struct tool_command *c)
{
	char word[256];
	int n;

	for (n = 0; n < TOOL_WORDS && tool_usage_word(c->usage, n, word, sizeof word); n++) {
		if (tool_hint(word) == TOOL_HINT_PROCESS)
			printf("\t%s:%d) words=$(_%s_processes) ;;\n", c->name, n, tool.name);
		else if (tool_hint(word) == TOOL_HINT_FILE)
			printf("\t%s:%d) files=yes ;;\n", c->name, n);
		else if (tool_hint(word) == TOOL_HINT_CHOICE)
			printf("\t%s:%d) words='%s' ;;\n", c->name, n, word);
	}
}

static void put_names(void)
{
	size_t i;

	for (i = 0; tool.commands[i]; i++)
		printf("%s ", tool.commands[i]->name);
}

void tool_completion_bash(void)
{
	size_t i;

	tool_completion_say("# bash completion for " TOOL_NAME ", printed by '" TOOL_NAME
			    " completion bash'\n"
			    "_" TOOL_NAME "_processes()\n{\n\t" TOOL_COMPLETION_PROCESSES "\n}\n\n"
			    "_" TOOL_NAME "()\n{\n"
			    "\tlocal cur=${COMP_WORDS[COMP_CWORD]} command= files= words= i n=0\n"
			    "\tCOMPREPLY=()\n"
			    "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
			    "\t\tcase ${COMP_WORDS[i]} in");
	fputs("\t\t", stdout);
	put_with_argument();
	puts(") ((i++)) ;;\n"
	     "\t\t-*) ;;\n"
	     "\t\t*) if [[ -z $command ]]; then command=${COMP_WORDS[i]}; else ((n++)); fi ;;\n"
	     "\t\tesac\n\tdone\n"
	     "\tif ((i > COMP_CWORD)); then\n"
	     "\t\tcase ${COMP_WORDS[COMP_CWORD - 1]} in\n"
	     "\t\t--color) words='auto always never' ;;");
	put_with_file();
	puts(") files=yes ;;\n"
	     "\t\tesac\n"
	     "\telif [[ $cur == -* ]]; then\n"
	     "\t\tcase $command in");
	for (i = 0; tool.commands[i]; i++)
		put_options_of(tool.commands[i]);
	fputs("\t*) words='", stdout);
	put_those(tool.bare->options | tool.options);
	puts("-j --json -h --help -V --version --color' ;;\n\t\tesac\n"
	     "\telse\n\t\tcase $command:$n in");
	fputs("\t:0) words='help ", stdout);
	put_names();
	putchar('\'');
	/* A word that is no command is a process. */
	if (tool.bare_takes)
		printf("$(_%s_processes)", tool.name);
	fputs(" ;;\n\thelp:0) words='", stdout);
	put_names();
	for (i = 0; tool_topics[i]; i++)
		printf("%s ", tool_topics[i]->name);
	puts("' ;;");
	for (i = 0; tool.commands[i]; i++)
		put_words_of(tool.commands[i]);
	tool_completion_say("\t\tesac\n\tfi\n"
			    "\tif [[ -n $files ]]; then\n"
			    "\t\tcompopt -o filenames 2>/dev/null\n"
			    "\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
			    "\telse\n"
			    "\t\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
			    "\tfi\n}\n"
			    "complete -F _" TOOL_NAME " " TOOL_NAME "");
}
