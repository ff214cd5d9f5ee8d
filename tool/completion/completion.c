/* SPDX-License-Identifier: MIT */
/*
 * completion.c - find the candidates for the word that is being typed
 *
 * The words before it are parsed like getopt does: options may be anywhere and shortened, and an
 * option's argument is no word of the command. Unknown words are no error, because the user would
 * not see a message; they only make the answer less precise.
 */
#include "tool/completion/completion.h"

#include <stdio.h>
#include <string.h>

#include "tool/command.h"
#include "tool/topics.h"

/* Options of every command. An argument in brackets needs '='. */
static const struct tool_option shared[] = {
	{"json", 'j', "[lines]", "print JSON"},
	{"color", 0, "auto|always|never", "use colors"},
	{"help", 'h', NULL, "print help"},
	{"version", 'V', NULL, "print the version"},
};
enum { SHARED = sizeof shared / sizeof shared[0], VERSION = SHARED - 1 };

struct place {
	const struct tool_command *command; /* NULL: no command yet */
	bool naming; /* the next word may be the name of a command (also after watch) */
	bool helping, lost;
	bool plain;	  /* after "--" */
	uint64_t options; /* of the command, and of a command that passes others on to it */
	int n;		  /* number of words of the command */
	const struct tool_option *option; /* the next word is its argument; NULL: none */
};

static const struct tool_option *option_at(int i)
{
	return i < TOOL_OPT_COUNT ? &tool_options[i] : &shared[i - TOOL_OPT_COUNT];
}

static bool takes(const struct tool_option *o)
{
	return o && o->argument && o->argument[0] != '[';
}

/* The option of that name, or the first with that prefix. */
static const struct tool_option *find_long(const char *name, size_t n)
{
	const struct tool_option *found = NULL;
	int i;

	for (i = 0; i < TOOL_OPT_COUNT + SHARED; i++) {
		const struct tool_option *o = option_at(i);

		if (strncmp(o->name, name, n) == 0 && (!found || strlen(o->name) == n))
			found = o;
	}
	return found;
}

static const struct tool_option *find_letter(char letter)
{
	int i;

	for (i = 0; i < TOOL_OPT_COUNT + SHARED; i++)
		if (option_at(i)->letter == letter)
			return option_at(i);
	return NULL;
}

static void take_option(struct place *p, const char *word)
{
	const struct tool_option *o = NULL;
	const char *letter;

	if (word[1] == '-') {
		if (!strchr(word, '='))
			o = find_long(word + 2, strlen(word + 2));
		p->plain = !word[2];
	} else {
		for (letter = word + 1; *letter && !takes(o); letter++)
			o = find_letter(*letter);
		if (*letter)
			o = NULL; /* the rest is its argument */
	}
	if (takes(o) && !p->plain)
		p->option = o;
}

static void take_name(struct place *p, const char *word)
{
	const struct tool_command *named = tool_command_find(word);

	p->naming = named && named->passes;
	if (named) {
		p->command = named;
		p->options |= named->options;
	} else if (p->command) {
		p->lost = true;
	} else if (strcmp(word, "help") == 0) {
		p->helping = true;
	} else if (tool->bare_takes) {
		p->command = tool->bare;
		p->options |= tool->bare->options;
		p->n = 1;
	} else {
		p->lost = true;
	}
}

static void take(struct place *p, const char *word)
{
	if (p->option)
		p->option = NULL;
	else if (word[0] == '-' && word[1] && !p->plain)
		take_option(p, word);
	else if (p->naming)
		take_name(p, word);
	else
		p->n++;
}

/* -- what is offered -- */

static void put_option(const struct tool_option *o)
{
	printf("--%s\t%s\n", o->name, o->summary);
	if (o->letter)
		printf("-%c\t%s\n", o->letter, o->summary);
}

static void put_options(const struct place *p)
{
	const uint64_t options = tool->options | (p->command ? p->options : tool->bare->options);
	int i;

	for (i = 0; i < TOOL_OPT_COUNT; i++)
		if (options & TOOL_TAKES(i))
			put_option(&tool_options[i]);
	for (i = 0; i < SHARED - (p->command != NULL); i++)
		put_option(&shared[i]);
}

static void put_names(bool passing)
{
	size_t i;

	for (i = 0; tool->commands[i]; i++)
		if (passing || !tool->commands[i]->passes)
			printf("%s\t%s\n", tool->commands[i]->name, tool->commands[i]->summary);
}

static void put_first_words(void)
{
	put_names(true);
	puts("help\texplain a command or a topic");
	if (tool->bare_takes)
		tool_completion_hint(TOOL_HINT_PROCESS, "", "", 0);
}

static void put_topics(void)
{
	size_t i;

	put_names(true);
	for (i = 0; tool_topics[i]; i++)
		printf("%s\t%s\n", tool_topics[i]->name, tool_topics[i]->summary);
}

static void put_word(const struct place *p, const char *typed)
{
	enum tool_hint hint;
	char word[256];

	if (!tool_usage_word(p->command->usage, p->n, word, sizeof word))
		return;
	hint = tool_hint(word);
	if (hint == TOOL_HINT_PROCESS && p->command->live)
		tool_completion_processes();
	else
		tool_completion_hint(hint, word, typed, 0);
}

/* "--color=au": the typed text is an argument of this option. */
static const struct tool_option *joined(const struct place *p, const char *typed, size_t *ret_kept)
{
	const char *end = strncmp(typed, "--", 2) == 0 && !p->plain ? strchr(typed, '=') : NULL;

	*ret_kept = end ? (size_t)(end + 1 - typed) : 0;
	return end ? find_long(typed + 2, (size_t)(end - typed - 2)) : NULL;
}

void tool_completion_offer(const char *const *words, size_t count)
{
	struct place p = {.naming = true};
	const struct tool_option *option;
	const char *typed = count ? words[count - 1] : "";
	size_t i, kept = 0;

	for (i = 0; i + 1 < count; i++)
		take(&p, words[i]);
	option = p.option ? p.option : joined(&p, typed, &kept);
	if (option)
		tool_completion_hint(tool_hint_of(option), option->argument, typed, kept);
	else if (p.lost)
		return;
	else if (typed[0] == '-' && !p.plain)
		put_options(&p);
	else if (p.helping && !p.n)
		put_topics();
	else if (p.naming && p.command)
		put_names(false);
	else if (p.naming)
		put_first_words();
	else if (p.command)
		put_word(&p, typed);
}

void tool_completion_say(const char *text)
{
	for (; *text; text++) {
		if (*text == *TOOL_NAME)
			fputs(tool->name, stdout);
		else
			putchar(*text);
	}
	putchar('\n');
}
