/* SPDX-License-Identifier: MIT */
/* words.c - the candidates for a word of a usage or the argument of an option */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/completion/completion.h"
#include "tool/process.h"
#include "inspect/query/fields.h"
#include "inspect/process/permission.h"
#include "tool/round.h"

/* A user waits for the answer: a slower program is shown by its system name, ns. */
#define PATIENCE INT64_C(100000000)

/* Copy a word without brackets and dots. */
static void strip(const char *word, size_t length, char *buf, size_t size)
{
	size_t i, n = 0;

	for (i = 0; i < length && n + 1 < size; i++)
		if (!strchr("[].", word[i]))
			buf[n++] = word[i];
	buf[n] = 0;
}

bool tool_usage_word(const char *usage, int n, char *buf, size_t size)
{
	for (;;) {
		const size_t length = strcspn(usage, " ");
		const char *next = usage + length + (usage[length] == ' ');
		const bool again = length > 3 && strncmp(next - 3, "...", 3) == 0 && !*next;

		if (!length || *usage == '|' || usage[*usage == '['] == '-')
			return false;
		if (n-- == 0 || again) {
			strip(usage, length, buf, size);
			return true;
		}
		usage = next;
	}
}

enum tool_hint tool_hint(const char *word)
{
	static const struct {
		const char *word;
		enum tool_hint hint;
	} hints[] = {
		{"PROCESS", TOOL_HINT_PROCESS}, {"PROGRAM", TOOL_HINT_PROCESS},
		{"FILE", TOOL_HINT_FILE},	{"SNAPSHOT", TOOL_HINT_FILE},
		{"RECORDING", TOOL_HINT_FILE},	{"CORE", TOOL_HINT_FILE},
		{"DIR", TOOL_HINT_FOLDER},	{"DIR:", TOOL_HINT_FOLDER},
	};
	size_t i;

	for (i = 0; i < sizeof hints / sizeof hints[0]; i++)
		if (strcmp(word, hints[i].word) == 0)
			return hints[i].hint;
	/* A single capital letter (A, B in a usage) is a process. */
	if (isupper((unsigned char)word[0]) && !word[1])
		return TOOL_HINT_PROCESS;
	return strchr(word, '|') || islower((unsigned char)word[0]) ? TOOL_HINT_CHOICE
								    : TOOL_HINT_NONE;
}

enum tool_hint tool_hint_of(const struct tool_option *option)
{
	char word[64] = "";

	if (option == &tool_options[TOOL_OPT_WHERE])
		return TOOL_HINT_WHERE;
	if (option == &tool_options[TOOL_OPT_GROUP_BY])
		return TOOL_HINT_FIELD;
	if (option == &tool_options[TOOL_OPT_SORT])
		return TOOL_HINT_ORDER;
	if (option == &tool_options[TOOL_OPT_COLUMNS])
		return TOOL_HINT_FIELDS;
	/* A single letter is a number. */
	if (!option->argument || !option->argument[1])
		return TOOL_HINT_NONE;
	strip(option->argument, strlen(option->argument), word, sizeof word);
	return tool_hint(word);
}

/* -- processes -- */

struct process {
	pid_t pid;
	char name[64];
};

struct processes {
	struct process *at;
	size_t count;
};

/* Whether the name has no character that is special to a shell. */
static bool is_plain(const char *name)
{
	return name[0] && name[0] != '-' &&
	       name[strspn(name, "0123456789._-abcdefghijklmnopqrstuvwxyz"
				 "ABCDEFGHIJKLMNOPQRSTUVWXYZ")] == 0;
}

static void add_process(struct processes *all, const struct tool_asked *one,
			struct fib_wire_process *process)
{
	struct process *p;

	/* It has no pid in this namespace that could be typed. */
	if (!one->socket.pid)
		return;
	p = &all->at[all->count++];
	*p = (struct process){.pid = one->socket.pid};
	if (one->rc == 0 && tool_socket_says(&one->socket, process))
		snprintf(p->name, sizeof p->name, "%s", process->name);
	else if (ins_permission_status(p->pid, "Name", p->name, sizeof p->name) < 0)
		p->name[0] = 0;
	if (!is_plain(p->name))
		p->name[0] = 0;
}

static void find_processes(struct processes *all)
{
	struct fib_wire_process *process = NULL;
	struct tool_round round;
	size_t i;

	if (tool_round_gather(&round) == 0 && round.count)
		process = tool_round_hello(&round, PATIENCE);
	if (process)
		all->at = calloc(round.count, sizeof *all->at);
	for (i = 0; all->at && i < round.count; i++)
		add_process(all, &round.all[i], &process[i]);
	free(process);
	tool_round_free(&round);
}

