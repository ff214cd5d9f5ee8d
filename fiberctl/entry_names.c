/* SPDX-License-Identifier: MIT */
/*
 * entry_names.c - what to call a fiber that an answer has the name and the function's address of
 *
 * Answers that are not about fibers, as that of 'carriers', have no modules. So a second connection
 * asks for events that there are none of yet: this answer has the modules and nothing else. A
 * snapshot has them anyway. Without them the fiber has no name, which is no error.
 */
#include "fiberctl/entry_names.h"

#include <string.h>

#include "inspect/model/event.h"
#include "inspect/symbols/fiber_names.h"
#include "inspect/text/escape.h"
#include "tool/process.h"
#include "tool/tool.h"

static int ignore(void *context, const struct ins_event *event)
{
	(void)context;
	(void)event;
	return 0;
}

static bool open_modules(struct ctl_entry_names *names)
{
	const struct fib_wire_events nothing = {.ring = FIB_WIRE_RING_SLOW, .from = INT64_MAX};
	struct ins_summary summary;
	struct ins_error error;

	if (names->source || names->failed)
		return !names->failed;
	names->failed = tool_process_open(names->who, &names->source) != TOOL_WELL ||
			ins_fiber_names_begin(names->source) < 0;
	if (!names->failed && strcmp(names->source->kind, "snapshot") != 0)
		names->failed = ins_events_read(names->source, &nothing, ignore, NULL, &summary,
						&error) < 0;
	return !names->failed;
}

const char *ctl_entry_name(struct ctl_entry_names *names, const char *name, uint64_t entry,
			   char *buf, size_t size)
{
	struct ins_fiber fiber = {.row.entry = entry};

	if (!*name && entry && open_modules(names)) {
		names->source->namer->name(names->source->namer, names->source, &fiber);
		name = fiber.row.name;
	}
	return ins_escape_quoted(name, buf, size);
}

void ctl_entry_names_close(struct ctl_entry_names *names)
{
	ins_source_close(names->source);
	names->source = NULL;
}
