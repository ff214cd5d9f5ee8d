/* SPDX-License-Identifier: MIT */
/* entry_names.h - what to call a fiber that an answer has the name and the function's address of */
#ifndef FIBERCTL_ENTRY_NAMES_H
#define FIBERCTL_ENTRY_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ins_source;

/* Initialise with the PROCESS argument; the rest zero. */
struct ctl_entry_names {
	const char *who;
	struct ins_source *source; /* NULL until a fiber without a name is met */
	bool failed;
};

/*
 * The name; of a fiber without one that of its function, as "greet()"; "" if that is unknown.
 * entry: the function's address in the process, 0: unknown. The first unnamed fiber costs another
 * request to the process. The result is escaped for quotes. Returns buf.
 */
const char *ctl_entry_name(struct ctl_entry_names *names, const char *name, uint64_t entry,
			   char *buf, size_t size);

void ctl_entry_names_close(struct ctl_entry_names *names);

#endif
