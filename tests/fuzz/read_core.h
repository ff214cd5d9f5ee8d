/* SPDX-License-Identifier: MIT */
/* read_core.h - do everything that fibertrace does with a core, on arbitrary bytes */
#ifndef FUZZ_READ_CORE_H
#define FUZZ_READ_CORE_H

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "inspect/render/render_crash.h"
#include "inspect/query/group.h"
#include "inspect/render/render.h"
#include "inspect/source/source.h"
#include "inspect/symbols/symbolize.h"
#include "inspect/unwind/unwind.h"

struct read_core {
	struct ins_source *source;
	struct ins_unwinder *unwinder;
	struct ins_symbols *symbols;
	struct ins_groups *groups;
	FILE *nowhere;
	unsigned left; /* fibers that are also shown one by one */
	struct ins_walk walk;
};

static inline int read_core_fiber(void *context, const struct ins_fiber *fiber)
{
	struct read_core *r = context;
	const struct fib_layout *layout = &r->source->layout;

	ins_unwind(r->unwinder, fiber, &r->walk);
	/* An incomplete walk has its reason. */
	fuzz_must(!r->walk.truncated || r->walk.reason[0]);
	fuzz_must(r->walk.count <= INS_WALK_MAX);
	if (r->left) {
		r->left--;
		ins_text_header(r->nowhere, layout, fiber);
		ins_text_frames(r->nowhere, r->symbols, &r->walk);
		json_decref(ins_json_fiber(layout, fiber, r->symbols, &r->walk));
	}
	return ins_groups_add(r->groups, NULL, fiber, &r->walk);
}

/* Whether fibers could be read. */
static inline int read_core(const void *bytes, size_t size)
{
	const struct ins_request request = {.stacks = true, .high_water = true};
	struct read_core r = {.left = 64};
	struct ins_error error = {""};
	struct ins_summary summary;
	char path[64], text[320];
	int fd = memfd_create("core", MFD_CLOEXEC), rc;

	fuzz_must(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	rc = ins_source_open_core(path, NULL, &error, &r.source);
	close(fd);
	if (rc < 0) {
		fuzz_must(error.text[0]);
		return rc;
	}
	r.nowhere = fopen("/dev/null", "we");
	fuzz_must(r.nowhere && ins_unwinder_new(r.source, &r.unwinder) == 0 &&
		  ins_symbols_new(r.source->modules, &r.symbols) == 0 &&
		  ins_groups_new(&r.groups) == 0);
	if (r.source->crash) {
		ins_crash_text(r.source->crash, text, sizeof text);
		json_decref(ins_crash_json(r.source->crash));
	}
	rc = ins_source_read(r.source, &request, read_core_fiber, &r, &summary, &error);
	fuzz_must(rc == 0 || error.text[0]);
	ins_text_end(r.nowhere, &summary, &r.source->problems);
	fclose(r.nowhere);
	ins_groups_free(r.groups);
	ins_symbols_free(r.symbols);
	ins_unwinder_free(r.unwinder);
	ins_source_close(r.source);
	return rc;
}

#endif
