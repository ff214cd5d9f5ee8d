/* SPDX-License-Identifier: MIT */
/* list.h - lists of fibers, as tests ask for them. */
#ifndef HARNESS_CLI_LIST_H
#define HARNESS_CLI_LIST_H

#include "tests/harness/cli/json.h"

/* The answer of `fiberctl list process --where where --json`, which must be whole and say how many match. The caller's to
 * json_decref(). */
json_t *list_where(const char *process, const char *where);

#endif
