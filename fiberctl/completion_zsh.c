/* SPDX-License-Identifier: MIT */
/* completion_zsh.c - a function for zsh's compsys: each command is a call of _arguments. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "fiberctl/completion.h"
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
	switch (ctl_hint(word)) {
	case CTL_HINT_PROCESS:
		fputs("_fiberctl_processes", stdout);
		break;
	case CTL_HINT_FILE:
		fputs("_files", stdout);
		break;
	case CTL_HINT_CHOICE:
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
		if (c->options & TOOL_TAKES(i))
			put_option(&tool_options[i]);
	for (i = 0; i < TOOL_WORDS && ctl_usage_word(c->usage, i, word, sizeof word); i++) {
		snprintf(name, sizeof name, "%s", word);
		for (k = 0; name[k]; k++)
			name[k] = (char)tolower((unsigned char)name[k]);
		printf(" '%d:%s:", i + 1, ctl_hint(word) == CTL_HINT_CHOICE ? "one of" : name);
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

void ctl_completion_zsh(void)
{
	size_t i;

	puts("#compdef fiberctl\n"
	     "# zsh completion for fiberctl, printed by 'fiberctl completion zsh'\n"
	     "_fiberctl_processes() {\n"
	     "\tlocal -a found\n"
	     "\tfound=(${(f)\"$(" CTL_COMPLETION_PROCESSES ")\"})\n"
	     "\tcompadd -- $found\n}\n\n"
	     "_fiberctl() {\n"
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
	     "\t\t_describe command names\n"
	     "\t\treturn\n\t\t;;\n\tesac\n"
	     "\t[[ $state == argument ]] || return\n"
	     "\tcase $words[1] in\n"
	     "\thelp)\n\t\t_describe command names\n\t\t_describe topic topics\n\t\t;;");
	for (i = 0; tool.commands[i]; i++)
		put_command(tool.commands[i]);
	puts("\tesac\n}\n\n"
	     "if [[ $funcstack[1] == _fiberctl ]]; then\n"
	     "\t_fiberctl \"$@\"\n"
	     "else\n"
	     "\tcompdef _fiberctl fiberctl\n"
	     "fi");
}
