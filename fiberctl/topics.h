/* SPDX-License-Identifier: MIT */
/*
 * topics.h - what `fiberctl help` explains besides commands
 *
 * A topic is a file topic_<name>.c and its line in topics.c.
 */
#ifndef FIBERCTL_TOPICS_H
#define FIBERCTL_TOPICS_H

struct ctl_topic {
	const char *name;
	const char *summary; /* one line for fiberctl --help */
	void (*print)(void); /* all of it, on standard output */
};

/* Ends with NULL. */
extern const struct ctl_topic *const ctl_topics[];

extern const struct ctl_topic ctl_topic_wait_kinds, ctl_topic_where;

/* The topic of that name, or NULL. */
const struct ctl_topic *ctl_topic_find(const char *name);

#endif
