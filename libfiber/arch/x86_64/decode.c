/* SPDX-License-Identifier: MIT */
/*
 * decode.c - decode the instructions that compilers place around a system call
 *
 * These are moves, simple arithmetic, comparisons and jumps. Any other instruction is unknown, and the
 * caller gives up. A register that is written in part counts as written.
 */
#include "decode.h"

#include <stdbool.h>
#include <string.h>

/* The bytes of one instruction, and its prefix REX. */
struct cursor {
	const unsigned char *at, *end;
	unsigned rex;
	bool over; /* the instruction does not end before end */
};

#define REX_W 8u
#define REX_R 4u
#define REX_B 1u

static unsigned next(struct cursor *c)
{
	if (c->at >= c->end) {
		c->over = true;
		return 0;
	}
	return *c->at++;
}

/* A signed number of 1 or 4 bytes. */
static int64_t number(struct cursor *c, unsigned size)
{
	uint32_t value = 0;
	unsigned i;

	for (i = 0; i < size; i++)
		value |= (uint32_t)next(c) << 8 * i;
	return size == 1 ? (int8_t)value : (int32_t)value;
}

/* The operands that follow most operation codes: a register or memory, and a register or a digit. */
struct operands {
	int place; /* a register, or FIB_X86_NONE: memory */
	int reg;
	unsigned digit;
};

static struct operands operands(struct cursor *c)
{
	const unsigned byte = next(c), mod = byte >> 6, low = byte & 7;
	struct operands ret = {.place = FIB_X86_NONE, .digit = byte >> 3 & 7};
	unsigned index;

	ret.reg = (int)(ret.digit | (c->rex & REX_R ? 8u : 0));
	if (mod == 3) {
		ret.place = (int)(low | (c->rex & REX_B ? 8u : 0));
		return ret;
	}
	index = low == 4 ? next(c) & 7 : low;
	if (mod == 1)
		number(c, 1);
	else if (mod == 2 || index == 5)
		number(c, 4);
	return ret;
}

static struct fib_x86_insn other(int to)
{
	return (struct fib_x86_insn){.kind = FIB_X86_OTHER, .to = to, .from = FIB_X86_NONE};
}

static struct fib_x86_insn unknown(void)
{
	return (struct fib_x86_insn){.kind = FIB_X86_UNKNOWN};
}

static struct fib_x86_insn move(int to, int from)
{
	if (to == FIB_X86_NONE || from == FIB_X86_NONE)
		return other(to);
	return (struct fib_x86_insn){.kind = FIB_X86_MOVE, .to = to, .from = from};
}

static struct fib_x86_insn load(int to, int64_t value)
{
	if (to == FIB_X86_NONE)
		return other(to);
	return (struct fib_x86_insn){
		.kind = FIB_X86_LOAD, .to = to, .from = FIB_X86_NONE, .value = value};
}

static struct fib_x86_insn compare(int from, int64_t value)
{
	if (from == FIB_X86_NONE)
		return other(FIB_X86_NONE);
	return (struct fib_x86_insn){
		.kind = FIB_X86_COMPARE, .to = FIB_X86_NONE, .from = from, .value = value};
}

static struct fib_x86_insn jump(struct cursor *c, enum fib_x86_kind kind, unsigned size)
{
	const int64_t distance = number(c, size);

	return (struct fib_x86_insn){
		.kind = kind, .to = FIB_X86_NONE, .from = FIB_X86_NONE, .target = c->at + distance};
}

/* Arithmetic with a constant. */
static struct fib_x86_insn constant(struct cursor *c, unsigned size)
{
	const struct operands o = operands(c);
	const int64_t value = number(c, size);

	return o.digit == 7 ? compare(o.place, value) : other(o.place);
}

/* The same with the low byte of a register. Without REX four of the numbers are other registers. */
static struct fib_x86_insn constant_byte(struct cursor *c)
{
	const struct operands o = operands(c);

	number(c, 1);
	if (o.place >= 4 && !c->rex)
		return unknown();
	return other(o.digit == 7 ? FIB_X86_NONE : o.place);
}

