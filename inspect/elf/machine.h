/* SPDX-License-Identifier: MIT */
/*
 * machine.h - the machine that a program is built for, and the byte order of its numbers
 *
 * A core or a snapshot may be of another machine than this tool's. Bytes of such a program that are
 * numbers are converted where they are read; everything else in the tools has numbers in this
 * machine's order. Only 64-bit machines are known.
 */
#ifndef INS_MACHINE_H
#define INS_MACHINE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ins_machine {
	uint16_t number; /* e_machine */
	bool swapped;	 /* the byte order is not this machine's */
};

/* The machine that this tool was built for. Live processes of other machines are not read. */
unsigned ins_machine_self(void);

/* Whether programs of the machine run on this one. */
bool ins_machine_is_self(struct ins_machine machine);
bool ins_machine_equal(struct ins_machine a, struct ins_machine b);

/* The name of an e_machine for messages: "x86-64", ... or "machine 183". Returns buf. */
const char *ins_machine_name(unsigned machine, char *buf, size_t size);

/* Reverse the bytes of a number. */
void ins_swap(void *number, size_t size);

/* Reverse the bytes of each of `count` adjacent numbers of `size` bytes. */
void ins_swap_all(void *numbers, size_t size, size_t count);

/*
 * Reverse the bytes of each member of a struct. members: their sizes in order, as digits; a blank
 * skips one byte of padding or text.
 */
void ins_swap_members(void *bytes, const char *members);

/* Adjacent numbers of a struct that have the same size; of size 1: text. */
struct ins_run {
	uint16_t count, size;
};

/* The run of a member that is text: an initializer. */
#define INS_RUN_TEXT(of, member)                    \
	{                                           \
		sizeof(((struct of *)0)->member), 1 \
	}

/*
 * Reverse the bytes of each number of a struct of which the first `size` bytes are there. The last of the
 * runs has no numbers.
 */
void ins_swap_runs(void *bytes, size_t size, const struct ins_run *runs);

/* The members of ELF's structs, for ins_swap_members(). The identification is not swapped. */
#define INS_SWAP_EHDR "                2248884222222"
#define INS_SWAP_PHDR "44888888"
#define INS_SWAP_SHDR "4488884488"
#define INS_SWAP_NHDR "444"

#endif
