/* SPDX-License-Identifier: MIT */
/*
 * question.c - a command of fiberctl about one program, made from a request
 *
 * Only these commands and options can be asked for. None of them names a file or another process:
 * the program is put in by the server, and values are passed as --option=VALUE, so they are never
 * taken for words.
 */
#include "fiberctl/serve/question.h"

#include <stdio.h>
#include <string.h>

#include "fiberctl/serve/answer.h"
#include "inspect/text/escape.h"
#include "tool/command.h"

/* Commands that only look. id: they are about a fiber; FIRST: about one, or all without it. */
enum { NONE, ONE, FIRST };
static const struct look {
	const char *name;
	int id;
	unsigned limit; /* rows if the request does not say; 0: the command's own choice */
	unsigned most;	/* rows */
} looks[] = {
	{"list", NONE, 1000, SERVE_ROWS_MOST},
	{"show", ONE, 0, SERVE_ROWS_MOST},
	{"bt", FIRST, 0, SERVE_ROWS_MOST},
	{"stacks", NONE, 0, SERVE_ROWS_MOST},
	{"tree", NONE, 1000, SERVE_ROWS_MOST},
	{"why", NONE, 0, SERVE_ROWS_MOST},
	{"waits", NONE, 0, SERVE_ROWS_MOST},
	{"deadlock", NONE, 0, SERVE_ROWS_MOST},
	{"slow", NONE, 0, SERVE_ROWS_MOST},
	{"pinned", NONE, 0, SERVE_ROWS_MOST},
	/* The worker keeps the rows of several views from look to look. */
	{"top", NONE, 100, SERVE_TOP_MOST},
	{"carriers", NONE, 0, SERVE_ROWS_MOST},
	{"metrics", NONE, 0, SERVE_ROWS_MOST},
	{"policy", NONE, 0, SERVE_ROWS_MOST},
	{"audit", NONE, 0, SERVE_ROWS_MOST},
	{"watchdog", NONE, 0, SERVE_ROWS_MOST},
};

/* Parameters that are options. */
enum kind { WORD, NUMBER, FLAG };
static const struct {
	enum tool_option_id option;
	enum kind kind;
	uint64_t most; /* of a number; limit: the command says */
} options[] = {
	{TOOL_OPT_ALL_FRAMES, FLAG, 0}, {TOOL_OPT_ARGS, FLAG, 0},
	{TOOL_OPT_COLUMNS, WORD, 0},	{TOOL_OPT_FRAMES, NUMBER, 10000},
	{TOOL_OPT_GROUP_BY, WORD, 0},	{TOOL_OPT_LIMIT, NUMBER, 0},
	{TOOL_OPT_LOCALS, FLAG, 0},	{TOOL_OPT_MIN, NUMBER, UINT32_MAX},
	{TOOL_OPT_SORT, WORD, 0},	{TOOL_OPT_WHERE, WORD, 0},
};

/* Changes, and the parameter that each needs. */
static const struct {
	const char *name, *param;
	bool number;
} changes[] = {
	{"cancel", "id", true},
	{"wake", "id", true},
	{"policy", "policy", false},
	{"watchdog", "threshold", false},
};

struct made {
	char *text;
	size_t used;
	unsigned *status;
	char *why;
};

static bool refuse(struct made *m, unsigned status, const char *what, const char *why)
{
	char clean[128];

	*m->status = status;
	snprintf(m->why, 256, "%s: %s", ins_escape(what, clean, sizeof clean), why);
	return false;
}

static bool add(struct made *m, const char *before, const char *word)
{
	const int n = snprintf(m->text + m->used, SERVE_QUESTION_MOST - m->used, "%s%s%s",
			       m->used ? "\n" : "", before, word);

	if (n < 0 || (size_t)n >= SERVE_QUESTION_MOST - m->used)
		return refuse(m, MHD_HTTP_BAD_REQUEST, word, "is too long");
	m->used += (size_t)n;
	return true;
}

const char *serve_params_get(const struct serve_params *params, const char *name)
{
	size_t i;

	for (i = 0; i < params->count; i++)
		if (strcmp(params->at[i].name, name) == 0)
			return params->at[i].value;
	return NULL;
}

/* A separator of words, or any other control character. */
static bool has_control(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return true;
	return false;
}

static bool add_option(struct made *m, size_t i, const char *value, const struct look *look)
{
	const uint64_t most = options[i].option == TOOL_OPT_LIMIT ? look->most : options[i].most;
	const char *name = tool_options[options[i].option].name;
	char option[64];
	uint64_t number;

	if (options[i].kind == FLAG) {
		if (strcmp(value, "1") != 0 && value[0])
			return refuse(m, MHD_HTTP_BAD_REQUEST, name, "must be 1");
		return add(m, "--", name);
	}
	if (has_control(value))
		return refuse(m, MHD_HTTP_BAD_REQUEST, name, "has a control character");
	if (options[i].kind == NUMBER && !tool_parse_number(value, 0, most, &number))
		return refuse(m, MHD_HTTP_BAD_REQUEST, name, "is no number, or too large");
	snprintf(option, sizeof option, "--%s=", name);
	return add(m, option, value);
}

