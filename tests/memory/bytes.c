/* SPDX-License-Identifier: MIT */
/* bytes.c - programs that differ in which bytes of memory they touch, and whose memory it is */
#include "programs.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static union {
	char bytes[16];
	uint16_t half[8];
	uint32_t word[4];
	uint64_t whole[2];
} u;
static struct pair {
	int a, b;
	char more[40];
} pairs[2];
static struct {
	unsigned low : 4, high : 4;
} bits;
size_t copied = 24; /* not a constant */

static void *write_byte0(void *arg)
{
	u.bytes[0] = 1;
	return arg;
}

static void *write_byte1(void *arg)
{
	u.bytes[1] = 1;
	return arg;
}

static void *write_half0(void *arg)
{
	u.half[0] = 1;
	return arg;
}

static void *write_word1(void *arg)
{
	u.word[1] = 1;
	return arg;
}

static void *read_whole0(void *arg)
{
	return u.whole[0] ? arg : NULL;
}

static void *read_whole1(void *arg)
{
	return u.whole[1] ? arg : NULL;
}

static void *write_low(void *arg)
{
	bits.low++;
	return arg;
}

static void *write_high(void *arg)
{
	bits.high++;
	return arg;
}

static void *write_a(void *arg)
{
	pairs[0].a = 1;
	return arg;
}

static void *write_b(void *arg)
{
	pairs[0].b = 1;
	return arg;
}

static void *assign(void *arg)
{
	pairs[0] = pairs[1];
	return arg;
}

static void *copy_out(void *arg)
{
	char room[64];

	memcpy(room, &pairs[0], copied);
	return room[copied - 1] ? arg : NULL;
}

static void *copy_out_locked(void *arg)
{
	fiber_mutex_lock(&o.mutex, FIBER_FOREVER);
	copy_out(arg);
	fiber_mutex_unlock(&o.mutex);
	return arg;
}

static void *fill_locked(void *arg)
{
	fiber_mutex_lock(&o.mutex, FIBER_FOREVER);
	memset(&pairs[0], 0, copied);
	fiber_mutex_unlock(&o.mutex);
	return arg;
}

static void *compare(void *arg)
{
	return memcmp(&pairs[0], &pairs[1], copied) ? arg : NULL;
}

static void *fill(void *arg)
{
	memset(&pairs[1], 0, copied);
	return arg;
}

/* A block that was freed and allocated again is new. */
static void *use_block(void *arg)
{
	volatile int *block = malloc(200);

	if (!block)
		return arg;
	block[0] = block[40] = 1;
	free((void *)(uintptr_t)block);
	return arg;
}

static void *use_resized(void *arg)
{
	volatile char *block = malloc(20), *moved;

	if (!block)
		return arg;
	block[3] = 1;
	moved = realloc((void *)(uintptr_t)block, 4000);
	if (moved)
		moved[3000] = 1;
	free((void *)(uintptr_t)(moved ? moved : block));
	return arg;
}

/* Fibers one after another on the same stack, without an order. */
static void *use_stack(void *arg)
{
	volatile int there[200];

	there[0] = there[100] = arg != NULL;
	return there[100] ? arg : NULL;
}

static void same_stack(void *arg)
{
	unsigned i;

	(void)arg;
	for (i = 0; i < 3; i++) {
		fiber_spawn(use_stack, NULL, NULL);
		fiber_test_settle();
	}
}

static void *write_through(void *arg)
{
	*(int *)arg = 1;
	return NULL;
}

static void stack_of_another(void *arg)
{
	struct fiber *f;
	int mine = 0;

	(void)arg;
	fiber_spawn(write_through, &mine, &f);
	mine++;
	fiber_join(f, NULL, FIBER_FOREVER);
}

static void heap_of_another(void *arg)
{
	int *block = calloc(1, sizeof *block);
	struct fiber *f;

	(void)arg;
	if (!block)
		fiber_test_fail("no memory");
	fiber_spawn(write_through, block, &f);
	++*block;
	fiber_join(f, NULL, FIBER_FOREVER);
	free(block);
}

static _Thread_local int of_thread;

static void *write_of_thread(void *arg)
{
	of_thread++;
	errno = of_thread;
	return arg;
}

const struct program memory_programs[] = {
	{"neighbour bytes", write_byte0, write_byte1, NULL, false},
	{"a byte and its half word", write_byte1, write_half0, NULL, true},
	{"neighbour words", write_byte0, write_word1, NULL, false},
	{"a word of a double word", read_whole0, write_word1, NULL, true},
	{"neighbour double words", read_whole1, write_word1, NULL, false},
	{"bit fields", write_low, write_high, NULL, true},
	{"neighbour members", write_a, write_b, NULL, false},
	{"a structure and its member", assign, write_b, NULL, true},
	{"memcpy", copy_out, write_b, NULL, true},
	{"memcpy and memset, locked", copy_out_locked, fill_locked, NULL, false},
	{"memcmp and memset", compare, fill, NULL, true},
	{"memory allocated again", use_block, use_block, NULL, false},
	{"memory resized", use_resized, use_resized, NULL, false},
	{"stacks used again", NULL, NULL, same_stack, false},
	{"the stack of another fiber", NULL, NULL, stack_of_another, true},
	{"memory of another fiber", NULL, NULL, heap_of_another, true},
	{"variables of threads", write_of_thread, write_of_thread, NULL, false},
};
const size_t memory_count = sizeof memory_programs / sizeof *memory_programs;
