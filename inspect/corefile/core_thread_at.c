/* SPDX-License-Identifier: MIT */
/*
 * core_thread_at.c - list the threads of a core and say where each was
 *
 * All registers of each thread are in the core, so the arguments of its system call are known. A
 * thread that was in none was computing. So was the thread whose own action ended the program: it
 * may still have the number of the call that raised the signal.
 */
#include "inspect/corefile/core_thread_at.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layout/row.h"

int ins_core_thread_ids(const struct ins_core *core, struct ins_thread_ids *ret)
{
	size_t i;

	ret->count = 0;
	ret->tid = calloc(core->threads + 1, sizeof *ret->tid);
	if (!ret->tid)
		return -ENOMEM;
	for (i = 0; i < core->threads; i++)
		ret->tid[ret->count++] = (uint64_t)core->thread[i].tid;
	return 0;
}

const struct ins_core_status *ins_core_thread(const struct ins_core *core, uint64_t tid)
{
	size_t i;

	for (i = 0; i < core->threads; i++)
		if ((uint64_t)core->thread[i].tid == tid)
			return &core->thread[i];
	return NULL;
}

int ins_core_thread_at(const struct ins_core *core, uint64_t tid, struct ins_thread_at *ret)
{
	const struct ins_core_status *t = ins_core_thread(core, tid);
	unsigned i;

	memset(ret, 0, sizeof *ret);
	if (!t)
		return -ESRCH;
	ret->tid = ret->inner = tid;
	if (t->tid == core->pid)
		snprintf(ret->name, sizeof ret->name, "%s", core->program);
	ret->cpu = ret->runnable = FIB_ROW_UNKNOWN;
	ret->registers = t->registers;
	ret->call = t->call >= 0 ? t->call : -1;
	if (core->crash.signal && core->crash.thread == t->tid)
		ret->call = -1;
	ret->runs = ret->call < 0;
	for (i = 0; i < FIB_SLEEPER_ARGUMENTS && ret->call >= 0; i++)
		if (!ins_registers_argument(&t->registers, i, &ret->argument[i]))
			ret->call = -1;
	return 0;
}
