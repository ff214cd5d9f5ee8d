/* SPDX-License-Identifier: MIT */
/* topics.c - the table of topics. */
#include "fiberctl/topics.h"

#include <stddef.h>
#include <string.h>

const struct ctl_topic *const ctl_topics[] = {
	&ctl_topic_wait_kinds,
	&ctl_topic_where,
	NULL,
};

const struct ctl_topic *ctl_topic_find(const char *name)
{
	size_t i;

	for (i = 0; ctl_topics[i]; i++)
		if (strcmp(ctl_topics[i]->name, name) == 0)
			return ctl_topics[i];
	return NULL;
}
