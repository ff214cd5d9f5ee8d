/* SPDX-License-Identifier: MIT */
/*
 * process.h - the room process/: a live process as the kernel shows it
 *
 * Takes: the number of a process, or of one of its threads.
 * Gives: its memory, its threads with their registers and stacks, or the right that is missing.
 * Used by: source/ for live processes, waits/ and render/ for threads; tool/, fiberctl/,
 *          fibertrace/.
 *
 * Memory: memory.h, present.h, pagemap.h. Threads: thread.h, threads.h, thread_stack_live.h,
 * running_live.h.
 * Stopping a thread for a moment: ptrace_stop.h, thread_state.h, pause.h, runner.h. Reasons for a failure:
 * permission.h, tracer.h, silence.h.
 */
#ifndef INS_PROCESS_H
#define INS_PROCESS_H

#endif
