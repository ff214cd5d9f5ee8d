/* SPDX-License-Identifier: MIT */
/*
 * topics.h - help topics that are no commands
 *
 * A topic is a file topic_<name>.c and its line in topics.c.
 */
#ifndef TOOL_TOPICS_H
#define TOOL_TOPICS_H

struct tool_topic {
	const char *name;
	const char *summary; /* one line for fiberctl --help */
	void (*print)(void); /* prints it on standard output */
};

/* Ends with NULL. */
extern const struct tool_topic *const tool_topics[];

extern const struct tool_topic tool_topic_wait_kinds, tool_topic_where;

/* The topic of that name, or NULL. */
const struct tool_topic *tool_topic_find(const char *name);

#endif
