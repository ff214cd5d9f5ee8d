/* SPDX-License-Identifier: MIT */
/*
 * core_threads.c - list the threads that a core's notes describe
 *
 * A note belongs to the thread whose status precedes it. Some notes belong to the process.
 */
#include "inspect/corefile/core_threads.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/corefile/status_note.h"
#include "inspect/elf/image.h"

#define NOTE_BYTES_MAX (1u << 20) /* per note of a thread */
#define THREADS_MAX    (1u << 22)

static int read_file(void *core, uint64_t offset, void *buf, size_t size)
{
	return ins_core_read_file(core, offset, buf, size);
}

static bool next(const struct ins_core *core, struct ins_notes *notes, struct ins_note *ret)
{
	return notes->at < notes->end && ins_note_next(read_file, (void *)core, notes, ret);
}

static int add(const struct ins_core *core, const struct ins_note *note, uint64_t at,
	       struct ins_core_thread **list, size_t *count)
{
	unsigned char bytes[INS_STATUS_NOTE_MOST];
	struct ins_core_thread *t, *more;
	struct ins_status_note status;

	if (ins_core_read_file(core, note->at, bytes, note->size) < 0 ||
	    !ins_status_note_take(core->machine, bytes, note->size, &status))
		return 0;
	if (!(*count & (*count - 1))) {
		more = realloc(*list, (*count ? *count * 2 : 1) * sizeof *more);
		if (!more)
			return -ENOMEM;
		*list = more;
	}
	t = &(*list)[(*count)++];
	memset(t, 0, sizeof *t);
	t->tid = status.tid;
	t->signal = status.signal;
	t->at = at;
	t->registers = status.registers;
	return 0;
}

int ins_core_threads(const struct ins_core *core, struct ins_core_thread **ret, size_t *ret_count)
{
	struct ins_notes notes = core->notes;
	uint64_t before = notes.at;
	struct ins_note note;
	int rc = 0;

	*ret = NULL;
	*ret_count = 0;
	while (rc == 0 && *ret_count < THREADS_MAX && next(core, &notes, &note)) {
		if (note.type == NT_PRSTATUS && strcmp(note.name, "CORE") == 0 &&
		    note.size == ins_status_note_size(core->machine)) {
			if (*ret_count)
				(*ret)[*ret_count - 1].end = before;
			rc = add(core, &note, before, ret, ret_count);
		}
		before = notes.at;
	}
	if (*ret_count)
		(*ret)[*ret_count - 1].end = before;
	return rc;
}

bool ins_core_fatal(int number)
{
	return number == SIGSEGV || number == SIGABRT || number == SIGBUS || number == SIGILL ||
	       number == SIGFPE || number == SIGSYS || number == SIGQUIT;
}

/* Whether a note is about the process: every thread repeats it, or one thread has it for all. */
static bool of_process(const struct ins_note *note)
{
	return strcmp(note->name, "CORE") == 0 &&
	       (note->type == NT_PRPSINFO || note->type == NT_AUXV || note->type == NT_FILE);
}

int ins_core_thread_notes(const struct ins_core *core, const struct ins_core_thread *thread,
			  ins_core_note_fn *fn, void *context)
{
	struct ins_notes notes = core->notes;
	struct ins_note note;
	int rc = 0;

	notes.at = thread->at;
	notes.end = thread->end;
	while (rc == 0 && next(core, &notes, &note)) {
		void *contents;

		if (of_process(&note) || note.size > NOTE_BYTES_MAX || !note.size)
			continue;
		contents = malloc(note.size);
		if (!contents)
			return -ENOMEM;
		rc = ins_core_read_file(core, note.at, contents, note.size) < 0
			     ? -EIO
			     : fn(context, note.name, note.type, contents, note.size);
		free(contents);
	}
	return rc;
}