/* The number of processes of that name, and the first one. */
static size_t named(const struct processes *all, const char *name, size_t *ret_first)
{
	size_t i, n = 0;

	for (i = all->count; i--;) {
		if (strcmp(all->at[i].name, name) == 0) {
			*ret_first = i;
			n++;
		}
	}
	return n;
}

void tool_completion_processes(void)
{
	struct processes all = {NULL, 0};
	size_t i, n, first = 0;

	find_processes(&all);
	for (i = 0; i < all.count; i++) {
		const struct process *p = &all.at[i];

		n = p->name[0] ? named(&all, p->name, &first) : 0;
		if (n == 1)
			printf("%s\tprocess %d\n", p->name, (int)p->pid);
		else if (n && first == i)
			printf("%s\t%zu processes\n", p->name, n);
	}
	for (i = 0; i < all.count; i++)
		printf("%d\t%s\n", (int)all.at[i].pid,
		       all.at[i].name[0] ? all.at[i].name : "process");
	free(all.at);
}

/* -- fields -- */

/* Print field names after the first `kept` bytes of typed. */
static void put_fields(const char *typed, size_t kept, const char *sign)
{
	const struct ins_field_info *info;

	for (info = ins_field_infos; info->name; info++)
		printf("%.*s%s%s\t%s\n", (int)kept, typed, sign, info->name, info->help);
}

/* Whether the expression that starts at `kept` expects a field name next. *ret: where it starts. */
static bool field_comes(const char *typed, size_t kept, size_t *ret)
{
	static const char *const before[] = {"and", "or", "not"};
	const char *first = typed + kept, *at = first + strlen(first), *end;
	size_t i;

	while (at > first && !strchr(" (", at[-1]))
		at--;
	*ret = (size_t)(at - typed);
	for (end = at; end > first && end[-1] == ' ';)
		end--;
	if (end == first || end[-1] == '(')
		return true;
	for (at = end; at > first && !strchr(" ()", at[-1]);)
		at--;
	for (i = 0; i < sizeof before / sizeof before[0]; i++)
		if (strlen(before[i]) == (size_t)(end - at) &&
		    strncmp(at, before[i], (size_t)(end - at)) == 0)
			return true;
	return false;
}

/*
 * After a field and an operator: print the possible values. Returns whether there is an operator.
 */
static bool put_values(const char *typed, size_t kept)
{
	const char *first = typed + kept;
	const size_t name = strcspn(first, "=!<>~"), end = name + strspn(first + name, "=!<>~");
	struct ins_field field;
	const char *word;
	unsigned i;

	if (end > name && ins_field_find(first, name, &field))
		for (i = 0; (word = ins_field_word(&field, NULL, i)); i++)
			printf("%.*s%s\t\n", (int)(kept + end), typed, word);
	return end > name;
}

/* Alternatives in capitals are placeholders. */
static void put_choices(const char *word, const char *typed, size_t kept)
{
	const char *end;

	for (; *word; word = end + (*end == '|')) {
		end = word + strcspn(word, "|");
		if (islower((unsigned char)*word))
			printf("%.*s%.*s\t\n", (int)kept, typed, (int)(end - word), word);
	}
}

void tool_completion_hint(enum tool_hint hint, const char *word, const char *typed, size_t kept)
{
	const char *comma = strrchr(typed + kept, ',');
	char stripped[256];

	switch (hint) {
	case TOOL_HINT_PROCESS:
		tool_completion_processes();
		puts(":files");
		break;
	case TOOL_HINT_FILE:
		puts(":files");
		break;
	case TOOL_HINT_FOLDER:
		puts(":folders");
		break;
	case TOOL_HINT_FIELD:
		put_fields(typed, kept, "");
		break;
	case TOOL_HINT_ORDER:
		put_fields(typed, kept, typed[kept] == '-' ? "-" : "");
		break;
	case TOOL_HINT_FIELDS:
		puts(":nospace");
		put_fields(typed, comma ? (size_t)(comma + 1 - typed) : kept, "");
		break;
	case TOOL_HINT_WHERE:
		puts(":nospace");
		if (field_comes(typed, kept, &kept) && !put_values(typed, kept))
			put_fields(typed, kept, "");
		break;
	case TOOL_HINT_CHOICE:
		strip(word, strlen(word), stripped, sizeof stripped);
		put_choices(stripped, typed, kept);
		break;
	case TOOL_HINT_NONE:
		break;
	}
}
