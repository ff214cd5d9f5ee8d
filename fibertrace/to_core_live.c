/* SPDX-License-Identifier: MIT */
/*
 * to_core_live.c - write a core of a process that continues to run
 *
 * First memory is copied without a stop, then each fiber, whose record and stack are of one moment.
 * Then each plain thread is stopped while its registers and stack are copied. So the data of one
 * fiber or thread is consistent. Different fibers or threads, and the memory that their frames
 * point to, may be of different moments.
 *
 * A thread is on its own stack or on that of the fiber that it runs. That fiber may have been
 * copied while it did not run. Then the thread's data counts, and the fiber is running, or has
 * exited.
 */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fibertrace/to_core.h"
#include "inspect/corefile/core_copy.h"
#include "inspect/process/thread_state.h"
#include "inspect/text/member.h"
#include "inspect/text/read_file.h"
#include "inspect/process/thread.h"
#include "inspect/process/tracer.h"

#define STACK_MOST (1u << 20) /* of a stopped thread */
#define TRIES	   8

struct thread {
	struct ins_thread_state state;
	char name[INS_THREAD_NAME];
	struct ins_core_fiber *fiber; /* the fiber that it runs; NULL: none */
};

struct threads {
	struct to_core *t;
	struct thread *at;
	size_t count;
	/* of the stopped thread */
	struct ins_core_fiber *fiber;
	uint64_t low;
	size_t size;
	unsigned char *stack, *record;
};

/* The end of the memory area that contains sp. */
static uint64_t top_of(const struct ins_core_writer *w, uint64_t sp)
{
	size_t i;

	for (i = 0; i < w->parts; i++)
		if (sp >= w->part[i].start && sp < w->part[i].end)
			return w->part[i].end;
	return sp;
}

static uint64_t field(const struct threads *s, enum fib_layout_field_id id)
{
	uint64_t value;

	memcpy(&value, s->record + s->t->source->layout.fields[id].offset, sizeof value);
	return value;
}

/* While the thread is stopped: copy its stack, and the record of its fiber. */
static int copy_thread(void *context, const struct ins_thread_state *state)
{
	struct threads *s = context;
	struct thread *one = &s->at[s->count];
	struct ins_source *source = s->t->source;
	uint64_t sp = state->registers.sp, top;

	one->state = *state;
	one->fiber = NULL;
	s->fiber = ins_core_fibers_on(&s->t->fibers, sp);
	top = s->fiber ? s->fiber->stack_low + s->fiber->stack_size : top_of(&s->t->writer, sp);
	s->low = sp - INS_RED_ZONE;
	s->size = top - s->low < STACK_MOST ? top - s->low : STACK_MOST;
	if (top <= sp || source->memory(source, s->low, s->stack, s->size) < 0)
		s->size = 0;
	if (!s->fiber)
		return 0;
	if (source->memory(source, s->fiber->record, s->record, source->layout.record_size) < 0)
		return -EFAULT;
	/* The thread has just left this stack, or is about to enter it. */
	if (field(s, FIB_FIELD_ID) == s->fiber->id && !(field(s, FIB_FIELD_SEQ) & 1))
		return -EAGAIN;
	return 0;
}

/* Afterwards: write the thread's data on its stack and fiber to the core. */
static int settle(struct threads *s)
{
	struct thread *one = &s->at[s->count];
	struct ins_core_fiber *fiber = s->fiber;
	int rc = ins_core_writer_memory(&s->t->writer, s->low, s->stack, s->size, true);

	if (rc < 0 || !fiber)
		return rc;
	if (field(s, FIB_FIELD_ID) != fiber->id)
		return ins_core_fibers_drop(&s->t->fibers, fiber);
	fiber->own = false;
	fiber->runs = true;
	fiber->carrier = one->state.tid;
	one->fiber = fiber;
	return ins_core_writer_memory(&s->t->writer, fiber->record, s->record,
				      s->t->source->layout.record_size, true);
}

/*
 * Read the thread's system call, sp and pc from /proc, which requires the right to read its memory.
 * False: it runs.
 */
static bool place(const struct threads *s, pid_t tid, char line[256], struct ins_registers *ret)
{
	char path[64], *text, *at;
	size_t size;

	snprintf(path, sizeof path, "/proc/%d/task/%d/syscall", (int)s->t->source->pid, (int)tid);
	if (ins_read_file(path, &text, &size) < 0)
		return false;
	snprintf(line, 256, "%s", text);
	free(text);
	memset(ret, 0, sizeof *ret);
	/* sp and pc are the last two words. */
	at = strrchr(line, ' ');
	if (!at)
		return false;
	ret->pc = strtoull(at, NULL, 16);
	while (at > line && at[-1] != ' ')
		at--;
	ret->sp = strtoull(at, NULL, 16);
	return ret->sp && ret->pc;
}

/*
 * A thread that a debugger stopped, or that waits. Its sp and pc are used if they are equal before
 * and after.
 */
