/* SPDX-License-Identifier: MIT */
/*
 * completion_bash.c - a function for bash's `complete`
 *
 * It counts the words that are no options to find the command and the place of the word that is being typed.
 */
#include <stdio.h>

#include "fiberctl/completion.h"
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

		if (!o->argument || ctl_hint(o->argument) != CTL_HINT_FILE)
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

static void put_options_of(const struct tool_command *c)
{
	int i;

	printf("\t%s) words='-j --json -h --help ", c->name);
	for (i = 0; i < TOOL_OPT_COUNT; i++)
		if (c->options & TOOL_TAKES(i))
			put_option(&tool_options[i]);
	puts("--color' ;;");
}

static void put_words_of(const struct tool_command *c)
{
	char word[256];
	int n;

	for (n = 0; n < TOOL_WORDS && ctl_usage_word(c->usage, n, word, sizeof word); n++) {
		if (ctl_hint(word) == CTL_HINT_PROCESS)
			printf("\t%s:%d) words=$(_fiberctl_processes) ;;\n", c->name, n);
		else if (ctl_hint(word) == CTL_HINT_FILE)
			printf("\t%s:%d) files=yes ;;\n", c->name, n);
		else if (ctl_hint(word) == CTL_HINT_CHOICE)
			printf("\t%s:%d) words='%s' ;;\n", c->name, n, word);
	}
}

static void put_names(void)
{
	size_t i;

	for (i = 0; tool.commands[i]; i++)
		printf("%s ", tool.commands[i]->name);
}

void ctl_completion_bash(void)
{
	size_t i;

	puts("# bash completion for fiberctl, printed by 'fiberctl completion bash'\n"
	     "_fiberctl_processes()\n{\n\t" CTL_COMPLETION_PROCESSES "\n}\n\n"
	     "_fiberctl()\n{\n"
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
	puts("\t*) words='-j --json -h --help -V --version --color' ;;\n\t\tesac\n"
	     "\telse\n\t\tcase $command:$n in");
	fputs("\t:0) words='help ", stdout);
	put_names();
	fputs("' ;;\n\thelp:0) words='", stdout);
	put_names();
	for (i = 0; tool_topics[i]; i++)
		printf("%s ", tool_topics[i]->name);
	puts("' ;;");
	for (i = 0; tool.commands[i]; i++)
		put_words_of(tool.commands[i]);
	puts("\t\tesac\n\tfi\n"
	     "\tif [[ -n $files ]]; then\n"
	     "\t\tcompopt -o filenames 2>/dev/null\n"
	     "\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
	     "\telse\n"
	     "\t\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
	     "\tfi\n}\n"
	     "complete -F _fiberctl fiberctl");
}
