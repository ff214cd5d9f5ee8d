/* SPDX-License-Identifier: MIT */
/* list.h - request lists of fibers */
#ifndef HARNESS_CLI_LIST_H
#define HARNESS_CLI_LIST_H

#include "tests/harness/cli/json.h"

/* The answer of `fiberctl list process --where where --json`, which must be complete and have the
 * number of matches. The caller calls json_decref(). */
json_t *list_where(const char *process, const char *where);

#endif
