/* SPDX-License-Identifier: MIT */
/*
 * pause.h - stop one thread of another process for the time of a copy
 *
 * The registers of a running fiber are only in the CPU, and its stack changes. So the thread that
 * runs the fiber is stopped; its registers, the fiber's record and the fiber's stack are copied;
 * and the thread is resumed. Nothing is looked up meanwhile.
 */
#ifndef INS_PAUSE_H
#define INS_PAUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "inspect/process/memory.h"
#include "inspect/model/source.h"

#define INS_PAUSE_ASIDE (64u << 10) /* bytes copied of a stack that is not the fiber's */

enum ins_pause_end {
	INS_PAUSE_TAKEN,     /* all was copied */
	INS_PAUSE_ELSEWHERE, /* the thread was stopped; it was on another stack */
	INS_PAUSE_GONE,	     /* the thread has ended, or memory could not be read */
	INS_PAUSE_REFUSED,   /* the thread may not be stopped: error has the errno */
	INS_PAUSE_LATE,	     /* the thread did not stop in time: it waits in the kernel for a
			      * device */
	INS_PAUSE_NO_PORT,   /* the registers of this machine are unknown */
};

struct ins_pause {
	const struct ins_memory *memory;
	/* What to copy. */
	pid_t tid;
	uint64_t record, record_size;
	uint64_t stack_low, stack_size; /* of the fiber */
	bool aside; /* copy also if the thread is on another stack, as a signal handler may be */
	unsigned char *to_record; /* record_size bytes */
	unsigned char *bytes;	  /* room for the copies of stacks: ins_pause_room() bytes */
	/* What was copied. */
	int error; /* why nothing was copied, negative */
	struct ins_registers registers;
	uint64_t low, size;		/* the part of the fiber's stack that is at bytes */
	uint64_t aside_low, aside_size; /* the part of the other stack, behind it */
};

/* How many bytes a copy of a fiber with a stack of that size may take. */
size_t ins_pause_room(uint64_t stack_size);

/* Count a stop. */
struct ins_ptrace_times;
void ins_pause_count(struct ins_pauses *count, const struct ins_ptrace_times *took);

/*
 * Stop thread pause->tid, copy, resume the thread (ptrace_stop.h). Counted in *count unless it was
 * refused. Blocks up to a second.
 */
enum ins_pause_end ins_pause(struct ins_pause *pause, struct ins_pauses *count);

#endif
