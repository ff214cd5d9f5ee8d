/* SPDX-License-Identifier: MIT */
/*
 * pause.c - stop one thread of another process for the time of a copy
 *
 * Some bytes below sp are copied too: a leaf function may have its frame there.
 */
#include "inspect/process/pause.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "inspect/process/ptrace_stop.h"

#define STACK_MAX   (16u << 20)	 /* bytes copied of one stack */
#define STACK_ASIDE (256u << 10) /* bytes copied of the fiber's stack if sp is not on it */
#define PAGE	    4096u

static bool registers_of(pid_t tid, struct ins_registers *ret)
{
	elf_gregset_t words;
	struct iovec io = {&words, sizeof words};

	return ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &io) == 0 &&
	       ins_registers_from_kernel(&words, ret);
}

/* Copy as much as exists, page by page. */
static uint64_t copy_some(const struct ins_memory *memory, uint64_t from, unsigned char *to,
			  uint64_t size)
{
	uint64_t done = 0;

	while (done < size) {
		uint64_t n = PAGE - (from + done) % PAGE;
		struct ins_memory_piece piece = {from + done, to + done, 0};

		piece.size = n < size - done ? n : size - done;
		if (ins_memory_read(memory, &piece, 1) < 0)
			break;
		done += piece.size;
	}
	return done;
}

/*
 * Whether a word of the copy points into the fiber's stack. In a signal handler, the registers that
 * the kernel saved do.
 */
static bool points_into(const struct ins_pause *p, const unsigned char *bytes, uint64_t size)
{
	uint64_t i, word;

	for (i = 0; i + sizeof word <= size; i += sizeof word) {
		memcpy(&word, bytes + i, sizeof word);
		if (word - p->stack_low < p->stack_size)
			return true;
	}
	return false;
}

static enum ins_pause_end copy_aside(struct ins_pause *p)
{
	const uint64_t top = p->stack_low + p->stack_size;
	struct ins_memory_piece piece[2] = {{p->record, p->to_record, p->record_size}};

	p->size = p->stack_size < STACK_ASIDE ? p->stack_size : STACK_ASIDE;
	p->low = top - p->size;
	p->aside_low = p->registers.sp - INS_RED_ZONE;
	p->aside_size = copy_some(p->memory, p->aside_low, p->bytes + p->size, INS_PAUSE_ASIDE);
	if (!points_into(p, p->bytes + p->size, p->aside_size))
		return INS_PAUSE_ELSEWHERE;
	piece[1] = (struct ins_memory_piece){p->low, p->bytes, p->size};
	return ins_memory_read(p->memory, piece, 2) < 0 ? INS_PAUSE_GONE : INS_PAUSE_TAKEN;
}

static enum ins_pause_end copy(struct ins_pause *p)
{
	const uint64_t top = p->stack_low + p->stack_size, sp = p->registers.sp;
	struct ins_memory_piece piece[2] = {{p->record, p->to_record, p->record_size}};

	p->aside_size = 0;
	if (sp < p->stack_low || sp > top)
		return p->aside ? copy_aside(p) : INS_PAUSE_ELSEWHERE;
	p->low = sp - p->stack_low < INS_RED_ZONE ? p->stack_low : sp - INS_RED_ZONE;
	p->size = top - p->low < STACK_MAX ? top - p->low : STACK_MAX;
	piece[1] = (struct ins_memory_piece){p->low, p->bytes, p->size};
	return ins_memory_read(p->memory, piece, 2) < 0 ? INS_PAUSE_GONE : INS_PAUSE_TAKEN;
}

static int use(void *pause, pid_t tid)
{
	struct ins_pause *p = pause;

	return (int)(registers_of(tid, &p->registers) ? copy(p) : INS_PAUSE_NO_PORT);
}

size_t ins_pause_room(uint64_t stack_size)
{
	return (size_t)(stack_size < STACK_MAX ? stack_size : STACK_MAX) + INS_PAUSE_ASIDE;
}

void ins_pause_count(struct ins_pauses *count, const struct ins_ptrace_times *took)
{
	if (!took->held_ns)
		return;
	count->threads++;
	count->total_ns += took->held_ns;
	if (took->held_ns > count->longest_ns)
		count->longest_ns = took->held_ns;
	if (took->seen_ns > count->copy_ns)
		count->copy_ns = took->seen_ns;
}

enum ins_pause_end ins_pause(struct ins_pause *pause, struct ins_pauses *count)
{
	struct ins_ptrace_times took;
	const int rc = ins_ptrace_stop(pause->tid, use, pause, &took);

	ins_pause_count(count, &took);
	pause->error = rc < 0 ? rc : 0;
	return rc >= 0		  ? (enum ins_pause_end)rc
	       : rc == -ESRCH	  ? INS_PAUSE_GONE
	       : rc == -ETIMEDOUT ? INS_PAUSE_LATE
				  : INS_PAUSE_REFUSED;
}
