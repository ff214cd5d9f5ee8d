/* SPDX-License-Identifier: MIT */
/* calls.c - read the system calls that libfiber(7) lists from the manual page */
#include "tests/harness/cli/calls.h"

#include <stdio.h>
#include <string.h>

#include "tests/harness/cli/cli.h"

/* Append the calls that the page lists under this name. */
static void add_list(const char *page, const char *name, char *to, size_t size)
{
	char mark[64];
	const char *at, *end;
	size_t used = strlen(to);

	snprintf(mark, sizeof(mark), ".\\\" calls: %s\n.Bd -literal -offset indent\n", name);
	at = strstr(page, mark);
	if (!at)
		fail_msg("%s has no list '%s'", CALLS_PAGE, name);
	at += strlen(mark);
	end = strstr(at, "\n.Ed\n");
	assert_non_null(end);
	assert_true(end - at > 4);
	snprintf(to + used, size - used, "%s%.*s", used ? " " : "", (int)(end - at), at);
	for (char *c = to; *c; c++)
		*c = *c == '\n' ? ' ' : *c;
}

static const char *page(void)
{
	static char text[128 << 10];
	FILE *file = fopen(CALLS_PAGE, "re");
	size_t n;

	assert_non_null(file);
	n = fread(text, 1, sizeof(text) - 1, file);
	text[n] = 0;
	fclose(file);
	return text;
}

void calls_add(const char *name, char buf[CALLS_SIZE])
{
	add_list(page(), name, buf, CALLS_SIZE);
}

const char *calls_listed(const char *poller, char buf[CALLS_SIZE])
{
	static const char *const lists[] = {"run", "io", "rest", "answers", "more"};
	const char *text = page();

	buf[0] = 0;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		add_list(text, lists[i], buf, CALLS_SIZE);
	if (strcmp(poller, "uring") == 0)
		strcat(buf, " io_uring_enter");
	return buf;
}

static bool has_word(const char *text, const char *word)
{
	const size_t n = strlen(word);
	const char *at = text;

	while ((at = strstr(at, word))) {
		if ((at == text || at[-1] == ' ') && (!at[n] || at[n] == ' ' || at[n] == '\n'))
			return true;
		at++;
	}
	return false;
}

unsigned calls_missing(const char *words, const char *in, const char *excused, const char *what)
{
	char copy[8192], *save, *word;
	unsigned missing = 0;

	snprintf(copy, sizeof(copy), "%s", words);
	for (word = strtok_r(copy, " \n", &save); word; word = strtok_r(NULL, " \n", &save)) {
		if (strchr(word, ':') || has_word(in, word) || has_word(excused, word))
			continue;
		print_message("# %s: %s\n", word, what);
		missing++;
	}
	return missing;
}