static int take_traced(struct threads *s, pid_t tid)
{
	struct ins_thread_state state = {.tid = tid};
	char before[256], after[256], why[INS_TRACER_EXPLAIN_SIZE];
	struct ins_registers again;
	int rc;

	if (!place(s, tid, before, &state.registers) ||
	    !ins_registers_to_status(&state.registers, tid, &state.status))
		return -EPERM;
	rc = copy_thread(s, &state);
	if (rc == 0 && (!place(s, tid, after, &again) || strcmp(before, after) != 0))
		rc = -EPERM;
	if (rc == 0)
		ins_problems_add(
			&s->t->source->problems,
			"of a thread's registers only those are known that its frames are "
			"found with: %s",
			ins_tracer_explain(s->t->source->pid, tid, -EPERM, why, sizeof why));
	return rc;
}

static int take_thread(struct threads *s, pid_t tid)
{
	struct thread *more = realloc(s->at, (s->count + 1) * sizeof *more);
	char why[INS_TRACER_EXPLAIN_SIZE];
	unsigned tries;
	int rc = -EAGAIN;

	if (!more)
		return -ENOMEM;
	s->at = more;
	for (tries = 0; rc == -EAGAIN && tries < TRIES; tries++)
		rc = ins_thread_state_take(tid, copy_thread, s, NULL);
	if (rc == -EPERM)
		rc = take_traced(s, tid);
	if (rc == -ESRCH)
		return 0;
	if (rc < 0) {
		ins_problems_add(&s->t->source->problems,
				 "a thread is missing: its registers cannot be had: %s",
				 rc == -ETIMEDOUT ? "it does not stop"
						  : ins_tracer_explain(s->t->source->pid, tid, rc,
								       why, sizeof why));
		return 0;
	}
	ins_thread_look(s->t->source->pid, (uint64_t)tid, s->at[s->count].name);
	rc = settle(s);
	s->count++;
	return rc;
}

static int take_threads(struct threads *s)
{
	const size_t size = s->t->source->layout.record_size;
	struct dirent *entry;
	char path[64];
	DIR *dir;
	int rc = 0;

	s->stack = malloc(STACK_MOST);
	s->record = malloc(size ? size : 1); /* without fibers there are no records */
	if (!s->stack || !s->record)
		return -ENOMEM;
	snprintf(path, sizeof path, "/proc/%d/task", (int)s->t->source->pid);
	dir = opendir(path);
	if (!dir)
		return -errno;
	while (rc == 0 && (entry = readdir(dir))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid > 0)
			rc = take_thread(s, tid);
	}
	closedir(dir);
	return rc;
}

static int put_thread(struct threads *s, const struct thread *one)
{
	struct ins_core_writer *w = &s->t->writer;
	int rc = ins_core_fibers_name(&s->t->fibers, one->name);

	if (rc == 0)
		rc = ins_core_writer_note(w, "CORE", NT_PRSTATUS, &one->state.status,
					  sizeof one->state.status);
	if (rc == 0 && one->state.fpregs_size)
		rc = ins_core_writer_note(w, "CORE", NT_FPREGSET, one->state.fpregs,
					  one->state.fpregs_size);
	return rc;
}

/* First a thread that runs a fiber, then the fibers, then the other threads. */
static int put_all(struct threads *s)
{
	size_t first = 0, i;
	int rc = 0;

	while (first < s->count && !s->at[first].fiber)
		first++;
	if (first < s->count)
		rc = put_thread(s, &s->at[first]);
	if (rc == 0)
		rc = ins_core_fibers_notes(&s->t->fibers);
	for (i = 0; rc == 0 && i < s->count; i++)
		if (i != first)
			rc = put_thread(s, &s->at[i]);
	return rc == 0 ? ins_core_fibers_name(&s->t->fibers, s->t->fibers.info.pr_fname) : rc;
}

static int write_notes(struct to_core *t, const struct ins_mappings *mappings)
{
	struct threads s = {.t = t};
	int64_t clock;
	int rc = take_threads(&s);

	t->threads = s.count;
	ins_core_fibers_number(&t->fibers);
	if (rc == 0)
		rc = to_core_process_notes(t, mappings);
	if (rc == 0)
		rc = put_all(&s);
	/* The clock for ages; it advanced since memory was copied. */
	if (rc == 0 &&
	    t->source->memory(t->source, t->source->layout.clock, &clock, sizeof clock) == 0)
		rc = ins_core_writer_memory(&t->writer, t->source->layout.clock, &clock,
					    sizeof clock, true);
	free(s.at);
	free(s.stack);
	free(s.record);
	return rc;
}

int to_core_live(struct to_core *t)
{
	const struct fib_layout *layout = &t->source->layout;
	/* Each record is copied with its fiber's stack. */
	const uint64_t size = t->threads_only ? 0 : layout->capacity * layout->record_size;
	const struct ins_core_gap records = {layout->records, layout->records + size};
	struct ins_core_part *part = NULL;
	struct ins_mappings mappings;
	int rc = ins_mappings_read(ins_member(t->source->pid), &mappings, t->error);

	if (rc == 0)
		rc = ins_core_parts_live(&mappings, t->stacks_only, &part);
	if (rc == 0)
		rc = ins_core_writer_begin(&t->writer, t->fd, part, mappings.count);
	if (rc == 0)
		rc = ins_core_copy_live(&t->writer, t->source, &records);
	if (rc == 0)
		rc = to_core_fibers(t, true);
	if (rc == 0)
		rc = write_notes(t, &mappings);
	if (rc == 0)
		rc = ins_core_writer_end(&t->writer);
	ins_mappings_free(&mappings);
	return rc;
}
