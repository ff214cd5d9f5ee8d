/* SPDX-License-Identifier: MIT */
/* thread_wait.c - find what a sleeping thread waits for, by the system call that it is in */
#include "inspect/threads/thread_wait.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/syscall.h>

#include "inspect/model/call_names.h"
#include "inspect/model/words.h"
#include "inspect/threads/deadline.h"
#include "inspect/threads/descriptor.h"
#include "inspect/threads/futex.h"

#define TIMER_ABSOLUTE 1 /* flag of clock_nanosleep(2) */

bool ins_thread_wait_needs_walk(const struct ins_thread_at *at)
{
	return at->call == SYS_futex;
}

static void take_sleep(const struct ins_sleeper *s, struct fib_row *row)
{
	const uint64_t *argument = s->at->argument;

	row->wait_kind = FIB_WAIT_SLEEP;
	if (s->at->call == SYS_nanosleep)
		row->deadline = ins_deadline_after(s, argument[0]);
	else if (argument[1] & TIMER_ABSOLUTE)
		row->deadline = ins_deadline_at(s, argument[2], (clockid_t)argument[0]);
	else
		row->deadline = ins_deadline_after(s, argument[2]);
}

static void take_other(const struct ins_sleeper *s, struct fib_row *row)
{
	const char *name = ins_call_name(s->at->call);

	row->wait_kind = INS_WAIT_CALL;
	if (name)
		snprintf(row->object_name, sizeof row->object_name, "%s", name);
	else
		snprintf(row->object_name, sizeof row->object_name, "%" PRId64, s->at->call);
}

void ins_thread_wait(const struct ins_sleeper *sleeper, struct fib_row *row)
{
	switch (sleeper->at->call) {
	case SYS_futex:
		ins_futex_wait(sleeper, row);
		break;
	case SYS_nanosleep:
	case SYS_clock_nanosleep:
		take_sleep(sleeper, row);
		break;
	default:
		if (sleeper->at->call >= 0 && !ins_descriptor_wait(sleeper, row))
			take_other(sleeper, row);
		break;
	}
}