static struct fib_x86_insn stored_constant(struct cursor *c)
{
	const struct operands o = operands(c);
	const int64_t value = number(c, 4);

	return o.digit == 0 ? load(o.place, value) : unknown();
}

static struct fib_x86_insn shift(struct cursor *c)
{
	const struct operands o = operands(c);

	number(c, 1);
	return other(o.place);
}

static struct fib_x86_insn negation(struct cursor *c)
{
	const struct operands o = operands(c);

	return o.digit == 2 || o.digit == 3 ? other(o.place) : unknown();
}

/* Operation codes of two bytes, after 0x0f. */
static struct fib_x86_insn long_code(struct cursor *c)
{
	const unsigned code = next(c);

	if (code == 0x84 || code == 0x85)
		return jump(c, code == 0x84 ? FIB_X86_JUMP_EQUAL : FIB_X86_JUMP_UNEQUAL, 4);
	if (code == 0x1f) { /* nop */
		operands(c);
		return other(FIB_X86_NONE);
	}
	if (code == 0x11 || code == 0x29) /* movups, movaps: a store */
		return operands(c).place == FIB_X86_NONE ? other(FIB_X86_NONE) : unknown();
	if ((code & 0xf0) == 0x40 || code == 0xb6 || code == 0xb7) /* cmov, movzx */
		return other(operands(c).reg);
	if ((code & 0xf0) == 0x90 && c->rex) /* set */
		return other(operands(c).place);
	return unknown();
}

/* Operation codes whose low bits are a register, and those without operands. */
static struct fib_x86_insn short_code(struct cursor *c, unsigned code)
{
	const int reg = (int)((code & 7) | (c->rex & REX_B ? 8u : 0));

	switch (code & 0xf8) {
	case 0x50: /* push */
		return other(FIB_X86_NONE);
	case 0x58: /* pop */
		return other(reg);
	case 0xb8: /* mov; with REX.W the number has 8 bytes */
		return c->rex & REX_W ? unknown() : load(reg, number(c, 4));
	default:
		break;
	}
	switch (code) {
	case 0x3d:
		return compare(FIB_X86_RAX, number(c, 4));
	case 0x74:
		return jump(c, FIB_X86_JUMP_EQUAL, 1);
	case 0x75:
		return jump(c, FIB_X86_JUMP_UNEQUAL, 1);
	case 0xe9:
		return jump(c, FIB_X86_JUMP, 4);
	case 0xeb:
		return jump(c, FIB_X86_JUMP, 1);
	default:
		return unknown();
	}
}

static struct fib_x86_insn any_code(struct cursor *c)
{
	const unsigned code = next(c);
	struct operands o;

	if (memchr("\x89\x8b\x8d\x63\x01\x09\x21\x29\x31\x03\x0b\x23\x2b\x33\x39\x3b\x85",
		   (int)code, 17)) {
		o = operands(c);
		if (code == 0x89)
			return move(o.place, o.reg);
		if (code == 0x8b)
			return move(o.reg, o.place);
		if (code == 0x39 || code == 0x3b || code == 0x85)
			return other(FIB_X86_NONE);
		/* The others of the first half write to the place, those of the second half to the register. */
		return other(code & 2 || code == 0x8d ? o.reg : o.place);
	}
	switch (code) {
	case 0x0f:
		return long_code(c);
	case 0x80:
		return constant_byte(c);
	case 0x81:
		return constant(c, 4);
	case 0x83:
		return constant(c, 1);
	case 0xc1:
		return shift(c);
	case 0xc7:
		return stored_constant(c);
	case 0xf7:
		return negation(c);
	default:
		return short_code(c, code);
	}
}

struct fib_x86_insn fib_x86_decode(const unsigned char *code, const unsigned char *end)
{
	struct cursor c = {.at = code, .end = end};
	struct fib_x86_insn ret;

	if (code < end && (*code & 0xf0) == 0x40)
		c.rex = next(&c);
	ret = any_code(&c);
	if (c.over)
		return unknown();
	ret.length = (unsigned)(c.at - code);
	return ret;
}
