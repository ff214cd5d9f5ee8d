/* SPDX-License-Identifier: MIT */
/*
 * joined.c - which thread a thread of glibc joins
 *
 * pthread_join() sleeps on a word in the descriptor of the thread that it joins. In glibc 2.41 and before
 * it is the thread's number, which the kernel clears when the thread exits. In 2.43 it is another word, with
 * a small state, and in a pid namespace a thread may have that number.
 *
 * So the descriptor itself is looked for. On x86-64 it begins with its own address, and has it once more
 * in its third word: the ABI of thread-local storage says so. The thread's number is at the same offset in
 * the versions from 2.31 to 2.43, behind room that is kept for the head. Two pointers to itself make a
 * wrong guess as good as impossible. That the number is one of the process' threads is checked by the
 * caller.
 *
 * On other machines the descriptor has no such mark, and only a futex with a number in it is believed.
 */
#include "inspect/threads/joined.h"

#include <elf.h>
#include <string.h>

#include "inspect/elf/image.h"

#define ALIGN  16u   /* of a descriptor, at least */
#define REACH  4096u /* bytes of a descriptor before the futex, at most */
#define PAGE   4096u
#define SELF   16u  /* offset of its own address, besides the one at its start */
#define NUMBER 720u /* of the thread's number */
#define STATES 16u  /* states are less */

/* The descriptor that begins in a block of memory, the last one in it; 0: none. */
static uint64_t find_in(const unsigned char *bytes, uint64_t low, size_t size)
{
	uint64_t first, again;
	size_t at = size - size % ALIGN;

	while (at >= ALIGN) {
		at -= ALIGN;
		if (at + SELF + sizeof again > size)
			continue;
		memcpy(&first, bytes + at, sizeof first);
		memcpy(&again, bytes + at + SELF, sizeof again);
		if (first == low + at && again == first)
			return first;
	}
	return 0;
}

/* Pages before it may not be readable: a stack without room, and its guard. */
static uint64_t find(const struct ins_sleeper *s, uint64_t address)
{
	unsigned char bytes[PAGE + REACH];
	const uint64_t page = address & ~(uint64_t)(PAGE - 1);
	uint64_t low = page - REACH, found = 0;

	if (!address || page < REACH)
		return 0;
	if (!ins_sleeper_read(s, low, bytes, REACH + (address - page))) {
		low = page;
		if (!ins_sleeper_read(s, low, bytes, address - page))
			return 0;
	}
	found = find_in(bytes, low, address - low);
	return found && address - found <= REACH ? found : 0;
}

static uint64_t by_descriptor(const struct ins_sleeper *s, uint64_t address)
{
	const uint64_t descriptor = find(s, address);
	uint32_t tid;

	if (!descriptor || !ins_sleeper_read(s, descriptor + NUMBER, &tid, sizeof tid))
		return 0;
	return tid;
}

uint64_t ins_joined(const struct ins_sleeper *sleeper, uint64_t address, uint32_t value)
{
	uint32_t word;

	if (!ins_sleeper_read(sleeper, address, &word, sizeof word) || word != value)
		return 0; /* it is about to wake */
	if (ins_machine_self() == EM_X86_64)
		return by_descriptor(sleeper, address);
	return value >= STATES ? value : 0;
}
