/* SPDX-License-Identifier: MIT */
/* calls.c - i386: calls, and what is none */
#include "tests/arch/calls.h"

const struct arch_call arch_calls[] = {
	{"call label", {0, 0, 0xe8, 1, 2, 3, 4}},
	{"call *%eax", {0, 0, 0, 0, 0, 0xff, 0xd0}},
	{"call *0x4030201", {0, 0xff, 0x15, 1, 2, 3, 4}},
	{NULL, {0}},
};

const struct arch_call arch_no_calls[] = {
	{"jmp *0x4030201", {0, 0xff, 0x25, 1, 2, 3, 4}},
	{"nop", {0x90, 0x90, 0x90, 0x90, 0x90, 0x90}},
	{NULL, {0}},
};
