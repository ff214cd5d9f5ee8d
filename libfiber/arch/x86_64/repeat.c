/* SPDX-License-Identifier: MIT */
/*
 * repeat.c - make a thread repeat the system call that a signal has interrupted
 *
 * The kernel restarts most calls after a handler with SA_RESTART. Those that sleep for some time fail
 * with EINTR instead, which a program whose signals are blocked never sees otherwise. After the call
 * the registers still hold its arguments. Only rax, which had the number, has the result.
 *
 * The number is found in the code:
 *
 *	mov $7, %eax; syscall			the number is a constant
 *	mov %r8, %rax; mov %r9, %rsi; syscall	%r8 still has it
 *	mov %rsi, %rax; ... mov %rcx, %rsi	%rsi has another value: the caller may have the number
 *	...; syscall; ret
 *
 * The last one is __syscall_cp_asm() of musl, which makes each call that is a cancellation point. Its
 * only caller then compares the result with -EINTR, and the number with that of close(). So the code
 * behind the return address says which register has the number.
 *
 * Instructions cannot be decoded backwards with certainty. The chain that begins with the load of rax
 * must end exactly at the system call, and the number must be one of a call that fails in this way.
 *
 * Memory beside the page of the system call may be unmapped. Code before it is read in its page only.
 * Code behind it is read instruction by instruction, on the path that the thread will take.
 */
#include "repeat.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

#include "decode.h"

#define CALL_SIZE   2u	/* syscall */
#define CHAIN_BYTES 48u /* from the load of rax to the call */
#define CHAIN_STEPS 9u
#define PATH_STEPS  12u /* instructions of the caller that are looked at */
#define LONGEST	    15u /* bytes of an instruction */
#define PAGE	    4096u
#define RETURN	    0xc3
/* musl cancels a thread with this signal. */
#define CANCEL_SIGNAL 33

