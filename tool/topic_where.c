/* SPDX-License-Identifier: MIT */
/* topic_where.c - `help where`: the language of --where and the fields */
#include "tool/topics.h"

#include <stdio.h>
#include <string.h>

#include "inspect/query/fields.h"
#include "tool/tool.h"

static const char *value_of(enum ins_field_kind kind)
{
	static const char *const names[] = {
		[INS_NUMBER] = "number",   [INS_TIME] = "time",	    [INS_SIZE] = "size",
		[INS_ADDRESS] = "address", [INS_HOLDER] = "holder", [INS_TEXT] = "text",
		[INS_WORDS] = "text",
	};

	return names[kind];
}

static void put_fields(FILE *out)
{
	static const char label[] = "label.";
	const struct ins_field_info *info;

	for (info = ins_field_infos; info->name; info++) {
		/* Its help text starts with "label.KEY: ". */
		if (strcmp(info->name, label) == 0)
			fprintf(out, "  %-10s %-8s %s\n", "label.KEY", value_of(info->kind),
				info->help + strlen("label.KEY: "));
		else
			fprintf(out, "  %-10s %-8s %s\n", info->name, value_of(info->kind),
				info->help);
	}
}

static void put_language(FILE *out)
{
	fputs("--where EXPRESSION selects fibers. If it is given several times, all must be true.\n"
	      "\n"
	      "  FIELD OPERATOR VALUE        a comparison; false if the fiber has no such "
	      "value\n"
	      "  FIELD                       true if the fiber has such a value\n"
	      "  (EXPRESSION)\n"
	      "  not EXPRESSION              'not' binds strongest,\n"
	      "  EXPRESSION and EXPRESSION   then 'and',\n"
	      "  EXPRESSION or EXPRESSION    then 'or'\n"
	      "\n"
	      "Operators:\n"
	      "  = == !=      equal, not equal\n"
	      "  < <= > >=    less, greater; texts are compared byte by byte\n"
	      "  ~ =~ !~      matches, does not match an extended regular expression, anywhere\n"
	      "               in the text unless ^ or $ is given; only for texts\n"
	      "\n"
	      "Values:\n"
	      "  number       17\n"
	      "  time         150ns 20us 20ms 1.5s 2m 3h 1d 2m14s; a number alone is seconds\n"
	      "  size         bytes: 912 64k 8m 1g\n"
	      "  address      0x5f0a\n"
	      "  holder       the id of a fiber, or thread:TID\n"
	      "  text         req-7; a text with blanks, parentheses or operators is written in\n"
	      "               double quotes, with a backslash before a quote or a backslash\n",
	      out);
}

static void put_examples(FILE *out)
{
	static const char *const examples[] = {
		"--where 'state=suspended and age>1m'",
		"--where 'wait=mutex and object=cfg' --sort -age",
		"--where 'holder=88 or holder=thread:812'",
		"--where '(name~\"^req-[0-9]+$\" or label.tenant=acme) and not holder'",
		"--where 'stack>64k' --columns id,stack,high-water,fn,name",
		"--where 'waiting~\"fd [0-9]+ read\"' --group-by fn",
	};
	size_t i;

	fputs("\nExamples:\n", out);
	for (i = 0; i < sizeof examples / sizeof examples[0]; i++)
		fprintf(out, "  %s list httpd %s\n", tool->name, examples[i]);
}

static void put(FILE *out)
{
	put_language(out);
	fputs("\nFields of --where, --sort, --columns and --group-by:\n", out);
	put_fields(out);
	put_examples(out);
}

static void print(void)
{
	put(stdout);
}

const struct tool_topic tool_topic_where = {
	.name = "where",
	.summary = "the fields, and the language of --where",
	.print = print,
};
