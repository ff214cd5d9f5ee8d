/* SPDX-License-Identifier: MIT */
/* topic_where.h - `fiberctl help where`. */
#ifndef FIBERCTL_TOPIC_WHERE_H
#define FIBERCTL_TOPIC_WHERE_H

#include <stdio.h>

/* The language of --where, and every field that the options know. */
void ctl_topic_where(FILE *out);

#endif
