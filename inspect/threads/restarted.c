/* SPDX-License-Identifier: MIT */
/*
 * restarted.c - the system call of a thread that was stopped in it and resumed
 *
 * After a stop (by a signal or a debugger) the kernel resumes some waits with a timeout as another
 * call, restart_syscall(2). The arguments are still those of the first one, but its number is lost.
 * It is taken from the instruction that loaded it, if that is just before the program's pc.
 */
#include "inspect/threads/restarted.h"

#include <elf.h>
#include <string.h>
#include <sys/syscall.h>

#include "inspect/elf/image.h"

/* mov $number, %eax; syscall */
#define LOAD 0xb8
#define SIZE 7

static bool is_restartable(int64_t call)
{
	switch (call) {
	case SYS_futex:
	case SYS_nanosleep:
	case SYS_clock_nanosleep:
#ifdef SYS_poll
	case SYS_poll:
#endif
		return true;
	default:
		return false;
	}
}

int64_t ins_restarted_call(struct ins_source *source, const struct ins_thread_at *at)
{
	unsigned char code[SIZE];
	int32_t call;

	if (at->call != SYS_restart_syscall || ins_machine_self() != EM_X86_64 ||
	    ins_source_memory(source, NULL, at->registers.pc - SIZE, code, SIZE) < 0 ||
	    code[0] != LOAD || code[5] != 0x0f || code[6] != 0x05)
		return at->call;
	memcpy(&call, code + 1, sizeof call);
	return is_restartable(call) ? call : at->call;
}
