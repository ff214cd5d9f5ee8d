/* SPDX-License-Identifier: MIT */
/* decode.h - decode the instructions that compilers place around a system call */
#ifndef FIB_ARCH_X86_64_DECODE_H
#define FIB_ARCH_X86_64_DECODE_H

#include <stddef.h>
#include <stdint.h>

/* Registers have the numbers that instructions use. */
#define FIB_X86_RAX  0
#define FIB_X86_NONE (-1)

enum fib_x86_kind {
	FIB_X86_UNKNOWN,
	FIB_X86_LOAD,	 /* to = value */
	FIB_X86_MOVE,	 /* to = from */
	FIB_X86_COMPARE, /* from with value */
	FIB_X86_JUMP,	 /* to target */
	FIB_X86_JUMP_EQUAL,
	FIB_X86_JUMP_UNEQUAL,
	FIB_X86_OTHER, /* writes to, if that is a register, and flags */
};

struct fib_x86_insn {
	enum fib_x86_kind kind;
	int to, from; /* a register or FIB_X86_NONE */
	int64_t value;
	const unsigned char *target;
	unsigned length; /* bytes */
};

/*
 * Decode the instruction at code. It must end at or before end; bytes behind the instruction are not
 * read. FIB_X86_UNKNOWN: it is none of those that this decoder knows, and no other field is valid.
 */
struct fib_x86_insn fib_x86_decode(const unsigned char *code, const unsigned char *end);

#endif