/* Add the parameters that are options of the command, in the order of the table. */
static bool add_options(struct made *m, const struct tool_command *command,
			const struct serve_params *params, const struct look *look)
{
	char rows[16];
	size_t i;

	snprintf(rows, sizeof rows, "%u", look->limit);
	for (i = 0; i < sizeof options / sizeof options[0]; i++) {
		const char *value = serve_params_get(params, tool_options[options[i].option].name);

		if (!value && look->limit && options[i].option == TOOL_OPT_LIMIT)
			value = rows;
		if (value && !(command->options & TOOL_TAKES(options[i].option)))
			return refuse(m, MHD_HTTP_BAD_REQUEST, tool_options[options[i].option].name,
				      "the command has no such parameter");
		if (value && !add_option(m, i, value, look))
			return false;
	}
	return true;
}

static bool is_known(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof options / sizeof options[0]; i++)
		if (strcmp(tool_options[options[i].option].name, name) == 0)
			return true;
	/* after: of top; token: not of the command. */
	return strcmp(name, "id") == 0 || strcmp(name, "after") == 0;
}

static bool check_names(struct made *m, const struct serve_params *params)
{
	size_t i, k;

	for (i = 0; i < params->count; i++) {
		if (!is_known(params->at[i].name))
			return refuse(m, MHD_HTTP_BAD_REQUEST, params->at[i].name,
				      "there is no such parameter");
		for (k = 0; k < i; k++)
			if (strcmp(params->at[k].name, params->at[i].name) == 0)
				return refuse(m, MHD_HTTP_BAD_REQUEST, params->at[i].name,
					      "is given twice");
	}
	return true;
}

static bool add_id(struct made *m, int kind, const struct serve_params *params)
{
	const char *id = serve_params_get(params, "id");
	uint64_t number;

	if (!id && kind == FIRST)
		return add(m, "--", "all");
	if (!id)
		return kind == NONE ||
		       refuse(m, MHD_HTTP_BAD_REQUEST, "id", "the number of a fiber is needed");
	if (kind == NONE)
		return refuse(m, MHD_HTTP_BAD_REQUEST, "id", "the command has no such parameter");
	if (!tool_parse_id(id, &number))
		return refuse(m, MHD_HTTP_BAD_REQUEST, id, "is no number of a fiber");
	return add(m, "", id);
}

bool serve_question_make(const char *command, const struct serve_params *params,
			 char ret[SERVE_QUESTION_MOST], unsigned *ret_status, char why[256])
{
	struct made m = {.text = ret, .status = ret_status, .why = why};
	size_t i;

	for (i = 0; i < sizeof looks / sizeof looks[0]; i++)
		if (strcmp(looks[i].name, command) == 0)
			break;
	if (i == sizeof looks / sizeof looks[0])
		return refuse(&m, MHD_HTTP_NOT_FOUND, command, "there is no such question");
	return check_names(&m, params) && add(&m, "", command) && add_id(&m, looks[i].id, params) &&
	       add(&m, "--", "json") &&
	       add_options(&m, tool_command_find(command), params, &looks[i]);
}

bool serve_question_change(const char *command, const struct serve_params *params,
			   char ret[SERVE_QUESTION_MOST], unsigned *ret_status, char why[256])
{
	struct made m = {.text = ret, .status = ret_status, .why = why};
	const char *value;
	uint64_t number;
	size_t i;

	for (i = 0; i < sizeof changes / sizeof changes[0]; i++)
		if (strcmp(changes[i].name, command) == 0)
			break;
	if (i == sizeof changes / sizeof changes[0])
		return refuse(&m, MHD_HTTP_NOT_FOUND, command, "there is no such change");
	value = serve_params_get(params, changes[i].param);
	if (!value || params->count != 1)
		return refuse(&m, MHD_HTTP_BAD_REQUEST, changes[i].param,
			      "is needed, and no other parameter");
	if (changes[i].number ? !tool_parse_id(value, &number)
			      : (has_control(value) || value[0] == '-' || !value[0]))
		return refuse(&m, MHD_HTTP_BAD_REQUEST, value, "is no value for it");
	return add(&m, "", command) && add(&m, "", value) && add(&m, "--", "json");
}

bool serve_question_is(const char *question, const char *command)
{
	const size_t n = strlen(command);

	return strncmp(question, command, n) == 0 && (!question[n] || question[n] == '\n');
}

enum serve_share serve_question_share(const char *question)
{
	if (serve_question_is(question, "top") || serve_question_is(question, "process"))
		return SERVE_LIVE;
	return strcmp(question, "metrics") == 0 ? SERVE_METRICS : SERVE_OTHER;
}

const char *serve_question_type(const char *question)
{
	if (strstr(question, "\n--json"))
		return SERVE_JSON;
	if (strstr(question, "\n--pprof=-") || strstr(question, "\n--output=-"))
		return "application/octet-stream";
	return SERVE_TEXT;
}

void serve_question_split(char *words, char *program, char *argv[SERVE_WORDS])
{
	size_t n = 0;
	char *word, *rest = words;

	argv[n++] = (char *)(uintptr_t)tool->name;
	while ((word = strsep(&rest, "\n")) && n < SERVE_WORDS - 2) {
		argv[n++] = word;
		if (n == 2)
			argv[n++] = program;
	}
	argv[n] = NULL;
}
