/* SPDX-License-Identifier: MIT */
/* history.h - the totals of a program over the last minutes */
#ifndef SERVE_HISTORY_H
#define SERVE_HISTORY_H

#include <stddef.h>

#define SERVE_HISTORY 600 /* looks */

/* A ring of JSON texts, one for each look. Empty when zeroed. */
struct serve_history {
	char *totals[SERVE_HISTORY];
	size_t count; /* ever */
};

/* Takes over the text. */
void serve_history_add(struct serve_history *history, char *totals);

/* {"schemaVersion":1,"pid":..,"name":..,"samples":[...]}; allocated. NULL: no memory. */
char *serve_history_json(const struct serve_history *history, int pid, const char *name);

void serve_history_drop(struct serve_history *history);

#endif
