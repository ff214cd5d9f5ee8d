/* SPDX-License-Identifier: MIT */
/* to_core_core.c - convert a core: add a thread for each fiber that did not run */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fibertrace/to_core.h"
#include "inspect/corefile/core.h"
#include "inspect/corefile/core_copy.h"
#include "inspect/corefile/core_handler.h"
#include "inspect/corefile/core_threads.h"

#define NOTE_MOST (64u << 20)

static int put(void *context, const char *name, uint32_t type, const void *contents, size_t size)
{
	struct to_core *t = context;

	return ins_core_writer_note(&t->writer, name, type, contents, size);
}

/* Copy a note of the process unchanged. */
static int copy_note(struct to_core *t, const struct ins_core *core, uint32_t type, uint64_t at,
		     uint32_t size)
{
	void *contents;
	int rc = 0;

	if (!at || !size || size > NOTE_MOST)
		return 0;
	contents = malloc(size);
	if (!contents)
		return -ENOMEM;
	if (pread(core->fd, contents, size, (off_t)at) == (ssize_t)size)
		rc = put(t, "CORE", type, contents, size);
	free(contents);
	return rc;
}

static int put_thread(struct to_core *t, const struct ins_core *core,
		      const struct ins_core_thread *thread)
{
	int rc = ins_core_fibers_name(&t->fibers, core->program);

	return rc == 0 ? ins_core_thread_notes(core, thread, put, t) : rc;
}

/* Choose the first thread: the one that crashed, else one that runs a fiber; count: none. */
static size_t choose_first(struct to_core *t, const struct ins_core *core,
			   const struct ins_core_thread *thread, size_t count)
{
	uint64_t left = core->file_size, end;
	size_t first = count, i;

	for (i = count; i-- > 0;) {
		struct ins_core_fiber *on = ins_core_fibers_on(
			&t->fibers,
			ins_core_handler_from(core, thread[i].registers.sp, &left, &end));

		if (on && on->runs) {
			on->carrier = thread[i].tid;
			first = i;
		}
	}
	return count && ins_core_fatal(thread[0].signal) ? 0 : first;
}

static int write_notes(struct to_core *t, const struct ins_core *core)
{
	struct ins_core_thread *thread;
	size_t count, first = 0, i;
	int rc = ins_core_threads(core, &thread, &count);

	if (rc == 0) {
		t->threads = count;
		t->fibers.info = core->info;
		first = choose_first(t, core, thread, count);
		ins_core_fibers_number(&t->fibers);
		rc = copy_note(t, core, NT_AUXV, core->auxv_at, core->auxv_size);
	}
	if (rc == 0)
		rc = copy_note(t, core, NT_FILE, core->files_at, core->files_size);
	if (rc == 0 && first < count)
		rc = put_thread(t, core, &thread[first]);
	if (rc == 0)
		rc = ins_core_fibers_notes(&t->fibers);
	for (i = 0; rc == 0 && i < count; i++)
		if (i != first)
			rc = put_thread(t, core, &thread[i]);
	free(thread);
	return rc == 0 ? ins_core_fibers_name(&t->fibers, core->program) : rc;
}

int to_core_core(struct to_core *t, const char *path)
{
	struct ins_core_part *part = NULL;
	struct ins_core core;
	int rc = ins_core_open(path, t->error, &core);

	if (rc < 0)
		return rc;
	rc = ins_core_parts_core(&core, t->stacks_only, &part);
	if (rc == 0)
		rc = ins_core_writer_begin(&t->writer, t->fd, part, core.loads);
	if (rc == 0) {
		t->writer.machine = core.machine;
		rc = ins_core_copy_core(&t->writer, &core);
	}
	if (rc == 0)
		rc = to_core_fibers(t, false);
	if (rc == 0)
		rc = write_notes(t, &core);
	if (rc == 0)
		rc = ins_core_writer_end(&t->writer);
	ins_core_close(&core);
	return rc;
}

void to_core_free(struct to_core *t)
{
	free(t->writer.part);
	ins_core_writer_free(&t->writer);
	ins_core_fibers_free(&t->fibers);
}
