/* SPDX-License-Identifier: MIT */
/* completion.c - what the words of a usage mean. */
#include "fiberctl/completion.h"

#include <ctype.h>
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

bool ctl_usage_word(const char *usage, int n, char *buf, size_t size)
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

enum ctl_hint ctl_hint(const char *word)
{
	if (strcmp(word, "PROCESS") == 0)
		return CTL_HINT_PROCESS;
	if (strstr(word, "FILE") || strstr(word, "SNAPSHOT"))
		return CTL_HINT_FILE;
	return islower((unsigned char)word[0]) && strchr(word, ' ') ? CTL_HINT_CHOICE
								    : CTL_HINT_NONE;
}
