/* SPDX-License-Identifier: MIT */
/* completion_zsh.c - a function for zsh's compsys: each command is a call of _arguments. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "tool/completion.h"
#include "tool/topics.h"

/* Text between single quotes, inside a specification of _arguments or _describe. */
static void put_text(const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\'", stdout);
		else if (strchr(":[]\\", *text))
			putchar('\\');
		putchar(*text);
	}
}

static void put_action(const char *word)
{
	switch (tool_hint(word)) {
	case TOOL_HINT_PROCESS:
		printf("_%s_processes", tool.name);
		break;
	case TOOL_HINT_FILE:
		fputs("_files", stdout);
		break;
	case TOOL_HINT_CHOICE:
		printf("(%s)", word);
		break;
	default:
		putchar(' ');
	}
}

static void put_option(const struct tool_option *o)
{
	if (o->letter)
		printf(" '(-%c --%s)'{-%c%s,--%s%s}'[", o->letter, o->name, o->letter,
		       o->argument ? "+" : "", o->name, o->argument ? "=" : "");
	else
		printf(" '--%s%s[", o->name, o->argument ? "=" : "");
	put_text(o->summary);
	putchar(']');
	if (o->argument) {
		putchar(':');
		put_text(o->argument);
		putchar(':');
		put_action(o->argument);
	}
	putchar('\'');
}

static void put_command(const struct tool_command *c)
{
	char word[256], name[256];
	size_t k;
	int i;

	printf("\t%s)\n\t\t_arguments $every", c->name);
	for (i = 0; i < TOOL_OPT_COUNT; i++)
		if ((c->options | tool.options) & TOOL_TAKES(i))
			put_option(&tool_options[i]);
	for (i = 0; i < TOOL_WORDS && tool_usage_word(c->usage, i, word, sizeof word); i++) {
		snprintf(name, sizeof name, "%s", word);
		for (k = 0; name[k]; k++)
			name[k] = (char)tolower((unsigned char)name[k]);
		printf(" '%d:%s:", i + 1, tool_hint(word) == TOOL_HINT_CHOICE ? "one of" : name);
		put_action(word);
		putchar('\'');
	}
	puts("\n\t\t;;");
}

static void put_names(void)
{
	size_t i;

	for (i = 0; tool.commands[i]; i++) {
		printf("\t\t'%s:", tool.commands[i]->name);
		put_text(tool.commands[i]->summary);
		puts("'");
	}
}

void tool_completion_zsh(void)
{
	size_t i;

	tool_completion_say("#compdef " TOOL_NAME "\n"
			    "# zsh completion for " TOOL_NAME ", printed by '" TOOL_NAME
			    " completion zsh'\n"
			    "_" TOOL_NAME "_processes() {\n"
			    "\tlocal -a found\n"
			    "\tfound=(${(f)\"$(" TOOL_COMPLETION_PROCESSES ")\"})\n"
			    "\tcompadd -- $found\n}\n\n"
			    "_" TOOL_NAME "() {\n"
			    "\tlocal curcontext=$curcontext state line\n"
			    "\tlocal -a every names topics\n"
			    "\tevery=('(-j --json)'{-j,--json}'[print JSON]'"
			    " '--color=[use colors]:when:(auto always never)'"
			    " '(- *)'{-h,--help}'[print help]')\n"
			    "\tnames=(");
	put_names();
	puts("\t)\n\ttopics=(");
	for (i = 0; tool_topics[i]; i++) {
		printf("\t\t'%s:", tool_topics[i]->name);
		put_text(tool_topics[i]->summary);
		puts("'");
	}
	puts("\t)\n"
	     "\t_arguments -C $every '(- *)'{-V,--version}'[print the version]'"
	     " '1:command:->command' '*::argument:->argument'\n"
	     "\tcase $state in\n"
	     "\tcommand)\n"
	     "\t\tnames+=('help:explain a command or a topic')\n"
	     "\t\t_describe command names");
	if (tool.bare_takes)
		tool_completion_say("\t\t_" TOOL_NAME "_processes");
	puts("\t\treturn\n\t\t;;\n\tesac\n"
	     "\t[[ $state == argument ]] || return\n"
	     "\tcase $words[1] in\n"
	     "\thelp)\n\t\t_describe command names\n\t\t_describe topic topics\n\t\t;;");
	for (i = 0; tool.commands[i]; i++)
		put_command(tool.commands[i]);
	tool_completion_say("\tesac\n}\n\n"
			    "if [[ $funcstack[1] == _" TOOL_NAME " ]]; then\n"
			    "\t_" TOOL_NAME " \"$@\"\n"
			    "else\n"
			    "\tcompdef _" TOOL_NAME " " TOOL_NAME "\n"
			    "fi");
}
