/* SPDX-License-Identifier: MIT */
/* completion.c - what the words of a usage mean. */
#include "tool/completion.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* A word without brackets and dots; alternatives with blanks between. */
static void strip(const char *word, size_t length, char *buf, size_t size)
{
	size_t i, n = 0;

	for (i = 0; i < length && n + 1 < size; i++)
		if (!strchr("[].", word[i]))
			buf[n++] = word[i] == '|' ? ' ' : word[i];
	buf[n] = 0;
}

bool tool_usage_word(const char *usage, int n, char *buf, size_t size)
{
	for (;;) {
		size_t length = strcspn(usage, " ");

		if (!length || *usage == '|' || usage[*usage == '['] == '-')
			return false;
		if (n-- == 0) {
			strip(usage, length, buf, size);
			return true;
		}
		usage += length + (usage[length] == ' ');
	}
}

enum tool_hint tool_hint(const char *word)
{
	if (strcmp(word, "PROCESS") == 0)
		return TOOL_HINT_PROCESS;
	if (strstr(word, "FILE") || strstr(word, "SNAPSHOT") || strcmp(word, "CORE") == 0)
		return TOOL_HINT_FILE;
	return islower((unsigned char)word[0]) && strchr(word, ' ') ? TOOL_HINT_CHOICE
								    : TOOL_HINT_NONE;
}

void tool_completion_say(const char *text)
{
	for (; *text; text++) {
		if (*text == *TOOL_NAME)
			fputs(tool.name, stdout);
		else
			putchar(*text);
	}
	putchar('\n');
}
