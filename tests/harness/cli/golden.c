/* SPDX-License-Identifier: MIT */
/* golden.c - compare a tool's output without what differs from run to run */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/cli/cli.h"
#include "tests/harness/cli/golden.h"

/* The length of the first part of a duration ("12ms", "1.5s", "2m"); 0: it is no duration. */
static size_t part(const char *at)
{
	static const char *const units[] = {"ns", "us", "ms", "s", "m", "h", "d"};
	size_t n = strspn(at, "0123456789"), i;

	if (n && at[n] == '.')
		n += 1 + strspn(at + n + 1, "0123456789");
	for (i = 0; n && i < sizeof(units) / sizeof(units[0]); i++)
		if (!strncmp(at + n, units[i], strlen(units[i])))
			return n + strlen(units[i]);
	return 0;
}

static size_t duration(const char *text, const char *at)
{
	size_t n = 0, more;

	if (at > text && (isalnum((unsigned char)at[-1]) || strchr("-._\"", at[-1])))
		return 0;
	while ((more = part(at + n)))
		n += more;
	return n && !isalnum((unsigned char)at[n]) && at[n] != '"' ? n : 0;
}

void golden_text(char *text)
{
	const char *at = text;
	char *to = text;
	size_t n;

	while (*at) {
		const bool begins = at == text || at[-1] == '\n';

		if (begins && !strncmp(at, "  #", 3)) {
			at = strchr(at, '\n') ? strchr(at, '\n') + 1 : at + strlen(at);
		} else if (!strncmp(at, "@0x", 3)) {
			at += 3 + strspn(at + 3, "0123456789abcdef");
			*to++ = '@';
		} else if ((n = duration(text, at))) {
			at += n;
			*to++ = 'T';
		} else {
			*to++ = *at++;
		}
	}
	*to = '\0';
}

void golden_expect(char *text, const char *expected)
{
	size_t line = 1, i;

	golden_text(text);
	if (!strcmp(text, expected))
		return;
	for (i = 0; text[i] && text[i] == expected[i]; i++)
		line += text[i] == '\n';
	while (i && text[i - 1] != '\n')
		i--;
	print_error("line %zu is\n%.*s\nexpected\n%.*s\n", line, (int)strcspn(text + i, "\n"),
		    text + i, (int)strcspn(expected + i, "\n"), expected + i);
	fail();
}

static bool listed(const char *keys, const char *key)
{
	const size_t n = strlen(key);

	for (const char *at = keys; (at = strstr(at, key)); at += n)
		if ((at == keys || at[-1] == ' ') && (!at[n] || at[n] == ' '))
			return true;
	return false;
}

void golden_without(json_t *value, const char *keys)
{
	const char *key;
	json_t *member;
	void *next;
	size_t i;

	json_array_foreach (value, i, member)
		golden_without(member, keys);
	json_object_foreach_safe(value, next, key, member)
	{
		if (listed(keys, key))
			json_object_del(value, key);
		else
			golden_without(member, keys);
	}
}

void golden_expect_json(json_t *value, json_t *expected)
{
	assert_non_null(value);
	assert_non_null(expected);
	if (!json_equal(value, expected)) {
		char *const is = json_dumps(value, JSON_INDENT(1) | JSON_SORT_KEYS);
		char *const wanted = json_dumps(expected, JSON_INDENT(1) | JSON_SORT_KEYS);

		print_error("is\n%.4000s\nexpected\n%.4000s\n", is, wanted);
		fail();
	}
	json_decref(value);
	json_decref(expected);
}
