/* SPDX-License-Identifier: MIT */
/*
 * core_status.c - the threads in a core: their registers, and which of them a signal ended
 *
 * A record does not say where a running fiber is. The thread whose stack pointer lies in the
 * fiber's stack has its registers. The kernel writes the thread that received the signal first.
 * gcore ends no process: it writes no signal, or the one that stopped the process for gcore.
 */
#include "inspect/corefile/core_status.h"

#include <elf.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>

#include "inspect/corefile/core_handler.h"
#include "inspect/corefile/status_note.h"
#include "inspect/elf/image.h"

#define THREADS_MAX (1u << 16)

static bool ends_programs(int number)
{
	return number > 0 && number < 65 && number != SIGTRAP && number != SIGSTOP &&
	       number != SIGINT && number != SIGCONT && number != SIGCHLD;
}

static void take_status(struct ins_core *core, const struct ins_note *note)
{
	struct ins_core_status *t, *more;
	unsigned char bytes[INS_STATUS_NOTE_MOST];
	const size_t size = ins_status_note_size(core->machine);
	struct ins_status_note status;

	if (note->size < size || core->threads == THREADS_MAX ||
	    ins_core_read_file(core, note->at, bytes, size) < 0 ||
	    !ins_status_note_take(core->machine, bytes, size, &status))
		return;
	if ((core->threads & (core->threads - 1)) == 0) {
		more = realloc(core->thread,
			       (core->threads ? core->threads * 2 : 1) * sizeof *core->thread);
		if (!more)
			return;
		core->thread = more;
	}
	t = &core->thread[core->threads];
	*t = (struct ins_core_status){.tid = status.tid, .registers = status.registers};
	t->call = status.has_call ? status.call : INS_THREAD_STACK_CALL_UNKNOWN;
	if (core->threads++ == 0 && ends_programs(status.signal)) {
		core->crash.signal = status.signal;
		core->crash.thread = t->tid;
		core->crash.pc = t->registers.pc;
		core->crash.sp = t->registers.sp;
	}
}

/* Take the signal of the thread whose status was read last. */
static void take_signal(struct ins_core *core, const struct ins_note *note)
{
	siginfo_t info;

	if (core->threads != 1 || !core->crash.signal || note->size < sizeof info ||
	    ins_core_read_file(core, note->at, &info, sizeof info) < 0)
		return;
	ins_status_note_swap_signal(core->machine, &info);
	if (info.si_signo != core->crash.signal)
		return;
	core->crash.code = info.si_code;
	if (info.si_code <= 0) {
		core->crash.sender = info.si_pid;
		return;
	}
	if (info.si_signo != SIGSEGV && info.si_signo != SIGBUS && info.si_signo != SIGFPE &&
	    info.si_signo != SIGILL)
		return;
	core->crash.has_address = true;
	core->crash.address = (uint64_t)(uintptr_t)info.si_addr;
}

void ins_core_take_status(struct ins_core *core, const struct ins_note *note)
{
	if (note->type == NT_PRSTATUS)
		take_status(core, note);
	else if (note->type == NT_SIGINFO)
		take_signal(core, note);
}

static int by_home(const void *a, const void *b)
{
	const struct ins_core_status *x = a, *y = b;

	return x->home < y->home ? -1 : x->home > y->home;
}

void ins_core_sort_statuses(struct ins_core *core)
{
	/* Stacks do not overlap, so no more than the file's size is searched. */
	uint64_t left = core->file_size;
	size_t i;

	/* A thread that calls abort() is killed by its own process. */
	if (core->crash.sender == core->pid || core->crash.sender == core->crash.thread)
		core->crash.sender = 0;
	for (i = 0; i < core->threads; i++) {
		struct ins_core_status *t = &core->thread[i];

		t->home = ins_core_handler_from(core, t->registers.sp, &left, &t->own_end);
		/* The first thread received the signal. */
		if (i == 0 && core->crash.signal)
			core->crash.sp = t->home;
	}
	if (core->threads)
		qsort(core->thread, core->threads, sizeof *core->thread, by_home);
}

const struct ins_core_status *ins_core_status_on(const struct ins_core *core, uint64_t low,
						 uint64_t size)
{
	size_t from = 0, to = core->threads;

	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (core->thread[mid].home < low)
			from = mid + 1;
		else
			to = mid;
	}
	if (from == core->threads || core->thread[from].home - low >= size)
		return NULL;
	return &core->thread[from];
}
