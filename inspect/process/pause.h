/* SPDX-License-Identifier: MIT */
/*
 * pause.h - stopping one thread of another process for the time of a copy
 *
 * A fiber that runs has no registers but those of the CPU, and its stack changes. So the thread that runs it is stopped, its
 * registers, the fiber's record and its stack are copied, and it goes on; nothing is looked up meanwhile.
 */
#ifndef INS_PAUSE_H
#define INS_PAUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "inspect/process/memory.h"
#include "inspect/model/source.h"

#define INS_PAUSE_ASIDE (64u << 10) /* copied of a stack that is not the fiber's */

enum ins_pause_end {
	INS_PAUSE_TAKEN,     /* all was copied */
	INS_PAUSE_ELSEWHERE, /* it was stopped, and stood on another stack */
	INS_PAUSE_GONE,	     /* the thread has ended, or memory could not be read */
	INS_PAUSE_REFUSED,   /* it may not be stopped: error has the errno */
	INS_PAUSE_LATE,	     /* it did not stop in time: it waits in the kernel for a device */
	INS_PAUSE_NO_PORT,   /* the registers of this machine are not known here */
};

struct ins_pause {
	const struct ins_memory *memory;
	/* What is to be copied. */
	pid_t tid;
	uint64_t record, record_size;
	uint64_t stack_low, stack_size; /* of the fiber */
	bool aside; /* also where the thread stands on another stack, as a signal handler may */
	unsigned char *to_record; /* record_size bytes */
	unsigned char *bytes;	  /* room for what is copied of stacks: ins_pause_room() bytes */
	/* What was. */
	int error; /* why not, negative */
	struct ins_registers registers;
	uint64_t low, size;		/* what is copied of the fiber's stack, at bytes */
	uint64_t aside_low, aside_size; /* and of the other one, behind it */
};

/* Bytes that a copy of a fiber with a stack of that size may take. */
size_t ins_pause_room(uint64_t stack_size);

/* Stop thread pause->tid, copy, let it go on (ptrace_stop.h). Counted in *count unless it was refused. Blocks up to a second. */
enum ins_pause_end ins_pause(struct ins_pause *pause, struct ins_pauses *count);

#endif