/* Those that the kernel does not restart: signal(7). */
static bool is_sleep(uint64_t number)
{
	static const uint16_t numbers[] = {
		SYS_poll,
		SYS_select,
		SYS_pause,
		SYS_nanosleep,
		SYS_accept,
		SYS_connect,
		SYS_sendto,
		SYS_recvfrom,
		SYS_sendmsg,
		SYS_recvmsg,
		SYS_semop,
		SYS_msgsnd,
		SYS_msgrcv,
		SYS_rt_sigsuspend,
		SYS_rt_sigtimedwait,
		SYS_futex,
		SYS_io_getevents,
		SYS_semtimedop,
		SYS_clock_nanosleep,
		SYS_epoll_wait,
		SYS_pselect6,
		SYS_ppoll,
		SYS_epoll_pwait,
		SYS_accept4,
		SYS_recvmmsg,
		SYS_sendmmsg,
		333 /* io_pgetevents */,
		426 /* io_uring_enter */,
		441 /* epoll_pwait2 */,
		449 /* futex_waitv */,
	};
	size_t i;

	for (i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (numbers[i] == number)
			return true;
	return false;
}

/* Where the context has a register, by the number that instructions use. */
static uint64_t value_of(const greg_t *at, int reg)
{
	static const uint8_t places[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
					   REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
					   REG_R12, REG_R13, REG_R14, REG_R15};

	return (uint64_t)at[places[(unsigned)reg % 16]];
}

static bool keeps_for_callers(int reg)
{
	return reg == 3 || reg == 5 || reg >= 12; /* rbx, rbp, r12 ... r15 */
}

static unsigned bit(int reg)
{
	return reg == FIB_X86_NONE ? 0 : 1u << reg;
}

/* The rest of a chain, from code to the call: which registers it writes. */
static bool follow(const unsigned char *code, const unsigned char *call, unsigned *ret_written)
{
	unsigned steps;

	*ret_written = 0;
	for (steps = 0; steps < CHAIN_STEPS && code < call; steps++) {
		const struct fib_x86_insn insn = fib_x86_decode(code, call);

		if (insn.kind == FIB_X86_UNKNOWN || insn.target)
			return false;
		*ret_written |= bit(insn.to);
		code += insn.length;
	}
	return code == call && !(*ret_written & bit(FIB_X86_RAX));
}

/* Whether the bytes at code may be the end of an instruction whose prefix is the byte before. */
static bool has_prefix(const unsigned char *code, const unsigned char *low)
{
	return code > low && (code[-1] & 0xf0) == 0x40 && (code[0] & 0xf0) != 0x40;
}

/* The instruction that loads rax for the call. */
static bool find_load(const unsigned char *call, struct fib_x86_insn *ret, unsigned *ret_written)
{
	const unsigned char *const page = call - (uintptr_t)call % PAGE;
	const unsigned char *const low =
		(size_t)(call - page) > CHAIN_BYTES ? call - CHAIN_BYTES : page;
	const unsigned char *code;

	for (code = call; code > low;) {
		code--;
		if (has_prefix(code, low))
			continue;
		*ret = fib_x86_decode(code, call);
		if ((ret->kind == FIB_X86_LOAD || ret->kind == FIB_X86_MOVE) &&
		    ret->to == FIB_X86_RAX && follow(code + ret->length, call, ret_written))
			return true;
	}
	return false;
}

/* What the code of a caller has shown. */
struct path {
	const unsigned char *code;
	unsigned written; /* registers */
	int number;	  /* the register that was compared with the number of close() */
	bool equal;	  /* the last comparison */
	bool compared;	  /* equal is valid */
	bool interrupted; /* the result was compared with -EINTR */
};

/* Go on by one instruction. Returns false where it is not known what the thread will do. */
static bool step(struct path *path, const greg_t *at)
{
	const struct fib_x86_insn insn = fib_x86_decode(path->code, path->code + LONGEST);
	bool taken = insn.kind == FIB_X86_JUMP;

	switch (insn.kind) {
	case FIB_X86_UNKNOWN:
		return false;
	case FIB_X86_COMPARE:
		if (path->written & bit(insn.from))
			return false;
		path->equal = (int64_t)value_of(at, insn.from) == insn.value;
		path->compared = true;
		if (insn.from == FIB_X86_RAX && insn.value == -EINTR)
			path->interrupted = true;
		else if (keeps_for_callers(insn.from) && insn.value == SYS_close)
			path->number = insn.from;
		break;
	case FIB_X86_JUMP_EQUAL:
	case FIB_X86_JUMP_UNEQUAL:
		if (!path->compared)
			return false;
		taken = path->equal == (insn.kind == FIB_X86_JUMP_EQUAL);
		break;
	case FIB_X86_OTHER:
		path->compared = false;
		break;
	default:
		break;
	}
	path->written |= bit(insn.to);
	path->code = taken ? insn.target : path->code + insn.length;
	return !(path->written & bit(FIB_X86_RAX));
}

/* The number that the caller of a function, which is about to return, has in a register. */
static bool find_in_caller(const greg_t *at, uint64_t *ret)
{
	struct path path = {.number = FIB_X86_NONE};
	uint64_t back;
	unsigned steps;

	if (*(const unsigned char *)at[REG_RIP] != RETURN)
		return false;
	memcpy(&back, (const void *)at[REG_RSP], sizeof back);
	path.code = (const unsigned char *)(uintptr_t)back;
	for (steps = 0; steps < PATH_STEPS; steps++) {
		if (!step(&path, at))
			return false;
		if (path.interrupted && path.number != FIB_X86_NONE) {
			*ret = value_of(at, path.number);
			return true;
		}
	}
	return false;
}

/*
 * musl's handler of the cancellation has run if its signal is blocked now: then musl waits for the
 * call to fail, and would not interrupt a repeated one again.
 */
static bool is_cancelled(const ucontext_t *context)
{
	uint64_t blocked;

	memcpy(&blocked, &context->uc_sigmask, sizeof blocked);
	return blocked >> (CANCEL_SIGNAL - 1) & 1;
}

static bool find_number(const ucontext_t *context, uint64_t *ret)
{
	const greg_t *const at = context->uc_mcontext.gregs;
	struct fib_x86_insn load;
	unsigned written;

	if (!find_load((const unsigned char *)at[REG_RIP] - CALL_SIZE, &load, &written))
		return false;
	if (load.kind == FIB_X86_LOAD)
		*ret = (uint64_t)load.value;
	else if (load.from != FIB_X86_RAX && !(written & bit(load.from)))
		*ret = value_of(at, load.from);
	else
		return !is_cancelled(context) && find_in_caller(at, ret);
	return true;
}

bool fib_x86_repeat(ucontext_t *context)
{
	greg_t *const at = context->uc_mcontext.gregs;
	const unsigned char *const pc = (const unsigned char *)at[REG_RIP];
	uint64_t number = 0; /* not every compiler sees that find_number() sets it */

	/* The memory before the start of a page may be unmapped. */
	if (at[REG_RAX] != -EINTR || (uintptr_t)pc % PAGE < CALL_SIZE || pc[-2] != 0x0f ||
	    pc[-1] != 0x05 || !find_number(context, &number) || !is_sleep(number))
		return false;
	at[REG_RAX] = (greg_t)number;
	at[REG_RIP] -= CALL_SIZE;
	return true;
}
