/* SPDX-License-Identifier: MIT */
/* field_values.c - parse values of fields, and list the words of those that have fixed ones */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/text/duration.h"
#include "inspect/query/fields.h"
#include "inspect/model/words.h"

/* Parse digits and return where they end. */
static bool parse_number(const char *text, int base, uint64_t *ret, const char **ret_end)
{
	char *end;

	if (!strchr("0123456789abcdefABCDEF", text[0]) || !text[0])
		return false;
	errno = 0;
	*ret = strtoull(text, &end, base);
	*ret_end = end;
	return end > text && !errno;
}

static bool parse_size(const char *text, uint64_t *ret)
{
	static const char units[] = "kmg";
	const char *end, *unit;

	if (!parse_number(text, 10, ret, &end))
		return false;
	if (!*end)
		return true;
	unit = strchr(units, *end);
	return unit && !end[1] &&
	       !__builtin_mul_overflow(*ret, UINT64_C(1) << (10 * (unit - units + 1)), ret);
}

static bool parse_holder(const char *text, uint64_t *ret)
{
	static const char thread[] = "thread:";
	const bool is_thread = strncmp(text, thread, strlen(thread)) == 0;
	const char *end;

	if (!parse_number(is_thread ? text + strlen(thread) : text, 10, ret, &end) || *end)
		return false;
	if (*ret & FIB_HOLDER_THREAD)
		return false; /* no valid number: the bit marks threads */
	if (is_thread)
		*ret |= FIB_HOLDER_THREAD;
	return true;
}

bool ins_field_parse(const struct ins_field *field, const char *text, uint64_t *ret)
{
	const char *end;
	int64_t ns;

	switch (field->info->kind) {
	case INS_TIME:
		if (!ins_duration_parse(text, &ns))
			return false;
		*ret = (uint64_t)ns;
		return true;
	case INS_SIZE:
		return parse_size(text, ret);
	case INS_ADDRESS:
		return strncmp(text, "0x", 2) == 0 && parse_number(text, 16, ret, &end) && !*end;
	case INS_HOLDER:
		return parse_holder(text, ret);
	case INS_NUMBER:
		return parse_number(text, 10, ret, &end) && !*end;
	default:
		return false;
	}
}

const char *ins_field_kind_name(enum ins_field_kind kind)
{
	static const char *const names[] = {
		[INS_NUMBER] = "number",
		[INS_TIME] = "length of time like 20ms, 1.5s or 2m",
		[INS_SIZE] = "size like 512, 64k or 8m",
		[INS_ADDRESS] = "address like 0x5f0a",
		[INS_HOLDER] = "fiber, nor thread:TID",
		[INS_TEXT] = "text",
		[INS_WORDS] = "text",
	};

	return names[kind];
}

const char *ins_field_names(void)
{
	static char names[512];
	const struct ins_field_info *info;
	struct ins_strbuf l = ins_strbuf(names, sizeof names);

	for (info = ins_field_infos; info->name; info++) {
		if (l.at > names)
			ins_strbuf_text(&l, ", ");
		ins_strbuf_text(&l, info->name);
		if (info->name[strlen(info->name) - 1] == '.')
			ins_strbuf_text(&l, "KEY");
	}
	return names;
}

const char *ins_field_word(const struct ins_field *field, const struct fib_layout *layout,
			   unsigned number)
{
	const char *word = NULL;

	if (strcmp(field->info->name, "state") == 0)
		word = ins_words_state(layout, number);
	else if (strcmp(field->info->name, "wait") == 0)
		word = ins_words_wait_kind(layout, FIB_WAIT_NONE + 1 + number);
	else if (strcmp(field->info->name, "cancelled") == 0 ||
		 strcmp(field->info->name, "masked") == 0)
		word = number ? NULL : "yes";
	return word && strcmp(word, INS_WORDS_UNKNOWN) != 0 ? word : NULL;
}
