/* SPDX-License-Identifier: MIT */
/* setting.h - read or change a setting of a program: the common part */
#ifndef FIBERCTL_SETTING_H
#define FIBERCTL_SETTING_H

#include <jansson.h>

#include "fiberctl/fiberctl.h"
#include "fiberctl/reply.h"

struct ctl_setting_is {
	int64_t now, before; /* equal if it was only read */
	uint64_t events;     /* count of its events so far */
	uint64_t dropped;    /* events that are no longer available */
};

struct ctl_setting {
	const char *name;  /* "pinned blocking" */
	const char *event; /* "long run" */
	const char *key;   /* JSON key */
	int64_t leave;	   /* the value for reading without a change */
	/* Request a value. TOOL_WELL, or the exit code after a message. */
	int (*ask)(struct ctl_reply *reply, int64_t wanted, struct ctl_setting_is *ret);
	/* A value in words. Returns buf, or a constant. */
	const char *(*say)(int64_t value, char buf[32]);
	/* The JSON value. NULL: no memory. */
	json_t *(*json)(const struct ctl_setting_is *is, bool changed);
};

/*
 * Read the setting of `who`, or change it and read it back (unless wanted is `leave`), and print
 * it. Returns the exit code.
 */
int ctl_setting(const struct ctl_setting *setting, const char *who, int64_t wanted, bool json);

#endif
