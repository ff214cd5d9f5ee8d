/* SPDX-License-Identifier: MIT */
/* topics.c - the table of topics. */
#include "tool/topics.h"

#include <stddef.h>
#include <string.h>

const struct tool_topic *const tool_topics[] = {
	&tool_topic_wait_kinds,
	&tool_topic_where,
	NULL,
};

const struct tool_topic *tool_topic_find(const char *name)
{
	size_t i;

	for (i = 0; tool_topics[i]; i++)
		if (strcmp(tool_topics[i]->name, name) == 0)
			return tool_topics[i];
	return NULL;
}
