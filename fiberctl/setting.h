/* SPDX-License-Identifier: MIT */
/* setting.h - a setting of a program: what is equal for all that can be read and changed. */
#ifndef FIBERCTL_SETTING_H
#define FIBERCTL_SETTING_H

#include <jansson.h>

#include "fiberctl/fiberctl.h"
#include "fiberctl/reply.h"

struct ctl_setting_is {
	int64_t now, before; /* equal when it was only read */
	uint64_t events;     /* of the kind that it is about, so far ... */
	uint64_t dropped;    /* ... and of those, no more to be had */
};

struct ctl_setting {
	const char *name;  /* "pinned blocking" */
	const char *event; /* "long run" */
	const char *key;   /* of the JSON */
	int64_t leave;	   /* the value that asks for it and leaves it */
	/* Ask for a value to hold. TOOL_WELL, or the exit code after saying why not. */
	int (*ask)(struct ctl_reply *reply, int64_t wanted, struct ctl_setting_is *ret);
	/* A value in words. Returns buf, or a constant. */
	const char *(*say)(int64_t value, char buf[32]);
	/* What stands under the key. NULL without memory. */
	json_t *(*json)(const struct ctl_setting_is *is, bool changed);
};

/* Read the setting of `who`, or change it and read it back, unless wanted is `leave`, and print it. The exit code. */
int ctl_setting(const struct ctl_setting *setting, const char *who, int64_t wanted, bool json);

#endif
