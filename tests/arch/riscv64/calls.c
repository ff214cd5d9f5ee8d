/* SPDX-License-Identifier: MIT */
/* calls.c - 64-bit RISC-V: calls, and what is none */
#include "tests/arch/calls.h"

const struct arch_call arch_calls[] = {
	{"jal ra, label", {0, 0, 0, 0xef, 0x00, 0x40, 0x12}},
	{"jalr ra, 16(t0)", {0, 0, 0, 0xe7, 0x80, 0x02, 0x01}},
	{"jalr ra, -4(ra)", {0, 0, 0, 0xe7, 0x80, 0xc0, 0xff}},
	{"c.jalr s1", {0, 0, 0, 0, 0, 0x82, 0x94}},
	{"c.jalr a5", {0, 0, 0, 0, 0, 0x82, 0x97}},
	{NULL, {0}},
};

const struct arch_call arch_no_calls[] = {
	{"jal zero, label", {0, 0, 0, 0x6f, 0x00, 0x40, 0x12}},
	{"jalr zero, 0(ra)", {0, 0, 0, 0x67, 0x80, 0x00, 0x00}},
	{"c.jr a5", {0, 0, 0, 0, 0, 0x82, 0x87}},
	{"c.ebreak", {0, 0, 0, 0, 0, 0x02, 0x90}},
	{"c.add s1, a0", {0, 0, 0, 0, 0, 0xaa, 0x94}},
	{"nop", {0, 0, 0, 0x13, 0x00, 0x00, 0x00}},
	{NULL, {0}},
};
